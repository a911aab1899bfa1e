/*
 * Variables that a build gets and nothing reads, as a name that is misspelt or of another release.  What reads it
 * holds its name: the source, or else what texts.c reads; or it is in the list of lib/forge/readers.lua.  Declared in
 * lint/lint_impl.h.
 */
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/str.h"
#include "core/table.h"
#include "lint/lint_impl.h"
#include "lint/words.h"

struct variable {
	const char *name;
	bool inert; /* of `jobs` */
};

struct looking {
	struct linting *l;
	struct table taken;              /* names that were met already */
	struct arena arena;
	LIST(struct variable) variables;
	struct words *words;
};

static bool is_known(const struct json *known, const char *name)
{
	for (size_t i = 0; i < json_count(known); i++) {
		const char *one = json_str(json_at(known, i));
		size_t n = strlen(one);
		if (n && one[n - 1] == '*' ? strncmp(one, name, n - 1) == 0 : strcmp(one, name) == 0)
			return true;
	}
	return false;
}

/* Those that the derivation itself needs, or lib/, are not the recipe's. */
static bool is_own(const struct drv *d, const char *name)
{
	return drv_output_get(d, name) || str_eq(name, "name") || str_eq(name, "world") || str_eq(name, "inert") ||
		str_starts(name, "FORGE_");
}

static void take(struct looking *k, const char *name, bool inert)
{
	bool *taken = table_put(&k->taken, name);
	if (!*taken && !is_known(json_get(k->l->tables.told, "known"), name)) {
		*list_push(&k->variables) = (struct variable){ name, inert };
		words_want(k->words, name);
	}
	*taken = true;
}

/* The variables that the scheduler fills in, from the derivation's JSON. */
static void take_inert(struct looking *k, const char *text)
{
	_cleanup_json_ struct json *inert = text ? json_parse(slice_of(text), 1 << 20, NULL) : NULL;
	_cleanup_str_list_ struct str_list keys = STR_LIST_INIT;
	if (json_kind(inert) == JSON_OBJ)
		json_keys(inert, &keys);
	for (size_t i = 0; i < keys.count; i++)
		take(k, arena_dup(&k->arena, keys.items[i]), true);
}

static void take_variables(void *ctx, const struct drv *d)
{
	struct looking *k = ctx;
	for (size_t i = 0; i < d->env_count; i++)
		if (!is_own(d, d->env[i].key))
			take(k, d->env[i].key, false);
	take_inert(k, drv_env_get(d, "inert"));
}

static void say(struct looking *k, const struct variable *v)
{
	const char *near = words_nearest(k->words, v->name), *field = v->inert ? "jobs" : "env";
	struct slice text = { k->l->text.data, k->l->text.len };
	lint_say(k->l, "variable", lint_line(text, field, v->name),
		mem_printf("nothing in the source reads %s", v->name),
		near ? mem_printf("write %s, which occurs there, or remove it", near) : mem_dup("remove it"));
}

static int look(struct looking *k, struct err *err)
{
	_cleanup_free_ char *why = NULL;
	lint_each_build(k->l, take_variables, k);
	if (k->variables.count && lint_read_texts(k->l, k->words, &why, err) < 0)
		return -1;
	for (size_t i = 0; i < k->variables.count; i++) {
		if (words_seen(k->words, k->variables.items[i].name))
			continue;
		if (why) { /* it may stand in what was not read */
			lint_leave_out(k->l, "variable", steal_ptr(why));
			break;
		}
		say(k, &k->variables.items[i]);
	}
	return 0;
}

int lint_variables(struct linting *l, struct err *err)
{
	if (!l->tables.told)
		return 0;
	struct looking k = { .l = l, .taken = TABLE_INIT(bool), .words = words_new(0) };
	int rc = look(&k, err);
	table_free(&k.taken);
	arena_free(&k.arena);
	list_free(&k.variables);
	words_free(k.words);
	return rc;
}
