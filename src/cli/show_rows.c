/* The rows of `forge show`: variants evaluated and looked for in the store. */
#include <stdlib.h>
#include <string.h>

#include "cli/results.h"
#include "cli/show.h"

void show_row_free(struct row *row)
{
	free((char *)row->target.label);
	free((char *)row->target.excluded);
	free((char *)row->target.impossible);
	free(row->error);
	free(row->wheel);
}

/* What is wrong with one variant is its state, and no reason not to show the others. */
static void derive(struct shown *v, size_t target, struct chosen_target *t, struct row *row)
{
	_cleanup_err_ struct err err = { 0 };
	const struct eval_result *results;
	size_t count = 0;
	t->target = eval_target(v->e, target);
	if (!t->target->excluded && eval_derive(v->e, target, &results, &count, &err) < 0)
		row->error = mem_dup(err.msg);
	for (size_t i = 0; i < count && !row->error; i++)
		*list_push(&t->results) = results[i];
	row->derived = t->results.count > 0;
	row->target = *t->target;
	row->target.label = mem_dup(t->target->label);
	row->target.excluded = mem_dup(t->target->excluded);
	row->target.impossible = mem_dup(t->target->impossible);
}

/* The name of the wheel in the store, else what is known of it. */
static char *wheel_of(struct store *s, const struct plan *plan, const struct chosen_target *t)
{
	const char *path = t->results.count ? results_path(t, plan, "wheel") : NULL;
	_cleanup_free_ char *folder = path ? store_physical(s, path) : NULL;
	_cleanup_free_ char *wheel = folder ? results_wheel_in(folder) : NULL;
	return wheel ? mem_dup(strrchr(wheel, '/') + 1) : chosen_wheel_name(t->target);
}

struct found {
	struct chosen chosen;
	struct plan plan;
};

static int look(struct shown *v, struct store *s, struct found *f, size_t first_row, struct err *err)
{
	if (plan_make(v->e, f->chosen.wanted.items, f->chosen.wanted.count, s, &f->plan, err) < 0)
		return -1;
	_cleanup_free_ unsigned char *seen = mem_alloc(f->plan.count + 1);
	const size_t *wanted = f->chosen.wanted.items;
	for (size_t i = 0; i < f->chosen.targets.count; i++) {
		const struct chosen_target *t = &f->chosen.targets.items[i];
		struct row *row = &v->rows.items[first_row + i];
		row->left = plan_left(&f->plan, v->e, wanted, t->results.count, seen);
		row->wheel = wheel_of(s, &f->plan, t);
		wanted += t->results.count;
	}
	return 0;
}

int show_rows(struct shown *v, struct store *s, size_t from, size_t to, struct err *err)
{
	struct found f = { .plan = PLAN_INIT };
	size_t first_row = v->rows.count;
	int rc = 0;
	for (size_t i = from; i < to && (rc = eval_tell(v->e, v->targets[i], err)) == 0; i++) {
		struct chosen_target *t = list_push(&f.chosen.targets);
		struct row *row = list_push(&v->rows);
		derive(v, v->targets[i], t, row);
		for (size_t k = 0; k < t->results.count; k++)
			*list_push(&f.chosen.wanted) = t->results.items[k].drv;
	}
	rc = rc < 0 ? rc : look(v, s, &f, first_row, err);
	plan_free(&f.plan);
	chosen_free(&f.chosen);
	return rc;
}
