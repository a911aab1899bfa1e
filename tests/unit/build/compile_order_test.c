/* Which compile goes first, of those that wait. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

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
		waits(ACTION_CC, 5, 20000, 20000),
		waits(ACTION_CC, 1, 0, 0),             /* it came first, but is no kernel */
		waits(ACTION_CC, 6, 5000, 5000),
	};
	check_order(all, sizeof all / sizeof *all);
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
		cmocka_unit_test(test_known), cmocka_unit_test(test_never_seen), cmocka_unit_test(test_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
