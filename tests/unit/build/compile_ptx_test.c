/* PTX that is read in parts: the parts' ends are nobody's business. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "build/compile_ptx.h"
#include "compile/arch_names.h"
#include "core/fs.h"
#include "core/mem.h"

#define NAME(list, n) "_ZN34_INTERNAL_1d6e_4_a_cu_x6thrust" n "THRUST_300001_SM_" list "_NS6system3seqE"
#define MANY 100000 /* lines: 17 MB, so several parts */

static int file_of(const struct buf *text)
{
	int fd = memfd_create("ptx", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text->data, text->len, NULL), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	return fd;
}

/* Lines of many lengths, so that names come to lie on all sides of where a part ends. */
static void put_lines(struct buf *out, const char *name)
{
	for (size_t i = 0; i < MANY; i++)
		buf_printf(out, "\tst.global.u8 [%s], %%rs%zu;\n\tadd.f32 \t%%f%zu, %%f1, %%f%.*s;\n", name, i, i * i * i,
			(int)(i % 97), "11111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111111");
}

static void test_moved(void **state)
{
	_cleanup_buf_ struct buf one = BUF_INIT, two = BUF_INIT, got = BUF_INIT;
	put_lines(&one, NAME("800", "23"));
	put_lines(&two, NAME("800_900", "27"));
	_cleanup_close_ int from = file_of(&one);
	_cleanup_close_ int to = memfd_create("moved", MFD_CLOEXEC);
	bool can = false;
	assert_int_equal(ptx_can_move(from, "800", &can, NULL), 0);
	assert_true(can);
	assert_int_equal(lseek(from, 0, SEEK_SET), 0);
	assert_int_equal(ptx_move(from, "800", to, "800_900", NULL), 0);
	assert_int_equal(lseek(to, 0, SEEK_SET), 0);
	assert_int_equal(fs_slurp(to, SIZE_MAX / 2, &got, NULL), 0);
	assert_int_equal(got.len, two.len);
	assert_memory_equal(got.data, two.data, two.len);
}

/* What tells that a name is a function's may stand lines behind it, wherever a part ends. */
static void test_a_function_is_seen(void **state)
{
	static const char *const functions[] = {
		"\t.func (.param .b32 r)\n" NAME("800", "23") "\n\n(\n\t.param .b64 a\n)\n;\n", "\tcall.uni " NAME("800", "23") ", (a);\n",
	};
	for (size_t i = 0; i < 2 * (sizeof functions / sizeof *functions); i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		bool can = true;
		if (i % 2)
			put_lines(&text, NAME("800", "23"));
		buf_str(&text, functions[i / 2]);
		_cleanup_close_ int fd = file_of(&text);
		assert_int_equal(ptx_can_move(fd, "800", &can, NULL), 0);
		assert_false(can);
	}
}

/* No statement ends in it, and it is longer than a part; or it is empty. */
static void test_odd(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT, none = BUF_INIT;
	bool can = false;
	while (text.len < 9 << 20)
		buf_str(&text, "no statement ends here, " NAME("800", "23") "\n");
	_cleanup_close_ int fd = file_of(&text);
	_cleanup_close_ int empty = file_of(&none);
	assert_int_equal(ptx_can_move(fd, "800", &can, NULL), 0);
	assert_true(can);
	can = false;
	assert_int_equal(ptx_can_move(empty, "800", &can, NULL), 0);
	assert_true(can);
}

static void test_hash(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct hasher h;
	struct hash got, want;
	put_lines(&text, "x");
	_cleanup_close_ int fd = file_of(&text);
	hash_begin(&h);
	assert_int_equal(ptx_hash(fd, &h, NULL), 0);
	hash_end(&h, &got);
	hash_of(text.data, text.len, &want);
	assert_true(hash_eq(&got, &want));
}

static void test_a_folder_is_an_error(void **state)
{
	struct err err = { 0 };
	bool can;
	_cleanup_close_ int fd = fs_open_dir("/", NULL);
	assert_int_equal(ptx_can_move(fd, "800", &can, &err), -1);
	assert_non_null(strstr(err.msg, "can't read PTX"));
	err_clear(&err);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved), cmocka_unit_test(test_a_function_is_seen), cmocka_unit_test(test_odd),
		cmocka_unit_test(test_hash), cmocka_unit_test(test_a_folder_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
