/* What `forge show` prints of a recipe: a table, or JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/show.h"

enum state { IN_STORE, TO_BUILD, EXCLUDED, IMPOSSIBLE, WRONG, STATES };

static const char *const state_words[STATES] = { "in the store", "to build", "excluded", "impossible", "error" };

/* The state, and why it is that. */
static enum state state_of(const struct row *row, const char **why)
{
	const struct eval_target *t = &row->target;
	*why = t->excluded ? t->excluded : row->error ? row->error : t->impossible;
	return t->excluded ? EXCLUDED : row->error ? WRONG : t->impossible ? IMPOSSIBLE
		: row->left.fetch + row->left.build ? TO_BUILD : IN_STORE;
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
	const struct eval_target *t = &row->target;
	const char *why, *state = state_words[state_of(row, &why)];
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

int show_json(const struct shown *v, struct json *all, struct err *err)
{
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
		struct json *j = describe(v, &v->rows.items[i], v->targets[i]);
		json_set(j, "profiles", profiles_of(marked, &names, v->targets[i]));
		json_push(all, j);
	}
	return 0;
}

static int wider(int width, const char *text)
{
	int n = text ? (int)strlen(text) : 0;
	return n > width ? n : width;
}

static void print_state(const struct row *row, const char *state, const char *why)
{
	if (why)
		printf("%s: %s", state, why);
	else if (row->left.fetch + row->left.build)
		printf("%s (%zu to fetch, %zu steps)", state, row->left.fetch, row->left.build);
	else
		printf("%s", state);
}

/* "54 variants: 2 in the store, 14 to build, 38 impossible" */
static void print_count(const struct shown *v)
{
	const char *why, *before = ": ";
	size_t counts[STATES] = { 0 };
	for (size_t i = 0; i < v->rows.count; i++)
		counts[state_of(&v->rows.items[i], &why)]++;
	printf("%zu variants", v->rows.count);
	for (size_t s = 0; s < STATES; s++) {
		if (!counts[s])
			continue;
		printf("%s%zu %s", before, counts[s], state_words[s]);
		before = ", ";
	}
	printf("\n");
}

struct widths { int name, label, wheel; };

/* On a terminal what can't be had steps back; an error does not. */
static void print_row(const struct row *row, bool first, struct widths w, bool color)
{
	const char *why;
	const struct eval_target *t = &row->target;
	enum state state = state_of(row, &why);
	bool dim = color && (state == EXCLUDED || state == IMPOSSIBLE);
	printf("%s%c %-*s  %-*s  %-*s  ", dim ? "\033[2m" : "", first ? '*' : ' ', w.name, *t->name ? t->name : "(only one)",
		w.label, t->label ? t->label : "-", w.wheel, row->wheel ? row->wheel : "-");
	print_state(row, state_words[state], why);
	printf("%s\n", dim ? "\033[0m" : "");
}

void show_table(const struct shown *v)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	bool color = cli_has_color(STDOUT_FILENO);
	struct widths w = { 7, 5, 5 };
	for (size_t i = 0; i < v->rows.count; i++) {
		w.name = wider(w.name, v->rows.items[i].target.name);
		w.label = wider(w.label, v->rows.items[i].target.label);
		w.wheel = wider(w.wheel, v->rows.items[i].wheel);
	}
	printf("  %-*s  %-*s  %-*s  %s\n", w.name, "VARIANT", w.label, "LABEL", w.wheel, "WHEEL", "STATE");
	for (size_t i = 0; i < v->rows.count; i++)
		print_row(&v->rows.items[i], v->targets[i] == v->first, w, color);
	if (v->rows.count > 1)
		print_count(v);
	eval_profiles(v->e, &names);
	for (size_t i = 0; i < names.count; i++)
		printf("%s%s", i ? ", " : "profiles: ", names.items[i]);
	printf("%s", names.count ? "\n" : "");
}
