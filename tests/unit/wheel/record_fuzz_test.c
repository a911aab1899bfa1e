#include "fuzz/record_fuzz.c"
#include "support/fuzz_replay.h"

static void replay(void **state)
{
	assert_int_equal(fuzz_replay("tests/fuzz/corpus/record"), 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(replay) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
