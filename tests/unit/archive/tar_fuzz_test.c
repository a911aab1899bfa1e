#include "fuzz/tar_fuzz.c"
#include "support/fuzz_replay.h"

static void test_corpus(void **state)
{
	assert_true(fuzz_replay("tests/fuzz/corpus/tar") >= 5);
}

static void test_vectors(void **state)
{
	const char *const folders[] = { "tar/accept", "tar/reject", "tar/malicious", "tar/iffy", "zstd/accept",
		"zstd/malicious", "zstd/reject", "extract/tars" };
	vectors_or_skip(folders[0]);
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		assert_true(fuzz_replay(vectors_path(folders[i])) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_corpus), cmocka_unit_test(test_vectors) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
