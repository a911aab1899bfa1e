/* Choosing variants: --variant, --profile, --all; declared in cli/cli.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/json.h"
#include "core/list.h"

struct wish {
	char *axis;
	struct str_list words;
};

typedef LIST(struct wish) wish_list;

static void free_wishes(wish_list *wishes)
{
	for (size_t i = 0; i < wishes->count; i++) {
		free(wishes->items[i].axis);
		str_list_free(&wishes->items[i].words);
	}
	list_free(wishes);
}

/* "80,90" for a list, the text itself for a text. */
static char *joined(const struct json *axis)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	if (json_kind(axis) == JSON_STR)
		return mem_dup(json_str(axis));
	for (size_t i = 0; i < json_count(axis); i++)
		buf_printf(&out, "%s%s", i ? "," : "", json_str(json_at(axis, i)));
	return buf_steal(&out);
}

static char *joined_words(const struct str_list *words)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	for (size_t i = 0; i < words->count; i++)
		buf_printf(&out, "%s%s", i ? "," : "", words->items[i]);
	return buf_steal(&out);
}

/* 'there is no WHAT "TEXT"; did you mean "NEAR"?', or what there is. */
static int no_such(const char *option, const char *what, const char *text, const struct str_list *known,
	struct err *err)
{
	const char *nearest = str_nearest(text, (const char *const *)known->items, known->count);
	_cleanup_buf_ struct buf all = BUF_INIT;
	for (size_t i = 0; i < known->count; i++)
		buf_printf(&all, "%s%s", i ? ", " : "; it has ", known->items[i]);
	if (nearest && *nearest)
		return err_set(err, ERR_USAGE, "--%s: the recipe has no %s \"%s\"; did you mean \"%s\"?", option, what, text,
			nearest);
	return err_set(err, ERR_USAGE, "--%s: the recipe has no %s \"%s\"%s", option, what, text,
		known->count > 20 ? "; forge show lists them" : all.data ? all.data : "");
}

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
	return wishes->count ? 0 : no_such_name(e, text, err);
}

static int check_axis(const struct eval *e, const char *axis, struct err *err)
{
	const struct json *axes = eval_target_count(e) ? eval_target(e, 0)->axes : NULL;
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (json_kind(axes) == JSON_OBJ)
		json_keys(axes, &names);
	if (str_list_has(&names, axis))
		return 0;
	return no_such("variant", "axis", axis, &names, err);
}

static int check_value(const struct eval *e, const char *axis, const char *text, struct err *err)
{
	_cleanup_str_list_ struct str_list values = STR_LIST_INIT;
	for (size_t i = 0; i < eval_target_count(e); i++) {
		_cleanup_free_ char *value = joined(json_get(eval_target(e, i)->axes, axis));
		if (str_eq(value, text))
			return 0;
		if (!str_list_has(&values, value))
			str_list_take(&values, steal_ptr(value));
	}
	return no_such("variant", axis, text, &values, err);
}

static int check_wishes(const struct eval *e, const wish_list *wishes, struct err *err)
{
	for (size_t i = 0; i < wishes->count; i++) {
		_cleanup_free_ char *text = joined_words(&wishes->items[i].words);
		if (check_axis(e, wishes->items[i].axis, err) < 0 || check_value(e, wishes->items[i].axis, text, err) < 0)
			return -1;
	}
	return 0;
}

static bool agrees(const struct eval_target *t, const wish_list *wishes)
{
	for (size_t i = 0; i < wishes->count; i++) {
		_cleanup_free_ char *value = joined(json_get(t->axes, wishes->items[i].axis));
		_cleanup_free_ char *wanted = joined_words(&wishes->items[i].words);
		if (!str_eq(value, wanted))
			return false;
	}
	return true;
}

static int say_excluded(const struct eval_target *t, struct err *err)
{
	return err_set(err, ERR_USAGE, "--variant: the recipe excludes \"%s\": %s", t->name, t->excluded);
}

/* Mark those that agree and are not excluded; there must be one. */
static int mark_agreeing(struct eval *e, const char *text, const wish_list *wishes, bool *marked, struct err *err)
{
	const struct eval_target *excluded = NULL;
	size_t found = 0;
	for (size_t i = 0; i < eval_target_count(e); i++) {
		const struct eval_target *t = eval_target(e, i);
		if (!agrees(t, wishes))
			continue;
		if (eval_tell(e, i, err) < 0)
			return -1;
		marked[i] |= !t->excluded;
		found += !t->excluded;
		excluded = t->excluded && !excluded ? t : excluded;
	}
	if (found)
		return 0;
	return excluded ? say_excluded(excluded, err)
		: err_set(err, ERR_USAGE, "--variant: no variant agrees with \"%s\"; forge show lists them", text);
}

static int select_variant(struct eval *e, const char *text, bool *marked, struct err *err)
{
	for (size_t i = 0; i < eval_target_count(e); i++) {
		const struct eval_target *t = eval_target(e, i);
		if (strcmp(t->name, text) != 0)
			continue;
		marked[i] = true;
		if (eval_tell(e, i, err) < 0)
			return -1;
		return t->excluded ? say_excluded(t, err) : 0;
	}
	wish_list wishes = { 0 };
	int rc = read_wishes(e, text, &wishes, err);
	if (rc == 0)
		rc = check_wishes(e, &wishes, err);
	if (rc == 0)
		rc = mark_agreeing(e, text, &wishes, marked, err);
	free_wishes(&wishes);
	return rc;
}

static int select_profile(struct eval *e, const char *name, bool *marked, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	size_t count = eval_target_count(e);
	_cleanup_free_ bool *mine = mem_alloc(count + 1);
	bool any = false;
	eval_profiles(e, &names);
	if (!str_list_has(&names, name))
		return no_such("profile", "profile", name, &names, err);
	if (eval_profile(e, name, mine, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		marked[i] |= mine[i];
		any |= mine[i];
	}
	return any ? 0 : err_set(err, ERR_FAIL, "--profile: \"%s\" selects no variant: the recipe has none that agrees with it, "
		"or excludes them all", name);
}

static int select_all(struct eval *e, bool *marked, struct err *err)
{
	for (size_t i = 0; i < eval_target_count(e); i++) {
		if (eval_tell(e, i, err) < 0)
			return -1;
		marked[i] |= !eval_target(e, i)->excluded;
	}
	return 0;
}

static int mark(struct eval *e, const struct options *o, bool *marked, struct err *err)
{
	size_t first;
	for (size_t i = 0; i < o->variants.count; i++)
		if (select_variant(e, o->variants.items[i], marked, err) < 0)
			return -1;
	for (size_t i = 0; i < o->profiles.count; i++)
		if (select_profile(e, o->profiles.items[i], marked, err) < 0)
			return -1;
	if (o->all)
		return select_all(e, marked, err);
	if (o->variants.count + o->profiles.count)
		return 0;
	if (eval_default(e, &first, err) < 0)
		return -1;
	if (first < eval_target_count(e))
		marked[first] = true;
	return 0;
}

int cli_select(struct eval *e, const struct options *o, size_t **chosen, size_t *count, struct err *err)
{
	size_t all = eval_target_count(e);
	_cleanup_free_ bool *marked = mem_alloc(all + 1);
	_cleanup_free_ size_t *list = mem_resize(NULL, all + 1, sizeof *list);
	*count = 0;
	if (mark(e, o, marked, err) < 0)
		return -1;
	for (size_t i = 0; i < all; i++) {
		if (!marked[i])
			continue;
		if (eval_tell(e, i, err) < 0)
			return -1;
		list[(*count)++] = i;
	}
	if (!*count)
		return err_set(err, ERR_FAIL, "the recipe has no variant to build: it excludes them all");
	*chosen = steal_ptr(list);
	return 0;
}
