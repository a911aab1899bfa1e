/* forge show RECIPE: its variants and how far each is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/results.h"
#include "cli/show.h"

static const struct option options[] = {
	{ "variant", 0, OPTION_LIST, OPTION(variants), "NAME", "only this variant, or those with axis=value,… (may be given again)" },
	{ "profile", 0, OPTION_LIST, OPTION(profiles), "NAME", "only the variants of a profile (may be given again)" },
	{ "set", 0, OPTION_LIST, OPTION(sets), "FIELD=VALUE", "put another value in the place of the recipe's field" },
	{ "env", 0, OPTION_LIST, OPTION(envs), "NAME=VALUE", "the same for a variable of its env, or by one of its aliases for an axis or a field" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static void shown_free(struct shown *v)
{
	for (size_t i = 0; i < v->rows.count; i++) {
		list_free(&v->rows.items[i].chosen.results);
		free(v->rows.items[i].error);
		free(v->rows.items[i].wheel);
	}
	list_free(&v->rows);
	list_free(&v->wanted);
	free(v->targets);
	plan_free(&v->plan);
}

/* What is wrong with one variant is its state, and no reason not to show the others. */
static void derive_row(struct shown *v, size_t target)
{
	_cleanup_err_ struct err err = { 0 };
	const struct eval_result *results;
	size_t count = 0;
	struct row *row = list_push(&v->rows);
	row->chosen.target = eval_target(v->e, target);
	if (!row->chosen.target->excluded && eval_derive(v->e, target, &results, &count, &err) < 0)
		row->error = mem_dup(err.msg);
	for (size_t i = 0; i < count && !row->error; i++) {
		*list_push(&row->chosen.results) = results[i];
		*list_push(&v->wanted) = results[i].drv;
	}
}

static int check_names(const struct shown *v, struct err *err)
{
	_cleanup_free_ const struct eval_target **built = mem_resize(NULL, v->rows.count + 1, sizeof *built);
	size_t n = 0;
	for (size_t i = 0; i < v->rows.count; i++)
		if (v->rows.items[i].chosen.results.count)
			built[n++] = v->rows.items[i].chosen.target;
	return chosen_check_names(v->recipe, built, n, err);
}

/* The name of the wheel in the store, else what is known of it. */
static char *wheel_of(const struct shown *v, const struct chosen_target *t)
{
	const char *path = t->results.count ? results_path(t, &v->plan, "wheel") : NULL;
	_cleanup_free_ char *folder = path ? store_physical(v->s, path) : NULL;
	_cleanup_free_ char *wheel = folder ? results_wheel_in(folder) : NULL;
	return wheel ? mem_dup(strrchr(wheel, '/') + 1) : chosen_wheel_name(t->target);
}

static int look(struct shown *v, struct err *err)
{
	for (size_t i = 0; i < v->count; i++) {
		if (eval_tell(v->e, v->targets[i], err) < 0)
			return -1;
		derive_row(v, v->targets[i]);
	}
	if (check_names(v, err) < 0 || plan_make(v->e, v->wanted.items, v->wanted.count, v->s, &v->plan, err) < 0)
		return -1;
	_cleanup_free_ unsigned char *seen = mem_alloc(v->plan.count + 1);
	size_t at = 0;
	for (size_t i = 0; i < v->rows.count; i++) {
		struct row *row = &v->rows.items[i];
		row->left = plan_left(&v->plan, v->e, v->wanted.items + at, row->chosen.results.count, seen);
		row->wheel = wheel_of(v, &row->chosen);
		at += row->chosen.results.count;
	}
	return 0;
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
static int show(const char *path, struct eval *e, struct store *s, const struct options *o, struct json *all, struct err *err)
{
	struct shown v = { .recipe = path, .e = e, .s = s, .plan = PLAN_INIT };
	int rc = choose(&v, o, err);
	if (rc == 0)
		rc = look(&v, err);
	if (rc == 0)
		rc = eval_default(e, &v.first, err);
	if (rc == 0 && all)
		rc = show_json(&v, all, err);
	else if (rc == 0)
		show_table(&v);
	shown_free(&v);
	return rc;
}

static int show_recipe(const char *path, struct store *s, const struct options *o, struct json *all, struct err *err)
{
	struct cli_recipe recipe;
	if (cli_recipe_open(&recipe, path, o, err) < 0)
		return -1;
	int rc = show(path, recipe.eval, s, o, all, err);
	cli_recipe_close(&recipe);
	return rc;
}

/* One that can't be shown is no reason not to show the others. */
static int show_all(struct store *s, const struct options *o, struct json *all, struct err *err)
{
	size_t count = o->words.count, failed = 0;
	for (size_t i = 0; i < count; i++) {
		_cleanup_err_ struct err own = { 0 };
		if (count > 1 && !all)
			printf("%s%s\n", i ? "\n" : "", o->words.items[i]);
		if (show_recipe(o->words.items[i], s, o, all, &own) == 0)
			continue;
		failed++;
		if (count == 1)
			return err_move(err, &own);
		fflush(stdout);
		fprintf(stderr, "forge: %s\n", own.msg);
	}
	return failed ? err_set(err, ERR_FAIL, "%zu of %zu recipes can't be shown", failed, count) : 0;
}

static int run(const struct options *o, struct err *err)
{
	struct store *s = cli_store(o, STORE_READ, err);
	if (!s)
		return -1;
	_cleanup_json_ struct json *all = o->json ? json_new_arr() : NULL;
	int rc = show_all(s, o, all, err);
	if (all && (rc == 0 || o->words.count > 1))
		results_print_json(all);
	store_close(s);
	return rc;
}

const struct command cmd_show = {
	"show", "RECIPE …", "List recipes' variants and how far each is",
	"The default variant is marked with a star. Of a wheel that is not built yet, * stands for the tags that only its "
	"binaries tell.", options, 1, -1, run,
};
