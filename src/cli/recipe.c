/* Opening a recipe with its lock, and choosing variants; declared in cli/cli.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/json.h"
#include "core/list.h"
#include "lock/lock.h"

static int read_sets(const struct str_list *sets, struct json **out, struct err *err)
{
	if (sets->count == 0)
		return 0;
	*out = json_new_obj();
	for (size_t i = 0; i < sets->count; i++) {
		struct slice key, value;
		if (!slice_cut(slice_of(sets->items[i]), '=', &key, &value) || !key.n)
			return err_set(err, ERR_USAGE, "--set %s: write --set field=value", sets->items[i]);
		_cleanup_free_ char *name = mem_dup_n(key.p, key.n);
		json_set(*out, name, json_new_str_n(value.p, value.n));
	}
	return 0;
}

int cli_recipe_open(struct cli_recipe *r, const char *path, const struct options *o, struct err *err)
{
	_cleanup_free_ char *file = cli_lock_file(path);
	*r = (struct cli_recipe){ 0 };
	r->lib = cli_lib_folder(err);
	if (!r->lib || read_sets(&o->sets, &r->set, err) < 0)
		goto failed;
	r->lock = lock_open(file, err);
	if (!r->lock)
		goto failed;
	lock_set_recipe(r->lock, path);
	struct eval_options options = { .lib = r->lib, .locked = lock_answer, .ctx = r->lock, .set = r->set };
	r->eval = eval_open(path, &options, err);
	if (r->eval)
		return 0;
failed:
	cli_recipe_close(r);
	return -1;
}

void cli_recipe_close(struct cli_recipe *r)
{
	eval_close(r->eval);
	lock_free(r->lock);
	json_free(r->set);
	free(r->lib);
	*r = (struct cli_recipe){ 0 };
}

/* Does an axis' value (a string, or a list of them) equal the given words? */
static bool axis_is(const struct json *axis, const struct str_list *words)
{
	if (json_kind(axis) == JSON_STR)
		return words->count == 1 && str_eq(json_str(axis), words->items[0]);
	bool same = json_kind(axis) == JSON_ARR && json_count(axis) == words->count;
	for (size_t i = 0; same && i < words->count; i++)
		same = str_eq(json_str(json_at(axis, i)), words->items[i]);
	return same;
}

struct wish {
	char *axis;
	struct str_list words;
};

typedef LIST(struct wish) wish_list;

/* Neither a variant's name nor axis=value. */
static int no_such_name(const struct eval *e, const char *text, struct err *err)
{
	size_t count = eval_target_count(e);
	_cleanup_free_ const char **names = mem_resize(NULL, count + 1, sizeof *names);
	for (size_t i = 0; i < count; i++)
		names[i] = eval_target(e, i)->name;
	const char *nearest = str_nearest(text, names, count);
	if (nearest && *nearest)
		return err_set(err, ERR_USAGE, "--variant: the recipe has no variant \"%s\"; did you mean \"%s\"?", text, nearest);
	return err_set(err, ERR_USAGE, "--variant: the recipe has no variant \"%s\"; forge show lists them, or write axis=value,…",
		text);
}

/* "python=3.11,archs=80,90": a word without "=" belongs to the axis before it. */
static int read_wishes(const struct eval *e, const char *text, wish_list *wishes, struct err *err)
{
	for (struct slice word, rest = slice_of(text); rest.n;) {
		struct slice axis, value;
		slice_cut(rest, ',', &word, &rest);
		bool named = slice_cut(word, '=', &axis, &value);
		if (named)
			*list_push(wishes) = (struct wish){ .axis = mem_dup_n(axis.p, axis.n) };
		if (!wishes->count)
			return no_such_name(e, text, err);
		str_list_take(&wishes->items[wishes->count - 1].words,
			named ? mem_dup_n(value.p, value.n) : mem_dup_n(word.p, word.n));
	}
	return 0;
}

static void free_wishes(wish_list *wishes)
{
	for (size_t i = 0; i < wishes->count; i++) {
		free(wishes->items[i].axis);
		str_list_free(&wishes->items[i].words);
	}
	list_free(wishes);
}

static int check_axes(const struct eval *e, const wish_list *wishes, struct err *err)
{
	const struct json *axes = eval_target_count(e) ? eval_target(e, 0)->axes : NULL;
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (json_kind(axes) == JSON_OBJ)
		json_keys(axes, &names);
	for (size_t i = 0; i < wishes->count; i++) {
		const char *axis = wishes->items[i].axis;
		if (str_list_has(&names, axis))
			continue;
		const char *nearest = str_nearest(axis, (const char *const *)names.items, names.count);
		_cleanup_buf_ struct buf all = BUF_INIT;
		for (size_t k = 0; k < names.count; k++)
			buf_printf(&all, "%s%s", k ? ", " : "", names.items[k]);
		return err_set(err, ERR_USAGE, "--variant: the recipe has no axis \"%s\"; %s%s%s", axis,
			nearest ? "did you mean \"" : names.count ? "it has " : "it has none",
			nearest ? nearest : all.data ? all.data : "", nearest ? "\"?" : "");
	}
	return 0;
}

static int select_matching(const struct eval *e, const char *text, bool *marked, struct err *err)
{
	size_t found = 0, count = eval_target_count(e);
	wish_list wishes = { 0 };
	int rc = 0;
	for (size_t i = 0; i < count; i++) {
		const struct eval_target *t = eval_target(e, i);
		if (strcmp(t->name, text) != 0)
			continue;
		if (t->excluded)
			return err_set(err, ERR_USAGE, "--variant: the recipe excludes \"%s\": %s", text, t->excluded);
		marked[i] = true;
		return 0;
	}
	if (read_wishes(e, text, &wishes, err) < 0 || check_axes(e, &wishes, err) < 0)
		rc = -1;
	for (size_t i = 0; rc == 0 && i < count; i++) {
		const struct eval_target *t = eval_target(e, i);
		bool agrees = !t->excluded;
		for (size_t k = 0; agrees && k < wishes.count; k++)
			agrees = axis_is(json_get(t->axes, wishes.items[k].axis), &wishes.items[k].words);
		marked[i] |= agrees;
		found += agrees;
	}
	if (rc == 0 && !found)
		rc = err_set(err, ERR_USAGE, "--variant: no variant agrees with \"%s\"; forge show lists them", text);
	free_wishes(&wishes);
	return rc;
}

int cli_select(const struct eval *e, const struct options *o, size_t **chosen, size_t *count,
	struct err *err)
{
	size_t all = eval_target_count(e);
	_cleanup_free_ bool *marked = mem_alloc(all + 1);
	for (size_t i = 0; i < o->variants.count; i++)
		if (select_matching(e, o->variants.items[i], marked, err) < 0)
			return -1;
	*chosen = mem_resize(NULL, all + 1, sizeof **chosen);
	*count = 0;
	for (size_t i = 0; i < all; i++) {
		const struct eval_target *t = eval_target(e, i);
		if (o->all ? !t->excluded : o->variants.count ? marked[i] : t->is_default)
			(*chosen)[(*count)++] = i;
	}
	if (*count)
		return 0;
	free(steal_ptr(*chosen));
	return err_set(err, ERR_FAIL, "the recipe has no variant to build: it excludes them all");
}
