/* Reading what the builds of a recipe are given, for its words; declared in lint/lint_impl.h. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "build/realise.h"
#include "core/mem.h"
#include "core/str.h"
#include "core/table.h"
#include "lint/lint_impl.h"

struct reading {
	struct linting *l;
	struct words *words;
	struct table done;   /* store paths that were read */
	char *why;           /* what could not be read; NULL: nothing */
};

void lint_each_build(const struct linting *l, void (*fn)(void *ctx, const struct drv *d), void *ctx)
{
	for (size_t i = 0; i < l->wheels.count; i++) {
		const struct eval_drv *wheel = eval_drv(l->e, l->wheels.items[i]);
		for (size_t n = 0; n < wheel->drv->input_count; n++) {
			const struct eval_drv *input = eval_drv(l->e, wheel->inputs[n]);
			if (str_eq(input->what, "build"))
				fn(ctx, input->drv);
		}
	}
}

static void give_up(struct reading *r, char *why)
{
	if (r->why)
		free(why);
	else
		r->why = why;
}

/* A tree that is too large is a reason not to judge; what the disk says is an error. */
static int read_tree(struct reading *r, const char *path, struct err *err)
{
	_cleanup_err_ struct err mine = { 0 };
	if (words_tree(r->words, AT_FDCWD, path, &mine) == 0)
		return 0;
	if (mine.code != ERR_INPUT)
		return err_move(err, &mine);
	give_up(r, mem_printf("the source was not read to its end: %s", mine.msg));
	return 0;
}

static const struct eval_source *source_at(const struct eval *e, const char *path)
{
	for (size_t i = 0; i < eval_source_count(e); i++)
		if (strcmp(eval_source(e, i)->path, path) == 0)
			return eval_source(e, i);
	return NULL;
}

/* A file or folder that the recipe took in; lib/'s own are no readers. */
static int read_source(struct reading *r, const char *path, struct err *err)
{
	bool *done = table_put(&r->done, path);
	const struct eval_source *s = *done ? NULL : source_at(r->l->e, path);
	size_t lib = strlen(r->l->o->lib);
	if (!*done && !s)
		give_up(r, mem_dup("the source is not one that lint can read: it is what a derivation of the recipe's own makes"));
	*done = true;
	if (!s || (s->from && strncmp(s->from, r->l->o->lib, lib) == 0 && s->from[lib] == '/'))
		return 0;
	if (s->from)
		return read_tree(r, s->from, err);
	words_text(r->words, s->text);
	return 0;
}

/* What a build is given beside the source: its steps, patches. */
static void read_given(void *ctx, const struct drv *d)
{
	struct reading *r = ctx;
	_cleanup_err_ struct err err = { 0 };
	for (size_t i = 0; i < d->env_count; i++)
		if (str_starts(d->env[i].key, "FORGE_"))
			words_text(r->words, slice_of(d->env[i].value));
	for (size_t i = 0; i < d->src_count; i++)
		if (read_source(r, d->srcs[i], &err) < 0)
			give_up(r, mem_dup(err.msg));
}

/* Fetch and unpack what the store lacks. 1: all is there, 0: it is not, and nothing may be fetched; -1. */
static int bring(struct linting *l, struct plan *plan, struct err *err)
{
	const struct realise_options with = { .index = l->o->index, .events = l->o->events };
	if (plan_make(l->e, l->tables.drvs.items, l->tables.drvs.count, l->s, plan, err) < 0)
		return -1;
	if (plan->fetch + plan->build == 0)
		return 1;
	if (l->o->offline)
		return 0;
	struct loop *loop = loop_new(err);
	int rc = loop ? realise(loop, l->e, l->s, plan, &with, err) : -1;
	loop_free(loop);
	return rc < 0 ? -1 : 1;
}

static int read_folders(struct reading *r, struct err *err)
{
	const struct eval_lint *from = &r->l->tables;
	struct plan plan = PLAN_INIT;
	int rc = bring(r->l, &plan, err);
	if (rc == 0)
		give_up(r, mem_dup("the source is not in the store, and nothing is fetched (--offline)"));
	for (size_t i = 0; rc > 0 && i < from->drvs.count; i++) {
		_cleanup_free_ char *folder = store_physical(r->l->s, plan.steps[from->drvs.items[i]].paths[0]);
		rc = read_tree(r, folder, err) < 0 ? -1 : 1;
	}
	plan_free(&plan);
	for (size_t i = 0; rc >= 0 && i < from->paths.count; i++)
		rc = read_source(r, from->paths.items[i], err);
	return rc < 0 ? -1 : 0;
}

int lint_read_texts(struct linting *l, struct words *words, char **why, struct err *err)
{
	struct reading r = { .l = l, .words = words, .done = TABLE_INIT(bool) };
	lint_each_build(l, read_given, &r);
	int rc = read_folders(&r, err);
	table_free(&r.done);
	if (rc == 0)
		*why = steal_ptr(r.why);
	free(r.why);
	return rc;
}
