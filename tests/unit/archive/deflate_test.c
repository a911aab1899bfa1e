/* What the deflater writes, the zip reader inflates to the same bytes. */
#include "support/vectors.h"
#include "support/zip_make.h"

#include <zlib.h>

#include "archive/deflate.h"

#define SIZE (3 * 1024 * 1024 + 7)

static int collect(void *ctx, const void *data, size_t len, struct err *err)
{
	buf_add(ctx, data, len);
	return 0;
}

static int refuse(void *ctx, const void *data, size_t len, struct err *err)
{
	return err_set(err, ERR_FAIL, "no room");
}

static void check_round(struct deflater *d, const unsigned char *data, size_t len, size_t piece)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf packed = BUF_INIT, out = BUF_INIT;
	for (size_t at = 0; at <= len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		bool last = at + piece > len;
		assert_int_equal(deflater_put(d, data + at, n, last, collect, &packed, &err), 0);
	}
	struct zip_make make = { 0 };
	zip_make_add(&make, &(struct zip_member){ "x", 8, packed.data, packed.len, len,
		(uint32_t)crc32_z(0, data, len), 0 });
	_cleanup_buf_ struct buf b = zip_make_end(&make);
	int fd = file_of(b.data, b.len);
	struct zip *z = zip_open(fd, &err);
	assert_non_null(z);
	if (zip_read(z, zip_at(z, 0), SIZE, &out, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(out.len, len);
	assert_true(len == 0 || memcmp(out.data, data, len) == 0);
	zip_free(z);
	close(fd);
}

static void test_round(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	unsigned char *data = malloc(SIZE);
	uint32_t random = 1;
	for (size_t i = 0; i < SIZE; i++) {
		random = random * 1664525 + 1013904223;
		data[i] = i < SIZE / 2 ? (unsigned char)(random >> 24) : (unsigned char)(i >> 8);
	}
	struct deflater *d = deflater_new(6, &err);
	assert_non_null(d);
	const size_t sizes[] = { 0, 1, 65536, SIZE };
	for (size_t i = 0; i < 4; i++)
		check_round(d, data, sizes[i], 65537);
	/* Pieces of another size are another stream perhaps, but the same content. */
	check_round(d, data, SIZE, 1000003);
	assert_int_equal(deflater_put(d, data, SIZE, true, refuse, NULL, &err), -1);
	assert_string_equal(err.msg, "no room");
	deflater_free(d);
	deflater_free(NULL);
	free(data);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_round) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
