/* The strict zip reader against the shared vectors, and what they don't show. */
#include "support/vectors.h"
#include "support/zip_make.h"

#include <zlib.h>

#include "archive/zip.h"
#include "core/buf.h"
#include "core/hash.h"
#include "core/mem.h"

/* Open, and with extract read everything: 0, or -1 with err. */
static int try_fd(int fd, bool extract, struct err *err)
{
	struct zip *z = zip_open(fd, err);
	int rc = z ? 0 : -1;
	for (size_t i = 0; z && extract && !rc && i < zip_count(z); i++) {
		_cleanup_buf_ struct buf b = BUF_INIT;
		rc = zip_read(z, zip_at(z, i), 1 << 30, &b, err);
		if (!rc)
			assert_int_equal(b.len, zip_at(z, i)->size);
	}
	zip_free(z);
	return rc;
}

static int try_path(const char *path, bool extract, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	int rc = try_fd(fd, extract, err);
	close(fd);
	return rc;
}

static void check(const char *what, const char *expected, int rc, const struct err *err)
{
	bool accept = strcmp(expected, "accept") == 0;
	if (!accept && strcmp(expected, "reject") != 0)
		fail_msg("%s: what does %s mean?", what, expected);
	if (accept != (rc == 0))
		fail_msg("%s: should be %s: %s", what, expected, err->msg ? err->msg : "accepted");
	if (rc && err->code != ERR_INPUT)
		fail_msg("%s: not an error of the input: %s", what, err->msg);
}

static void check_table(const char *table, const char *column)
{
	vectors_or_skip(table);
	struct vectors v = vectors_load(table);
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		char file[300];
		snprintf(file, sizeof file, "zip/%s", vectors_text(&v, i, "file"));
		check(file, vectors_text(&v, i, column), try_path(vectors_path(file), false, &err), &err);
	}
	vectors_free(&v);
}

static void test_registry_cases(void **state)
{
	check_table("zip/cases.tsv", "expected");
}

static void test_malo_cases(void **state)
{
	check_table("zip/malo-cases.tsv", "registry_verdict");
}

/* What lies only when inflated is refused then. */
static void test_lies_in_content(void **state)
{
	vectors_or_skip("zip/cases.tsv");
	const char *const lies[] = { "zip/accept/short_usize.zip", "zip/accept/short_usize_zip64.zip" };
	const char *const good[] = { "zip/accept/deflate.zip", "zip/accept/store.zip", "zip/accept/subdir.zip",
		"zip/accept/zip64_eocd.zip", "zip/accept/comment.zip", "zip/accept/empty.zip" };
	for (size_t i = 0; i < 2; i++) {
		_cleanup_err_ struct err err = { 0 };
		assert_int_equal(try_path(vectors_path(lies[i]), true, &err), -1);
		assert_int_equal(err.code, ERR_INPUT);
	}
	for (size_t i = 0; i < 6; i++) {
		_cleanup_err_ struct err err = { 0 };
		if (try_path(vectors_path(good[i]), true, &err))
			fail_msg("%s: %s", good[i], err.msg);
	}
}

static struct buf from_hex(const char *hex)
{
	struct buf b = BUF_INIT;
	buf_str(&b, "");
	for (; hex && hex[0] && hex[1]; hex += 2)
		buf_byte(&b, (char)(vectors_hex(hex[0]) << 4 | vectors_hex(hex[1])));
	return b;
}

static void test_whole_archives(void **state)
{
	vectors_or_skip("zip/whole-archive-cases.tsv");
	struct vectors v = vectors_load("zip/whole-archive-cases.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct buf b = from_hex(vectors_text(&v, i, "archive_hex"));
		int fd = file_of(b.data, b.len);
		check(vectors_text(&v, i, "case"), vectors_text(&v, i, "expected"), try_fd(fd, false, &err), &err);
		close(fd);
		buf_free(&b);
	}
	vectors_free(&v);
}

/* A row is one local header; the archive around it is made to fit. */
static void test_local_headers(void **state)
{
	vectors_or_skip("zip/local-header-cases.tsv");
	struct vectors v = vectors_load("zip/local-header-cases.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct buf record = from_hex(vectors_text(&v, i, "record_hex_after_signature"));
		unsigned csize, size;
		assert_int_equal(sscanf(vectors_text(&v, i, "central_directory_sizes"), "{\"a\":[%u,%u]}",
			&csize, &size), 2);
		struct zip_make z = { .count = 1 };
		/* The name is the one the local header has, so that only what the row is about differs. */
		char name[2] = { record.data[26], '\0' };
		struct zip_member m = { .name = name, .method = (unsigned char)record.data[4], .csize = csize,
			.size = size };
		buf_str(&z.body, "PK\3\4");
		buf_add(&z.body, record.data, record.len);
		/* Some records bring their content along; what is missing is filled up. */
		size_t head = 26 + (unsigned char)record.data[22] + (unsigned char)record.data[24];
		for (size_t n = record.len > head ? record.len - head : 0; n < csize; n++)
			buf_byte(&z.body, 'x');
		zip_make_dir(&z.dir, &m, 1, 0);
		struct buf b = zip_make_end(&z);
		int fd = file_of(b.data, b.len);
		check(vectors_text(&v, i, "case"), vectors_text(&v, i, "expected"), try_fd(fd, false, &err), &err);
		close(fd);
		buf_free(&record);
		buf_free(&b);
	}
	vectors_free(&v);
}

static int read_deflated(const struct buf *stream, uint64_t size, uint32_t crc, struct buf *out, struct err *err)
{
	struct zip_make make = { 0 };
	struct zip_member m = { "x", 8, stream->data, stream->len, size, crc, 0100644 };
	zip_make_add(&make, &m);
	struct buf b = zip_make_end(&make);
	int fd = file_of(b.data, b.len);
	struct zip *z = zip_open(fd, err);
	assert_non_null(z);
	int rc = zip_read(z, zip_at(z, 0), 1 << 20, out, err);
	zip_free(z);
	close(fd);
	buf_free(&b);
	return rc;
}

/* Every deflate vector as an entry: only streams that end, with nothing behind, are read. */
static void test_deflate(void **state)
{
	vectors_or_skip("deflate/cases.tsv");
	struct vectors v = vectors_load("deflate/cases.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_buf_ struct buf out = BUF_INIT;
		struct buf stream = from_hex(vectors_text(&v, i, "hex"));
		bool good = strcmp(vectors_text(&v, i, "zlib"), "ends") == 0;
		const char *size = vectors_text(&v, i, "content_size");
		uint64_t stated = size ? strtoull(size, NULL, 10) : 0;
		/* The right CRC, so that it is the stream that is refused: taken by zlib itself. */
		unsigned char plain[4096];
		z_stream zs = { .next_in = (Bytef *)stream.data, .avail_in = (uInt)stream.len,
			.next_out = plain, .avail_out = sizeof plain };
		assert_int_equal(inflateInit2(&zs, -15), Z_OK);
		inflate(&zs, Z_FINISH);
		uint32_t crc = (uint32_t)crc32(0, plain, (uInt)zs.total_out);
		inflateEnd(&zs);
		int rc = read_deflated(&stream, stated, crc, &out, &err);
		if (good != (rc == 0))
			fail_msg("%s: %s", vectors_text(&v, i, "file"), err.msg ? err.msg : "accepted");
		if (good) {
			struct hash h;
			hash_of(out.data, out.len, &h);
			_cleanup_free_ char *hex = hash_hex(&h);
			assert_string_equal(hex, vectors_text(&v, i, "content_sha256"));
			err_clear(&err);
			buf_clear(&out);
			assert_int_equal(read_deflated(&stream, stated + 1, crc, &out, &err), -1);
			assert_int_equal(read_deflated(&stream, stated, crc + 1, &out, &err), -1);
		}
		buf_free(&stream);
	}
	vectors_free(&v);
}

static int open_one(const struct zip_member *m, size_t count, struct err *err)
{
	struct zip_make make = { 0 };
	for (size_t i = 0; i < count; i++)
		zip_make_add(&make, &m[i]);
	struct buf b = zip_make_end(&make);
	int fd = file_of(b.data, b.len);
	int rc = try_fd(fd, true, err);
	close(fd);
	buf_free(&b);
	return rc;
}

static void test_names(void **state)
{
	const char *const bad[] = { "/a", "../a", "a/../b", "a/..", "./a", ".", "..", "a//b", "a\\b", "C:/x", "c:x",
		"a\x7f", "a\nb", "caf\xc3\xa9", "a\xff", "a//" };
	const char *const good[] = { "a", "a/b", "a/", "..a/...", "ab:c", "a b" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct zip_member m = { .name = bad[i], .mode = 0100644 };
		if (open_one(&m, 1, &err) == 0)
			fail_msg("the name %s was taken", bad[i]);
	}
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct zip_member m = { .name = good[i] };
		if (open_one(&m, 1, &err))
			fail_msg("the name %s: %s", good[i], err.msg);
	}
}

static void test_bad_methods_and_twice(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	struct zip_member bzip2 = { .name = "a", .method = 12 };
	assert_int_equal(open_one(&bzip2, 1, &err), -1);
	assert_non_null(strstr(err.msg, "compression method"));
	struct zip_member twice[] = { { .name = "a" }, { .name = "b" }, { .name = "a" } };
	assert_int_equal(open_one(twice, 3, &err), -1);
	assert_non_null(strstr(err.msg, "twice"));
	struct zip_member stored = { .name = "a", .data = "hello", .csize = 5, .size = 6 };
	assert_int_equal(open_one(&stored, 1, &err), -1);
	assert_non_null(strstr(err.msg, "two sizes"));
	struct zip_member damaged = { .name = "a", .data = "hello", .csize = 5, .size = 5, .crc = 1 };
	assert_int_equal(open_one(&damaged, 1, &err), -1);
	assert_non_null(strstr(err.msg, "CRC"));
}

/* Cut a good archive at every length, and put a byte behind it: never accepted. */
static void test_cut_anywhere(void **state)
{
	struct zip_make make = { 0 };
	struct zip_member m[] = { { "a", 0, "hello", 5, 5, 0x3610a686, 0100644 }, { "b/", 0, "", 0, 0, 0, 0040755 } };
	zip_make_add(&make, &m[0]);
	zip_make_add(&make, &m[1]);
	struct buf b = zip_make_end(&make);
	for (size_t n = 0; n <= b.len + 1; n++) {
		_cleanup_err_ struct err err = { 0 };
		int fd = file_of(b.data, n);
		int rc = try_fd(fd, true, &err);
		if ((rc == 0) != (n == b.len))
			fail_msg("%zu of %zu bytes: %s", n, b.len, err.msg ? err.msg : "accepted");
		close(fd);
	}
	buf_free(&b);
}

static void test_look_up(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	struct zip_make make = { 0 };
	struct zip_member m[] = {
		{ "b.py", 0, "print", 5, 5, (uint32_t)crc32(0, (const Bytef *)"print", 5), 0100755 },
		{ "a/", 0, "", 0, 0, 0, 0040755 },
		{ "l", 0, "b.py", 4, 4, (uint32_t)crc32(0, (const Bytef *)"b.py", 4), 0120777 },
	};
	for (size_t i = 0; i < 3; i++)
		zip_make_add(&make, &m[i]);
	struct buf b = zip_make_end(&make);
	int fd = file_of(b.data, b.len);
	struct zip *z = zip_open(fd, &err);
	assert_non_null(z);
	assert_int_equal(zip_count(z), 3);
	assert_string_equal(zip_at(z, 0)->name, "b.py");
	assert_null(zip_at(z, 3));
	assert_null(zip_find(z, "c"));
	assert_ptr_equal(zip_find(z, "b.py"), zip_at(z, 0));
	assert_int_equal(zip_find(z, "b.py")->mode, 0100755);
	assert_true(zip_find(z, "a/")->folder);
	assert_true(zip_find(z, "l")->link);
	assert_int_equal(zip_check_plain(zip_find(z, "a/"), &err), 0);
	assert_int_equal(zip_check_plain(zip_find(z, "l"), &err), -1);
	_cleanup_buf_ struct buf out = BUF_INIT;
	assert_int_equal(zip_read(z, zip_at(z, 0), 5, &out, &err), 0);
	assert_string_equal(out.data, "print");
	assert_int_equal(zip_read(z, zip_at(z, 0), 4, &out, &err), -1);
	assert_non_null(strstr(err.msg, "limit of 4 bytes"));
	zip_free(z);
	close(fd);
	buf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry_cases), cmocka_unit_test(test_malo_cases),
		cmocka_unit_test(test_lies_in_content), cmocka_unit_test(test_whole_archives),
		cmocka_unit_test(test_local_headers), cmocka_unit_test(test_deflate),
		cmocka_unit_test(test_names), cmocka_unit_test(test_bad_methods_and_twice),
		cmocka_unit_test(test_cut_anywhere), cmocka_unit_test(test_look_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
