#include "cli/chosen.h"

#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "wheel/name.h"

void chosen_free(struct chosen *c)
{
	for (size_t i = 0; i < c->targets.count; i++)
		list_free(&c->targets.items[i].results);
	list_free(&c->targets);
	list_free(&c->wanted);
}

char *chosen_wheel_name(const struct eval_target *t)
{
	if (!t->label)
		return NULL;
	_cleanup_free_ char *escaped = wheel_escape_name(t->recipe);
	return mem_printf("%s-%s-*.whl", escaped, t->label);
}

char *chosen_root_name(const struct eval_target *t)
{
	return mem_printf("%s%s%s%s%s", t->recipe, t->version ? "-" : "", t->version ? t->version : "",
		*t->name ? "-" : "", t->name);
}

struct named {
	char *key; /* what the file's name will be, and the Python that sets its tags */
	const struct eval_target *target;
};

static int by_key(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->key, y->key);
	return order ? order : x->target < y->target ? -1 : x->target > y->target; /* in the matrix's order */
}

static int say_twice(const char *recipe, const struct eval_target *a, const struct eval_target *b, struct err *err)
{
	_cleanup_free_ char *wheel = chosen_wheel_name(a);
	return err_set(err, ERR_INPUT, "%s: %s and %s would both be %s: tell them apart by the label", recipe, a->name, b->name, wheel);
}

int chosen_check_names(const char *recipe, const struct eval_target *const *targets, size_t count, struct err *err)
{
	struct named *all = mem_resize(NULL, count + 1, sizeof *all);
	size_t n = 0;
	int rc = 0;
	for (size_t i = 0; i < count; i++) {
		_cleanup_free_ char *wheel = chosen_wheel_name(targets[i]);
		const char *python = json_get_str(targets[i]->axes, "python");
		if (wheel)
			all[n++] = (struct named){ mem_printf("%s %s", wheel, python ? python : ""), targets[i] };
	}
	if (n)
		qsort(all, n, sizeof *all, by_key);
	for (size_t i = 1; i < n && rc == 0; i++)
		if (strcmp(all[i - 1].key, all[i].key) == 0)
			rc = say_twice(recipe, all[i - 1].target, all[i].target, err);
	for (size_t i = 0; i < n; i++)
		free(all[i].key);
	free(all);
	return rc;
}

static int say_impossible(const char *recipe, const struct eval_target *t, size_t of, struct err *err)
{
	if (of > 1)
		return err_set(err, ERR_INPUT, "%s: none of these %zu variants can be built; %s: %s", recipe, of, t->name,
			t->impossible);
	return err_set(err, ERR_INPUT, "%s: %s%s%s", recipe, t->name, *t->name ? ": " : "", t->impossible);
}

int chosen_derive(struct chosen *c, const char *recipe, struct eval *e, const size_t *targets, size_t count,
	struct err *err)
{
	_cleanup_free_ const struct eval_target **possible = mem_resize(NULL, count + 1, sizeof *possible);
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		const struct eval_result *results;
		size_t made;
		struct chosen_target *t = list_push(&c->targets);
		t->target = eval_target(e, targets[i]);
		if (eval_derive(e, targets[i], &results, &made, err) < 0)
			return -1;
		for (size_t k = 0; k < made; k++) {
			*list_push(&t->results) = results[k];
			*list_push(&c->wanted) = results[k].drv;
		}
		if (made)
			possible[n++] = t->target;
	}
	if (count && !n)
		return say_impossible(recipe, c->targets.items[0].target, count, err);
	return chosen_check_names(recipe, possible, n, err);
}
