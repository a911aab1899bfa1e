/*
 * What is large and what much hangs on goes first, so that at the end no core idles beside one last
 * large step.  How long a step takes is not known before, but bytes are a fair measure of fetching
 * and unpacking: a derivation's own are what it fetches, or what its inputs hold; its way is its
 * own bytes and the longest way of those that need it.
 */
#include "build/order.h"

#include <stdlib.h>

#include "core/mem.h"

#define BYTES_MAX (1ull << 48) /* inputs that several paths share are counted on each: ways must not wrap */

struct place {
	size_t index;
	uint64_t way;
};

static int longest_first(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->way != y->way)
		return x->way < y->way ? 1 : -1;
	return x->index < y->index ? -1 : 1;
}

static uint64_t own_bytes(const struct eval_drv *d, const uint64_t *bytes)
{
	uint64_t sum = (uint64_t)plan_fetch_size(d->drv);
	for (size_t k = 0; k < d->drv->input_count && sum < BYTES_MAX; k++)
		sum += bytes[d->inputs[k]];
	return sum < BYTES_MAX ? sum : BYTES_MAX;
}

size_t *order_make(struct eval *e)
{
	size_t count = eval_drv_count(e);
	_cleanup_free_ uint64_t *bytes = mem_alloc((count + 1) * sizeof *bytes);
	_cleanup_free_ struct place *places = mem_alloc((count + 1) * sizeof *places);
	for (size_t i = 0; i < count; i++) { /* inputs have smaller indexes */
		bytes[i] = own_bytes(eval_drv(e, i), bytes);
		places[i].index = i;
	}
	for (size_t i = count; i-- > 0;) { /* and those that need it larger ones: way holds the longest of theirs */
		const struct eval_drv *d = eval_drv(e, i);
		places[i].way += bytes[i];
		for (size_t k = 0; k < d->drv->input_count; k++)
			if (places[d->inputs[k]].way < places[i].way)
				places[d->inputs[k]].way = places[i].way;
	}
	qsort(places, count, sizeof *places, longest_first);
	size_t *order = mem_alloc((count + 1) * sizeof *order);
	for (size_t i = 0; i < count; i++)
		order[i] = places[i].index;
	return order;
}
