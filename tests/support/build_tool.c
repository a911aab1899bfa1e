/*
 * The build room for functional tests and benches:
 *	build_tool fill LIB RECIPE STORE
 *		put a small object into the store for every output of the recipe's default variant that only a
 *		build could make, and register it as that output's realisation: what was never built is then
 *		looked up as if it had been.  Prints how many derivations there are and how many were filled.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/plan.h"
#include "core/fs.h"
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
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < eval_target_count(e); i++) {
		const struct eval_result *results;
		size_t count = 0;
		if (eval_target(e, i)->is_default)
			rc = eval_derive(e, i, &results, &count, err);
		for (size_t k = 0; rc == 0 && k < count; k++)
			*list_push(&wanted) = results[k].drv;
	}
	if (rc == 0)
		rc = plan_make(e, wanted.items, wanted.count, s, plan, err);
	list_free(&wanted);
	return rc;
}

static int fill(const char *lib, const char *recipe, const char *store, struct err *err)
{
	const char *slash = strrchr(recipe, '/');
	_cleanup_free_ char *file = mem_printf("%.*sforge.lock", slash ? (int)(slash - recipe) + 1 : 0, recipe);
	struct lock *lock = lock_open(file, err);
	struct eval_options o = { .lib = lib, .locked = lock_answer, .ctx = lock };
	struct eval *e = lock ? eval_open(recipe, &o, err) : NULL;
	struct store *s = e ? store_open(store, STORE_WRITE, err) : NULL;
	struct plan plan = PLAN_INIT;
	int rc = s && plan_default(e, s, &plan, err) == 0 ? fill_all(e, &plan, s, err) : -1;
	plan_free(&plan);
	store_close(s);
	eval_close(e);
	lock_free(lock);
	return rc;
}

int main(int argc, char **argv)
{
	_cleanup_err_ struct err err = { 0 };
	if (argc != 5 || strcmp(argv[1], "fill") != 0) {
		fprintf(stderr, "usage: build_tool fill LIB RECIPE STORE\n");
		return 2;
	}
	if (fill(argv[2], argv[3], argv[4], &err) == 0)
		return 0;
	fprintf(stderr, "build_tool: %s\n", err.msg);
	return 1;
}
