/* forge show RECIPE: its variants and how far each is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/plan.h"
#include "cli/cli.h"
#include "core/json.h"

static const struct option options[] = {
	{ "variant", 0, OPTION_LIST, OPTION(variants), "NAME", "only these variants" },
	{ "set", 0, OPTION_LIST, OPTION(sets), "FIELD=VALUE", "put another value in the place of the recipe's field" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* "in the store", "to build", or why it can't be told. */
static char *state_of(struct eval *e, size_t target, struct store *s)
{
	_cleanup_err_ struct err err = { 0 };
	const struct eval_target *t = eval_target(e, target);
	const struct eval_result *results;
	size_t count;
	if (t->excluded)
		return mem_printf("excluded: %s", t->excluded);
	if (eval_derive(e, target, &results, &count, &err) < 0)
		return mem_printf("error: %s", err.msg);
	size_t *wanted = mem_resize(NULL, count + 1, sizeof *wanted);
	for (size_t i = 0; i < count; i++)
		wanted[i] = results[i].drv;
	struct plan plan = PLAN_INIT;
	int rc = plan_make(e, wanted, count, s, &plan, &err);
	char *state = rc < 0 ? mem_printf("error: %s", err.msg)
		: plan.build + plan.fetch == 0 ? mem_dup("in the store")
		: mem_printf("to build (%zu to fetch, %zu steps)", plan.fetch, plan.build);
	plan_free(&plan);
	free(wanted);
	return state;
}

static void show_json(struct eval *e, const size_t *chosen, size_t count, struct store *s)
{
	_cleanup_json_ struct json *all = json_new_arr();
	_cleanup_buf_ struct buf text = BUF_INIT;
	for (size_t i = 0; i < count; i++) {
		const struct eval_target *t = eval_target(e, chosen[i]);
		_cleanup_free_ char *state = state_of(e, chosen[i], s);
		struct json *j = json_new_obj();
		json_set_str(j, "recipe", t->recipe);
		json_set_str(j, "version", t->version);
		json_set_str(j, "variant", t->name);
		json_set_str(j, "label", t->label);
		if (t->axes)
			json_set(j, "axes", json_ref(t->axes));
		json_set(j, "default", json_new_bool(t->is_default));
		json_set_str(j, "state", state);
		json_push(all, j);
	}
	json_write(all, 1, &text);
	puts(text.data);
}

static void show_table(struct eval *e, const size_t *chosen, size_t count, struct store *s)
{
	int name = 7, label = 5;
	for (size_t i = 0; i < count; i++) {
		const struct eval_target *t = eval_target(e, chosen[i]);
		int n = (int)strlen(t->name), l = t->label ? (int)strlen(t->label) : 0;
		name = n > name ? n : name;
		label = l > label ? l : label;
	}
	printf("  %-*s  %-*s  %s\n", name, "VARIANT", label, "LABEL", "STATE");
	for (size_t i = 0; i < count; i++) {
		const struct eval_target *t = eval_target(e, chosen[i]);
		_cleanup_free_ char *state = state_of(e, chosen[i], s);
		printf("%c %-*s  %-*s  %s\n", t->is_default ? '*' : ' ', name, *t->name ? t->name : "(only one)",
			label, t->label ? t->label : "-", state);
	}
}

static int run(const struct options *o, struct err *err)
{
	struct cli_recipe recipe;
	size_t *chosen = NULL, count = 0;
	struct options all = *o;
	all.all = o->variants.count == 0;
	if (cli_recipe_open(&recipe, o->words.items[0], o, err) < 0)
		return -1;
	struct store *s = cli_store(o, STORE_READ, err);
	int rc = s ? cli_select(recipe.eval, &all, &chosen, &count, err) : -1;
	if (rc == 0 && o->json)
		show_json(recipe.eval, chosen, count, s);
	else if (rc == 0)
		show_table(recipe.eval, chosen, count, s);
	free(chosen);
	store_close(s);
	cli_recipe_close(&recipe);
	return rc;
}

const struct command cmd_show = {
	"show", "RECIPE", "List a recipe's variants and how far each is",
	"The default variant is marked with a star.", options, 1, 1, run,
};
