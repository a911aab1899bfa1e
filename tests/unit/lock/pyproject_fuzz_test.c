#include "fuzz/pyproject_fuzz.c"
#include "support/fuzz_replay.h"

static void test_corpus(void **state)
{
	assert_int_equal(fuzz_replay("tests/fuzz/corpus/pyproject"), 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
