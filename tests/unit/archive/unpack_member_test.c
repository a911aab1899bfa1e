#include "support/vectors.h"
#include "support/tar_make.h"
#include "support/zip_make.h"

#include <zlib.h>

#include "archive/unpack.h"
#include "core/fs.h"

static int read_member(const struct buf *b, const char *path, size_t limit, struct buf *out, bool *found,
	struct err *err)
{
	_cleanup_close_ int fd = file_of(b->data, b->len);
	buf_clear(out);
	return unpack_read_member(fd, path, limit, out, found, err);
}

static void check(const struct buf *b)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	bool found;
	if (read_member(b, "PKG-INFO", 100, &out, &found, &err))
		fail_msg("%s", err.msg);
	assert_true(found);
	assert_string_equal(out.data, "Name: p\n");
	assert_int_equal(read_member(b, "src/a.py", 100, &out, &found, &err), 0);
	assert_true(found);
	assert_string_equal(out.data, "print()");
	assert_int_equal(read_member(b, "setup.py", 100, &out, &found, &err), 0);
	assert_false(found);
	assert_int_equal(out.len, 0);
	assert_int_equal(read_member(b, "PKG-INFO", 7, &out, &found, &err), -1);
	assert_non_null(strstr(err.msg, "limit of 7 bytes"));
	struct buf cut = { b->data, b->len - 1025, 0 };
	assert_int_equal(read_member(&cut, "setup.py", 100, &out, &found, &err), -1);
}

static void test_tar(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	tar_make_add(&b, &(struct tar_member){ .type = '5', .name = "p-1/" });
	tar_make_add(&b, &(struct tar_member){ .name = "PKG-INFO", .data = "not in a folder" });
	tar_make_add(&b, &(struct tar_member){ .name = "p-1/egg/PKG-INFO", .data = "deeper" });
	tar_make_add(&b, &(struct tar_member){ .type = '2', .name = "p-1/setup.py", .target = "PKG-INFO" });
	tar_make_add(&b, &(struct tar_member){ .name = "./p-1/PKG-INFO", .data = "Name: p\n" });
	tar_make_add(&b, &(struct tar_member){ .name = "p-1/src/a.py", .data = "print()" });
	tar_make_end(&b);
	check(&b);
}

static void test_sparse(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf b = BUF_INIT, out = BUF_INIT;
	char h[512];
	bool found;
	tar_make_header(h, &(struct tar_member){ .type = 'S', .name = "p/s", .size = 2 });
	memcpy(h + 257, "ustar  \0", 8);
	memcpy(h + 386, "00000000010\0" "00000000002", 23);
	memcpy(h + 483, "00000000020", 11); /* holes in front and behind */
	tar_make_sum(h);
	buf_add(&b, h, 512);
	buf_str(&b, "ab");
	tar_make_pad(&b);
	tar_make_end(&b);
	assert_int_equal(read_member(&b, "s", 100, &out, &found, &err), 0);
	assert_int_equal(out.len, 16);
	assert_memory_equal(out.data, "\0\0\0\0\0\0\0\0ab\0\0\0\0\0\0", 16);
}

static void add_stored(struct zip_make *z, const char *name, const char *data)
{
	size_t n = strlen(data);
	zip_make_add(z, &(struct zip_member){ name, 0, data, n, n, (uint32_t)crc32(0, (const Bytef *)data, (uInt)n), 0 });
}

static void test_zip(void **state)
{
	struct zip_make z = { 0 };
	add_stored(&z, "p-1/", "");
	add_stored(&z, "PKG-INFO", "not in a folder");
	add_stored(&z, "p-1/PKG-INFO", "Name: p\n");
	add_stored(&z, "p-1/src/a.py", "print()");
	char filler[2000];
	memset(filler, 'x', sizeof filler);
	filler[sizeof filler - 1] = '\0';
	add_stored(&z, "p-1/filler", filler);
	_cleanup_buf_ struct buf b = zip_make_end(&z);
	check(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tar), cmocka_unit_test(test_sparse), cmocka_unit_test(test_zip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
