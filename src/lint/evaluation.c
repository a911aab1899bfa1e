/* Does every variant evaluate, with all that it asks for in the lock?  Declared in lint/lint_impl.h. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "lint/lint_impl.h"

/* What is wrong with one variant is likely wrong with others: said once, with the first of them. */
struct failure {
	char *msg;           /* without the variant */
	const char *variant;
	size_t more;
};
typedef LIST(struct failure) failure_list;

static void note(failure_list *all, const struct eval_target *t, const struct err *err)
{
	_cleanup_free_ char *ending = mem_printf(" (variant %s)", t->name);
	size_t n = strlen(err->msg) - (str_ends(err->msg, ending) ? strlen(ending) : 0);
	_cleanup_free_ char *msg = mem_dup_n(err->msg, n);
	for (size_t i = 0; i < all->count; i++)
		if (strcmp(all->items[i].msg, msg) == 0) {
			all->items[i].more++;
			return;
		}
	*list_push(all) = (struct failure){ steal_ptr(msg), t->name, 0 };
}

static void say(struct linting *l, const struct failure *f)
{
	_cleanup_err_ struct err err = { 0 };
	if (f->more)
		err_set(&err, ERR_INPUT, "%s (variant %s, and %zu more)", f->msg, f->variant, f->more);
	else if (*f->variant)
		err_set(&err, ERR_INPUT, "%s (variant %s)", f->msg, f->variant);
	else
		err_set(&err, ERR_INPUT, "%s", f->msg);
	lint_add_error(l->out, "evaluation", l->o->recipe, &err);
}

static int evaluate(struct linting *l, size_t target, struct err *err)
{
	const struct eval_result *results;
	size_t count = 0;
	if (eval_tell(l->e, target, err) < 0)
		return -1;
	if (!eval_target(l->e, target)->excluded && eval_derive(l->e, target, &results, &count, err) < 0)
		return -1;
	if (count)
		*list_push(&l->possible) = eval_target(l->e, target);
	for (size_t i = 0; i < count; i++)
		if (strcmp(results[i].role, "wheel") == 0)
			*list_push(&l->wheels) = results[i].drv;
	return 0;
}

int lint_evaluation(struct linting *l, struct err *err)
{
	failure_list failures = { 0 };
	for (size_t i = 0; i < eval_target_count(l->e); i++) {
		_cleanup_err_ struct err mine = { 0 };
		if (evaluate(l, i, &mine) < 0)
			note(&failures, eval_target(l->e, i), &mine);
	}
	for (size_t i = 0; i < failures.count; i++) {
		say(l, &failures.items[i]);
		free(failures.items[i].msg);
	}
	list_free(&failures);
	return 0;
}
