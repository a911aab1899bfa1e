/*
 * The build room for functional tests and benches:
 *	build_tool fill LIB RECIPE STORE
 *		put a small object into the store for every output of the recipe's default variant that only a
 *		build could make, and register it as that output's realisation: what was never built is then
 *		looked up as if it had been.  Prints how many derivations there are and how many were filled.
 *	build_tool environment LIB RECIPE STORE NAME
 *		print, as a JSON object, the environment that the build called NAME gets (with outputs below
 *		/forge/store/by-hand), and in "world" the world it runs in.  Its inputs have to be in the store.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/build_env.h"
#include "build/plan.h"
#include "core/fs.h"
#include "core/json.h"
#include "core/list.h"
#include "core/mem.h"
#include "lock/lock.h"

/* A file that says what it stands for, as an object of the store; its path, owned. */
static char *add_object(struct store *s, const char *name, const char *id, struct err *err)
{
	char *path = NULL;
	_cleanup_free_ char *tmp = store_tmp_name(s, name, err);
	if (!tmp || fs_write_file(store_tmp_fd(s), tmp, id, strlen(id), 0644, err) < 0)
		return NULL;
	struct store_prepared made;
	if (store_prepare(store_tmp_fd(s), tmp, name, DRV_NAR, NULL, NULL, &made, err) < 0)
		return NULL;
	if (store_commit(s, &made, 1, err) == 0)
		path = mem_dup(made.path);
	store_prepared_free(&made);
	return path;
}

static int fill_output(struct store *s, const struct drv *d, const struct hash *drv_id, const char *output,
	struct err *err)
{
	_cleanup_buf_ struct buf id = BUF_INIT;
	drv_output_id(drv_id, output, &id);
	_cleanup_free_ char *path = add_object(s, d->name, id.data, err);
	return path ? store_realisation_add(s, id.data, path, err) : -1;
}

static int fill_all(const struct eval *e, const struct plan *plan, struct store *s, struct err *err)
{
	size_t filled = 0;
	for (size_t i = 0; i < plan->count; i++) {
		const struct drv *d = eval_drv(e, i)->drv;
		for (size_t k = 0; plan->steps[i].state == PLAN_BUILD && k < d->output_count; k++) {
			if (d->outputs[k].kind == DRV_OUT_FIXED)
				continue;
			if (fill_output(s, d, &plan->steps[i].id, d->outputs[k].name, err) < 0)
				return -1;
			filled++;
		}
	}
	printf("%zu %zu\n", plan->count, filled);
	return 0;
}

static int plan_default(struct eval *e, struct store *s, struct plan *plan, struct err *err)
{
	LIST(size_t) wanted = { 0 };
	const struct eval_result *results;
	size_t first, count = 0;
	int rc = eval_default(e, &first, err);
	if (rc == 0 && first < eval_target_count(e))
		rc = eval_derive(e, first, &results, &count, err);
	for (size_t k = 0; rc == 0 && k < count; k++)
		*list_push(&wanted) = results[k].drv;
	if (rc == 0)
		rc = plan_make(e, wanted.items, wanted.count, s, plan, err);
	list_free(&wanted);
	return rc;
}

static const char *const *known_paths(void *ctx, size_t drv)
{
	const struct plan_step *step = &((struct plan *)ctx)->steps[drv];
	return step->state == PLAN_VALID ? step->paths : NULL;
}

static int print_environment(const struct drv *resolved, struct err *err)
{
	_cleanup_str_list_ struct str_list env = STR_LIST_INIT;
	_cleanup_json_ struct json *j = json_new_obj();
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char **outputs = mem_alloc((resolved->output_count + 1) * sizeof *outputs);
	const struct build_share share = { 2, 8ull << 30 };
	char by_hand[] = STORE_DIR "/by-hand";
	for (size_t i = 0; i < resolved->output_count; i++)
		outputs[i] = by_hand;
	if (build_env_make(resolved, outputs, &share, &env, err) < 0)
		return -1;
	for (size_t i = 0; i < env.count; i++) {
		struct slice name, value;
		slice_cut(slice_of(env.items[i]), '=', &name, &value);
		_cleanup_free_ char *key = mem_dup_n(name.p, name.n);
		json_set_str(j, key, value.p);
	}
	json_set_str(j, "world", drv_env_get(resolved, "world"));
	json_write(j, 1, &text);
	printf("%s\n", text.data);
	return 0;
}

static int environment_of(struct eval *e, struct plan *plan, const char *name, struct err *err)
{
	for (size_t i = 0; i < plan->count; i++) {
		if (strcmp(eval_drv(e, i)->drv->name, name) != 0)
			continue;
		struct hash id;
		struct drv *resolved = plan_resolve(e, i, known_paths, plan, &plan->arena, &id, err);
		return resolved ? print_environment(resolved, err) : -1;
	}
	return err_set(err, ERR_INPUT, "the recipe has no derivation %s", name);
}

/* name: whose environment is printed; NULL: fill. */
static int work(const char *lib, const char *recipe, const char *store, const char *name, struct err *err)
{
	const char *slash = strrchr(recipe, '/');
	_cleanup_free_ char *file = mem_printf("%.*sforge.lock", slash ? (int)(slash - recipe) + 1 : 0, recipe);
	struct lock_reader *lock = lock_reader_open(file, recipe, err);
	struct eval_options o = { .lib = lib, .locked = lock_answer, .ctx = lock };
	struct eval *e = lock ? eval_open(recipe, &o, err) : NULL;
	struct store *s = e ? store_open(store, name ? STORE_READ : STORE_WRITE, err) : NULL;
	struct plan plan = PLAN_INIT;
	int rc = s ? plan_default(e, s, &plan, err) : -1;
	if (rc == 0)
		rc = name ? environment_of(e, &plan, name, err) : fill_all(e, &plan, s, err);
	plan_free(&plan);
	store_close(s);
	eval_close(e);
	lock_reader_free(lock);
	return rc;
}

int main(int argc, char **argv)
{
	_cleanup_err_ struct err err = { 0 };
	if (!(argc == 5 && strcmp(argv[1], "fill") == 0) && !(argc == 6 && strcmp(argv[1], "environment") == 0)) {
		fprintf(stderr, "usage: build_tool fill LIB RECIPE STORE | environment LIB RECIPE STORE NAME\n");
		return 2;
	}
	if (work(argv[2], argv[3], argv[4], argv[5], &err) == 0)
		return 0;
	fprintf(stderr, "build_tool: %s\n", err.msg);
	return 1;
}
