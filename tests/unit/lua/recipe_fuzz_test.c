#include "fuzz/recipe_fuzz.c"
#include "support/fuzz_replay.h"

static void test_corpus(void **state)
{
	assert_true(fuzz_replay("tests/fuzz/corpus/recipe") >= 6);
}

static void test_recipes(void **state)
{
	assert_true(fuzz_replay("recipes") >= 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus), cmocka_unit_test(test_recipes) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
