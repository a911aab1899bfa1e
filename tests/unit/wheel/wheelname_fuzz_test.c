#include "fuzz/wheelname_fuzz.c"
#include "support/fuzz_replay.h"

static void replay(void **state)
{
	assert_int_equal(fuzz_replay("tests/fuzz/corpus/wheelname"), 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(replay) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
