#include "cli/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"

void results_print_json(const struct json *j)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	json_write(j, 1, &text);
	puts(text.data);
}

char *results_wheel_in(const char *folder)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_close_ int fd = fs_open_dir(folder, NULL);
	if (fd < 0 || fs_list(fd, &names, NULL) < 0 || names.count != 1 || !str_ends(names.items[0], ".whl"))
		return NULL;
	return fs_join(folder, names.items[0]);
}

const char *results_path(const struct chosen_target *t, const struct plan *plan, const char *role)
{
	for (size_t i = 0; i < t->results.count; i++) {
		const struct eval_result *r = &t->results.items[i];
		if (strcmp(r->role, role) == 0 && plan->steps[r->drv].state == PLAN_VALID)
			return plan->steps[r->drv].paths[0];
	}
	return NULL;
}

/* What is said of a target whether it was made or not. */
static struct json *describe(const struct chosen_target *t, const struct eval *e, const struct tally_result *made)
{
	struct json *j = json_new_obj();
	const struct eval_target *target = t->target;
	json_set_str(j, "recipe", target->recipe);
	json_set_str(j, "version", target->version);
	json_set_str(j, "label", target->label);
	json_set_str(j, "variant", target->name);
	if (target->axes)
		json_set(j, "axes", json_ref(target->axes));
	if (target->stable_abi)
		json_set(j, "stable_abi", json_ref(target->stable_abi));
	if (t->results.count)
		json_set_str(j, "drv", eval_drv(e, t->results.items[0].drv)->path);
	json_set_str(j, "because", target->impossible);
	json_set_str(j, "error", made->error);
	json_set_str(j, "log", made->log);
	return j;
}

/* The object that a target is about: its wheel, or what a bare derivation made. */
static const char *object_of(const struct chosen_target *t, const struct plan *plan)
{
	const char *wheel = results_path(t, plan, "wheel");
	return wheel ? wheel : plan->steps[t->results.items[0].drv].paths[0];
}

/* "<root>.test", "<root>.out.lib": as long as the result stays, so do its other outputs and the verdict on it, or
 * they would have to be made again. */
static int keep_others(const struct chosen_target *t, const struct eval *e, const struct plan *plan, struct store *s,
	const char *root, const char *path, struct err *err)
{
	for (size_t i = 0; i < t->results.count; i++) {
		const struct eval_result *r = &t->results.items[i];
		const struct drv *d = eval_drv(e, r->drv)->drv;
		for (size_t k = 0; k < d->output_count; k++) {
			const char *other = plan->steps[r->drv].paths[k];
			_cleanup_free_ char *name = mem_printf("%s.%s%s%s", root, r->role, k ? "." : "", k ? d->outputs[k].name : "");
			if (!str_eq(other, path) && store_root_set(s, name, other, NULL, err) < 0)
				return -1;
		}
	}
	return 0;
}

static int set_roots(const struct chosen_target *t, const struct eval *e, const struct plan *plan,
	const struct json *record, const char *path, struct store *s, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *root = chosen_root_name(t->target);
	json_write(record, 0, &text);
	if (store_root_set(s, root, path, text.data, err) < 0)
		return -1;
	return keep_others(t, e, plan, s, root, path, err);
}

static int keep(const struct chosen_target *t, const struct eval *e, const struct plan *plan,
	const struct tally_result *made, struct json *record, struct store *s, bool json, struct err *err)
{
	const char *path = object_of(t, plan);
	json_set_str(record, "path", path);
	json_set_str(record, "test", results_path(t, plan, "test"));
	if (set_roots(t, e, plan, record, path, s, err) < 0)
		return -1;
	_cleanup_free_ char *physical = store_physical(s, path);
	_cleanup_free_ char *wheel = results_wheel_in(physical);
	if (!json)
		puts(wheel ? wheel : physical);
	json_set_str(record, "physical", physical);
	json_set_str(record, "wheel", wheel);
	json_set_int(record, "ms", made->ms);
	if (made->size)
		json_set_int(record, "size", made->size);
	return 0;
}

struct file {
	char *name;
	const char *path;
	const struct eval_target *target;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct file *)a)->name, ((const struct file *)b)->name);
}

/* What could not be known before: pure wheels, say, have the same name for every Python. */
static int check_files(const struct chosen *c, const struct plan *plan, struct store *s, struct err *err)
{
	LIST(struct file) files = { 0 };
	int rc = 0;
	for (size_t i = 0; i < c->targets.count; i++) {
		const char *path = results_path(&c->targets.items[i], plan, "wheel");
		_cleanup_free_ char *folder = path ? store_physical(s, path) : NULL;
		_cleanup_free_ char *wheel = folder ? results_wheel_in(folder) : NULL;
		if (wheel)
			*list_push(&files) = (struct file){ mem_dup(strrchr(wheel, '/') + 1), path, c->targets.items[i].target };
	}
	if (files.count)
		qsort(files.items, files.count, sizeof *files.items, by_name);
	for (size_t i = 1; i < files.count && rc == 0; i++) {
		const struct file *a = &files.items[i - 1], *b = &files.items[i];
		if (strcmp(a->name, b->name) == 0 && strcmp(a->path, b->path) != 0)
			rc = err_set(err, ERR_FAIL, "%s and %s are different wheels of one name, %s: tell them apart by the label",
				a->target->name, b->target->name, a->name);
	}
	for (size_t i = 0; i < files.count; i++)
		free(files.items[i].name);
	list_free(&files);
	return rc;
}

int results_keep(const struct chosen *c, const struct eval *e, const struct plan *plan, const struct tally *tally,
	struct store *s, struct json *json, struct err *err)
{
	if (check_files(c, plan, s, err) < 0)
		return -1;
	for (size_t i = 0; i < c->targets.count; i++) {
		const struct chosen_target *t = &c->targets.items[i];
		struct tally_result made = tally_of(tally, t, e, plan, s);
		_cleanup_json_ struct json *record = describe(t, e, &made);
		bool there = made.state == TALLY_BUILT || made.state == TALLY_FROM_STORE;
		if (there && keep(t, e, plan, &made, record, s, json, err) < 0)
			return -1;
		if (json) {
			json_set_str(record, "state", tally_word(made.state));
			json_push(json, json_ref(record));
		}
	}
	return 0;
}
