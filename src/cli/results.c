#include "cli/results.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"

void chosen_free(struct chosen *c)
{
	for (size_t i = 0; i < c->targets.count; i++)
		list_free(&c->targets.items[i].results);
	list_free(&c->targets);
	list_free(&c->wanted);
}

void results_print_json(const struct json *j)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	json_write(j, 1, &text);
	puts(text.data);
}

/* The single .whl in a folder, or NULL. */
static char *wheel_in(const char *folder)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_close_ int fd = fs_open_dir(folder, NULL);
	if (fd < 0 || fs_list(fd, &names, NULL) < 0 || names.count != 1 || !str_ends(names.items[0], ".whl"))
		return NULL;
	return fs_join(folder, names.items[0]);
}

/* The output of the target's result of that role, NULL if it was not made or there is none. */
static const char *path_of(const struct chosen_target *t, const struct plan *plan, const char *role)
{
	for (size_t i = 0; i < t->results.count; i++) {
		const struct eval_result *r = &t->results.items[i];
		if (strcmp(r->role, role) == 0 && plan->steps[r->drv].state == PLAN_VALID)
			return plan->steps[r->drv].paths[0];
	}
	return NULL;
}

static bool complete(const struct chosen_target *t, const struct plan *plan)
{
	for (size_t i = 0; i < t->results.count; i++)
		if (plan->steps[t->results.items[i].drv].state != PLAN_VALID)
			return false;
	return t->results.count > 0;
}

static struct json *describe(const struct chosen_target *t, const struct eval *e, const char *path,
	const char *test)
{
	struct json *j = json_new_obj();
	const struct eval_target *target = t->target;
	json_set_str(j, "recipe", target->recipe);
	json_set_str(j, "version", target->version);
	json_set_str(j, "label", target->label);
	json_set_str(j, "variant", target->name);
	if (target->axes)
		json_set(j, "axes", json_ref(target->axes));
	json_set_str(j, "path", path);
	json_set_str(j, "test", test);
	json_set_str(j, "drv", eval_drv(e, t->results.items[0].drv)->path);
	return j;
}

static char *root_name(const struct eval_target *t)
{
	return mem_printf("%s%s%s%s%s", t->recipe, t->version ? "-" : "", t->version ? t->version : "",
		*t->name ? "-" : "", t->name);
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

static int keep(const struct chosen_target *t, const struct eval *e, const struct plan *plan,
	struct store *s, struct json *json, struct err *err)
{
	const char *path = path_of(t, plan, "wheel"), *test = path_of(t, plan, "test");
	if (!path)
		path = plan->steps[t->results.items[0].drv].paths[0];
	_cleanup_json_ struct json *record = describe(t, e, path, test);
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *root = root_name(t->target);
	json_write(record, 0, &text);
	if (store_root_set(s, root, path, text.data, err) < 0 || keep_others(t, e, plan, s, root, path, err) < 0)
		return -1;
	_cleanup_free_ char *physical = store_physical(s, path);
	_cleanup_free_ char *wheel = wheel_in(physical);
	if (!json) {
		puts(wheel ? wheel : physical);
		return 0;
	}
	json_set_str(record, "physical", physical);
	json_set_str(record, "wheel", wheel);
	json_push(json, json_ref(record));
	return 0;
}

int results_keep(const struct chosen *c, const struct eval *e, const struct plan *plan, struct store *s,
	struct json *json, struct err *err)
{
	for (size_t i = 0; i < c->targets.count; i++)
		if (complete(&c->targets.items[i], plan) && keep(&c->targets.items[i], e, plan, s, json, err) < 0)
			return -1;
	return 0;
}
