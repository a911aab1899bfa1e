/* forge show RECIPE: its variants and how far each is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/display.h"
#include "cli/results.h"
#include "cli/show.h"
#include "core/proc.h"

static const struct option options[] = {
	{ "variant", 0, OPTION_LIST, OPTION(variants), "NAME", "only this variant, or those with axis=value,… (may be given again)" },
	{ "profile", 0, OPTION_LIST, OPTION(profiles), "NAME", "only the variants of a profile (may be given again)" },
	{ "set", 0, OPTION_LIST, OPTION(sets), "FIELD=VALUE", "put another value in the place of the recipe's field" },
	{ "env", 0, OPTION_LIST, OPTION(envs), "NAME=VALUE", "the same for a variable of its env, or by one of its aliases for an axis or a field" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* As many variants for each of the processes that evaluate them at once. */
#define VARIANTS_EACH 32

/* Closed while workers have it, and opened again where it is needed. */
struct lazy_store {
	const struct options *o;
	struct store *s; /* NULL: closed */
};

static void let_go(struct lazy_store *l)
{
	if (l->s)
		store_close(steal_ptr(l->s));
}

static void shown_free(struct shown *v)
{
	for (size_t i = 0; i < v->rows.count; i++)
		show_row_free(&v->rows.items[i]);
	list_free(&v->rows);
	free(v->targets);
}

static int check_names(const struct shown *v, struct err *err)
{
	_cleanup_free_ const struct eval_target **built = mem_resize(NULL, v->rows.count + 1, sizeof *built);
	size_t n = 0;
	for (size_t i = 0; i < v->rows.count; i++)
		if (v->rows.items[i].derived)
			built[n++] = &v->rows.items[i].target;
	return chosen_check_names(v->recipe, built, n, err);
}

static int look(struct shown *v, struct lazy_store *l, struct err *err)
{
	size_t workers = v->count / VARIANTS_EACH, cores = proc_cores();
	workers = workers < cores ? workers : cores;
	if (workers > 1) {
		let_go(l);
		return show_rows_by_workers(v, workers, err);
	}
	l->s = l->s ? l->s : cli_store(l->o, STORE_READ, err);
	return l->s ? show_rows(v, l->s, 0, v->count, err) : -1;
}

/* What --variant and --profile choose; else all, excluded ones too. */
static int choose(struct shown *v, const struct options *o, struct err *err)
{
	if (o->variants.count + o->profiles.count)
		return cli_select(v->e, o, &v->targets, &v->count, err);
	v->count = eval_target_count(v->e);
	v->targets = mem_resize(NULL, v->count + 1, sizeof *v->targets);
	for (size_t i = 0; i < v->count; i++)
		v->targets[i] = i;
	return 0;
}

/* all: the rows as JSON, NULL for a table. */
static int show(const char *path, struct eval *e, struct lazy_store *l, struct json *all, struct err *err)
{
	struct shown v = { .recipe = path, .e = e, .o = l->o };
	int rc = choose(&v, l->o, err);
	if (rc == 0)
		rc = look(&v, l, err);
	if (rc == 0)
		rc = check_names(&v, err);
	if (rc == 0)
		rc = eval_default(e, &v.first, err);
	if (rc == 0 && all)
		rc = show_json(&v, all, err);
	else if (rc == 0)
		show_table(&v);
	shown_free(&v);
	return rc;
}

static int show_recipe(const char *path, struct lazy_store *l, struct json *all, struct err *err)
{
	struct cli_recipe recipe;
	if (cli_recipe_open(&recipe, path, l->o, err) < 0)
		return -1;
	int rc = show(path, recipe.eval, l, all, err);
	cli_recipe_close(&recipe);
	return rc;
}

/* One that can't be shown is no reason not to show the others. */
static int show_all(struct lazy_store *l, struct json *all, struct err *err)
{
	const struct options *o = l->o;
	size_t count = o->words.count, failed = 0;
	for (size_t i = 0; i < count; i++) {
		_cleanup_err_ struct err own = { 0 };
		if (count > 1 && !all)
			printf("%s%s\n", i ? "\n" : "", o->words.items[i]);
		if (show_recipe(o->words.items[i], l, all, &own) == 0)
			continue;
		failed++;
		if (count == 1)
			return err_move(err, &own);
		fflush(stdout);
		display_error(own.msg);
	}
	return failed ? err_set(err, ERR_FAIL, "%zu of %zu recipes can't be shown", failed, count) : 0;
}

static int run(const struct options *o, struct err *err)
{
	struct lazy_store l = { .o = o, .s = cli_store(o, STORE_READ, err) }; /* a broken one is told once */
	if (!l.s)
		return -1;
	_cleanup_json_ struct json *all = o->json ? json_new_arr() : NULL;
	int rc = show_all(&l, all, err);
	if (all && (rc == 0 || o->words.count > 1))
		results_print_json(all);
	let_go(&l);
	return rc;
}

const struct command cmd_show = {
	"show", "RECIPE …", "List recipes' variants and how far each is",
	"The default variant is marked with a star. Of a wheel that is not built yet, * stands for the tags that only its "
	"binaries tell.", options, 1, -1, run,
};
