/* Which compile goes first. */
#include "build/compile_impl.h"

/* What was never seen is taken for as long as its like commonly is: a source with torch's headers, and a kernel, which
 * once its first step has ended is known better.  The longest is the one that all wait for in the end. */
static int64_t whole_ms(const struct compile_action *a)
{
	if (a->o.whole_ms)
		return a->o.whole_ms;
	return a->o.kind == ACTION_PLACED ? 10000 : a->o.kind == ACTION_CC ? 30000 : 60000;
}

void queue_reckon(struct compile_call *c, const struct compile_action *cicc)
{
	size_t count = 0;
	if (c->known_ms || c->reckoned_ms)
		return;
	for (size_t i = 0; i < c->steps.items.count; i++)
		count += c->steps.items.items[i].kind == NVCC_CICC;
	c->reckoned_ms = (int64_t)count * 2 * cicc->cpu_ms; /* ptxas takes about as long as cicc, all else little */
	for (size_t i = 0; i < c->pool->actions.count; i++) {
		struct compile_action *a = c->pool->actions.items[i];
		if (a->o.number == c->number)
			a->o.whole_ms = c->reckoned_ms;
	}
}

/* Of one command's steps: the longest of the device's; the host's half has time until those end. */
static int64_t step_ms(const struct compile_action *a)
{
	return a->o.kind == ACTION_HOST ? -1 : a->known_ms;
}

/* What ends a command, and so gives back what it holds on the disk; then the steps of the longest command, of equals
 * of the one that came first. */
bool queue_goes_before(const struct compile_action *a, const struct compile_action *b)
{
	bool ends_a = a->o.kind == ACTION_JOIN, ends_b = b->o.kind == ACTION_JOIN;
	if (a->alone != b->alone)
		return a->alone;
	if (ends_a != ends_b)
		return ends_a;
	if (whole_ms(a) != whole_ms(b))
		return whole_ms(a) > whole_ms(b);
	if (a->o.number != b->o.number)
		return a->o.number < b->o.number;
	return step_ms(a) > step_ms(b);
}
