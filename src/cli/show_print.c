/* What `forge show` prints of a recipe: a table, or JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/show.h"

/* The state in one or two words, and why it is that. */
static const char *state_of(const struct row *row, const char **why)
{
	const struct eval_target *t = &row->target;
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
	const struct eval_target *t = &row->target;
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

void show_table(const struct shown *v)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	int name = 7, label = 5, wheel = 5;
	for (size_t i = 0; i < v->rows.count; i++) {
		name = wider(name, v->rows.items[i].target.name);
		label = wider(label, v->rows.items[i].target.label);
		wheel = wider(wheel, v->rows.items[i].wheel);
	}
	printf("  %-*s  %-*s  %-*s  %s\n", name, "VARIANT", label, "LABEL", wheel, "WHEEL", "STATE");
	for (size_t i = 0; i < v->rows.count; i++) {
		const struct row *row = &v->rows.items[i];
		const struct eval_target *t = &row->target;
		printf("%c %-*s  %-*s  %-*s  ", v->targets[i] == v->first ? '*' : ' ', name, *t->name ? t->name : "(only one)",
			label, t->label ? t->label : "-", wheel, row->wheel ? row->wheel : "-");
		print_state(row);
	}
	eval_profiles(v->e, &names);
	for (size_t i = 0; i < names.count; i++)
		printf("%s%s", i ? ", " : "profiles: ", names.items[i]);
	printf("%s", names.count ? "\n" : "");
}
