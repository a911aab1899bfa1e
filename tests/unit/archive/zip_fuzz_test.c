#include "fuzz/zip_fuzz.c"
#include "support/fuzz_replay.h"

static void test_corpus(void **state)
{
	assert_true(fuzz_replay("tests/fuzz/corpus/zip") >= 5);
}

static void test_vectors(void **state)
{
	const char *const folders[] = { "zip/accept", "zip/reject", "zip/malo/malicious", "zip/malo/iffy" };
	vectors_or_skip(folders[0]);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		assert_true(fuzz_replay(vectors_path(folders[i])) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus), cmocka_unit_test(test_vectors) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
