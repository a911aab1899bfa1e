#include "fuzz/manifest_fuzz.c"
#include "support/fuzz_replay.h"

static void test_corpus(void **state)
{
	assert_true(fuzz_replay("tests/fuzz/corpus/manifest") >= 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
