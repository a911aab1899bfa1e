/* Which compile goes first, of those that wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "build/compile_impl.h"

static struct compile_action waits(enum action_kind kind, uint64_t number, int64_t whole_ms, int64_t known_ms)
{
	return (struct compile_action){ .o = { .kind = kind, .number = number, .whole_ms = whole_ms }, .known_ms = known_ms };
}

/* Each goes before all that stand behind it, and none of those before it. */
static void check_order(const struct compile_action *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < count; k++)
			if (queue_goes_before(&all[i], &all[k]) != (i < k))
				fail_msg("of %zu and %zu the wrong one goes first", i, k);
}

static void test_known(void **state)
{
	const struct compile_action all[] = {
		waits(ACTION_JOIN, 9, 10, 10),        /* it ends a command, however short */
		waits(ACTION_CICC, 5, 300000, 120000),
		waits(ACTION_PTXAS, 5, 300000, 80000),
		waits(ACTION_HOST, 5, 300000, 300000), /* known as the whole, and yet behind the steps that are waited for */
		waits(ACTION_TEXTS, 7, 200000, 200000),
		waits(ACTION_CC, 1, 30000, 30000),
		waits(ACTION_CC, 2, 30000, 30000),
		waits(ACTION_PLACED, 3, 20, 20),
	};
	check_order(all, sizeof all / sizeof *all);
}

static void test_never_seen(void **state)
{
	const struct compile_action all[] = {
		waits(ACTION_TEXTS, 2, 61000, 61000), /* known to be longer than what is guessed */
		waits(ACTION_CICC, 3, 0, 0),
		waits(ACTION_HOST, 3, 0, 0),
		waits(ACTION_TEXTS, 4, 0, 0),
		waits(ACTION_CC, 5, 40000, 40000),
		waits(ACTION_CC, 1, 0, 0),             /* it came first, but is no kernel */
		waits(ACTION_CC, 6, 20000, 20000),
	};
	check_order(all, sizeof all / sizeof *all);
}

/* After its first cicc step a kernel that was never seen is no longer taken for a common one. */
static void test_reckoned(void **state)
{
	struct nvcc_step steps[] = {
		{ .kind = NVCC_CICC }, { .kind = NVCC_PTXAS }, { .kind = NVCC_CICC }, { .kind = NVCC_PTXAS }, { .kind = NVCC_HOST },
	};
	struct compile_action small = waits(ACTION_CICC, 1, 0, 0), unseen = waits(ACTION_CICC, 2, 0, 0),
		cc = waits(ACTION_CC, 3, 0, 0), *queue[] = { &small, &unseen, &cc };
	struct compile_pool pool = { 0 };
	struct compile_call call = { .pool = &pool, .number = 1 };
	memcpy(&pool.actions, &(__typeof__(pool.actions)){ .items = queue, .count = 3 }, sizeof pool.actions);
	memcpy(&call.steps.items, &(__typeof__(call.steps.items)){ .items = steps, .count = 5 }, sizeof call.steps.items);
	assert_true(queue_goes_before(&small, &unseen));
	queue_reckon(&call, &(struct compile_action){ .cpu_ms = 6000 });
	assert_int_equal(call.reckoned_ms, 24000);
	assert_true(queue_goes_before(&unseen, &cc));
	assert_true(queue_goes_before(&cc, &small));
	queue_reckon(&call, &(struct compile_action){ .cpu_ms = 9000 }); /* the first has told */
	assert_int_equal(call.reckoned_ms, 24000);
	call = (struct compile_call){ .pool = &pool, .number = 2, .known_ms = 5000 };
	queue_reckon(&call, &(struct compile_action){ .cpu_ms = 6000 }); /* what was seen is known better */
	assert_int_equal(unseen.o.whole_ms, 0);
}

static void test_alone(void **state)
{
	struct compile_action large = waits(ACTION_CICC, 9, 10, 10), join = waits(ACTION_JOIN, 1, 300000, 300000);
	large.alone = true;
	assert_true(queue_goes_before(&large, &join));
	assert_false(queue_goes_before(&join, &large));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known), cmocka_unit_test(test_never_seen), cmocka_unit_test(test_reckoned), cmocka_unit_test(test_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
