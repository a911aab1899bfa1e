/* forge show RECIPE: its variants and how far each is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/plan.h"
#include "cli/chosen.h"
#include "cli/cli.h"
#include "cli/results.h"
#include "core/json.h"

static const struct option options[] = {
	{ "variant", 0, OPTION_LIST, OPTION(variants), "NAME", "only this variant, or those with axis=value,… (may be given again)" },
	{ "profile", 0, OPTION_LIST, OPTION(profiles), "NAME", "only the variants of a profile (may be given again)" },
	{ "set", 0, OPTION_LIST, OPTION(sets), "FIELD=VALUE", "put another value in the place of the recipe's field" },
	{ "env", 0, OPTION_LIST, OPTION(envs), "NAME=VALUE", "the same for a variable of its env, or by one of its aliases for an axis or a field" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

struct row {
	struct chosen_target chosen;
	char *error;           /* why it can't be evaluated; NULL */
	char *wheel;           /* the file's name, as far as it is known; NULL: a bare derivation */
	struct plan_left left;
};

struct shown {
	const char *recipe; /* its path */
	struct eval *e;
	struct store *s;
	struct plan plan;
	LIST(struct row) rows;
	LIST(size_t) wanted;
	size_t first; /* the target that is the default */
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

static int look(struct shown *v, const size_t *targets, size_t count, struct err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (eval_tell(v->e, targets[i], err) < 0)
			return -1;
		derive_row(v, targets[i]);
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

/* The state in one or two words, and why it is that. */
static const char *state_of(const struct row *row, const char **why)
{
	const struct eval_target *t = row->chosen.target;
	*why = t->excluded ? t->excluded : row->error ? row->error : t->impossible;
	return t->excluded ? "excluded" : row->error ? "error" : t->impossible ? "impossible"
		: row->left.fetch + row->left.build ? "to build" : "in the store";
}

static struct json *profiles_of(const bool *const *marked, const struct str_list *names, size_t target)
{
	struct json *list = json_new_arr();
	for (size_t i = 0; i < names->count; i++)
		if (marked[i] && marked[i][target])
			json_push(list, json_new_str(names->items[i]));
	return list;
}

static struct json *describe(const struct shown *v, const struct row *row, size_t target)
{
	const struct eval_target *t = row->chosen.target;
	const char *why, *state = state_of(row, &why);
	struct json *j = json_new_obj();
	json_set_str(j, "recipe", t->recipe);
	json_set_str(j, "version", t->version);
	json_set_str(j, "variant", t->name);
	json_set_str(j, "label", t->label);
	json_set_str(j, "wheel", row->wheel);
	if (t->axes)
		json_set(j, "axes", json_ref(t->axes));
	json_set(j, "default", json_new_bool(target == v->first));
	json_set_str(j, "state", state);
	json_set_str(j, "because", why);
	json_set_int(j, "fetch", (int64_t)row->left.fetch);
	json_set_int(j, "build", (int64_t)row->left.build);
	return j;
}

static int show_json(struct shown *v, const size_t *targets, struct err *err)
{
	_cleanup_json_ struct json *all = json_new_arr();
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	size_t targets_all = eval_target_count(v->e);
	eval_profiles(v->e, &names);
	_cleanup_free_ bool *marks = mem_alloc((names.count + 1) * (targets_all + 1));
	_cleanup_free_ const bool **marked = mem_alloc((names.count + 1) * sizeof *marked);
	for (size_t i = 0; i < names.count; i++) {
		if (eval_profile(v->e, names.items[i], marks + i * targets_all, err) < 0)
			return -1;
		marked[i] = marks + i * targets_all;
	}
	for (size_t i = 0; i < v->rows.count; i++) {
		struct json *j = describe(v, &v->rows.items[i], targets[i]);
		json_set(j, "profiles", profiles_of(marked, &names, targets[i]));
		json_push(all, j);
	}
	results_print_json(all);
	return 0;
}

static int wider(int width, const char *text)
{
	int n = text ? (int)strlen(text) : 0;
	return n > width ? n : width;
}

static void print_state(const struct row *row)
{
	const char *why, *state = state_of(row, &why);
	if (why)
		printf("%s: %s\n", state, why);
	else if (row->left.fetch + row->left.build)
		printf("%s (%zu to fetch, %zu steps)\n", state, row->left.fetch, row->left.build);
	else
		printf("%s\n", state);
}

static void show_table(const struct shown *v, const size_t *targets)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	int name = 7, label = 5, wheel = 5;
	for (size_t i = 0; i < v->rows.count; i++) {
		name = wider(name, v->rows.items[i].chosen.target->name);
		label = wider(label, v->rows.items[i].chosen.target->label);
		wheel = wider(wheel, v->rows.items[i].wheel);
	}
	printf("  %-*s  %-*s  %-*s  %s\n", name, "VARIANT", label, "LABEL", wheel, "WHEEL", "STATE");
	for (size_t i = 0; i < v->rows.count; i++) {
		const struct row *row = &v->rows.items[i];
		const struct eval_target *t = row->chosen.target;
		printf("%c %-*s  %-*s  %-*s  ", targets[i] == v->first ? '*' : ' ', name, *t->name ? t->name : "(only one)",
			label, t->label ? t->label : "-", wheel, row->wheel ? row->wheel : "-");
		print_state(row);
	}
	eval_profiles(v->e, &names);
	for (size_t i = 0; i < names.count; i++)
		printf("%s%s", i ? ", " : "profiles: ", names.items[i]);
	printf("%s", names.count ? "\n" : "");
}

/* What --variant and --profile choose; else all, excluded ones too. */
static int choose(struct eval *e, const struct options *o, size_t **chosen, size_t *count, struct err *err)
{
	if (o->variants.count + o->profiles.count)
		return cli_select(e, o, chosen, count, err);
	*count = eval_target_count(e);
	*chosen = mem_resize(NULL, *count + 1, sizeof **chosen);
	for (size_t i = 0; i < *count; i++)
		(*chosen)[i] = i;
	return 0;
}

static int show(struct cli_recipe *recipe, const struct options *o, struct err *err)
{
	size_t *targets = NULL, count = 0;
	struct shown v = { .recipe = o->words.items[0], .e = recipe->eval, .plan = PLAN_INIT };
	v.s = cli_store(o, STORE_READ, err);
	int rc = v.s ? choose(v.e, o, &targets, &count, err) : -1;
	if (rc == 0)
		rc = look(&v, targets, count, err);
	if (rc == 0)
		rc = eval_default(v.e, &v.first, err);
	if (rc == 0 && o->json)
		rc = show_json(&v, targets, err);
	else if (rc == 0)
		show_table(&v, targets);
	shown_free(&v);
	free(targets);
	store_close(v.s);
	return rc;
}

static int run(const struct options *o, struct err *err)
{
	struct cli_recipe recipe;
	if (cli_recipe_open(&recipe, o->words.items[0], o, err) < 0)
		return -1;
	int rc = show(&recipe, o, err);
	cli_recipe_close(&recipe);
	return rc;
}

const struct command cmd_show = {
	"show", "RECIPE", "List a recipe's variants and how far each is",
	"The default variant is marked with a star. Of a wheel that is not built yet, * stands for the tags that only its "
	"binaries tell.", options, 1, 1, run,
};
