#include "support/vectors.h"

#include "archive/inodes.h"

static void test_set(void **state)
{
	struct inodes s = { 0 };
	assert_false(inodes_has(&s, 1));
	for (uint64_t i = 1; i <= 100000; i++)
		inodes_add(&s, i * 3);
	inodes_add(&s, UINT64_MAX);
	inodes_add(&s, 3);
	assert_int_equal(s.count, 100001);
	for (uint64_t i = 1; i <= 300000; i++)
		assert_int_equal(inodes_has(&s, i), i % 3 == 0);
	assert_true(inodes_has(&s, UINT64_MAX));
	inodes_free(&s);
	assert_false(inodes_has(&s, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_set) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
