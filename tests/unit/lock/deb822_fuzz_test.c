#include "fuzz/deb822_fuzz.c"
#include "support/fuzz_replay.h"

static void test_corpus(void **state)
{
	assert_int_equal(fuzz_replay("tests/fuzz/corpus/deb822"), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
