/* The fuzz corpus of index pages, each file also cut off at every byte. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/fs.h"
#include "core/mem.h"
#include "../../fuzz/simple_fuzz.c"

static void replay(void **state)
{
	struct err err = { 0 };
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_close_ int dir = fs_open_dir("tests/fuzz/corpus/simple", &err);
	assert_true(dir >= 0);
	assert_int_equal(fs_list(dir, &names, &err), 0);
	assert_true(names.count >= 8);
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		assert_int_equal(fs_read_file(dir, names.items[i], 1 << 20, &text, &err), 0);
		for (size_t n = 0; n <= text.len; n++) {
			/* A copy of exactly that size: a read past its end is seen by the sanitizer. */
			_cleanup_free_ uint8_t *copy = malloc(n ? n : 1);
			memcpy(copy, text.data, n);
			LLVMFuzzerTestOneInput(copy, n);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(replay) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
