/* Decompression: what each format gives, and that damage, cuts and additions are errors. */
#include "support/vectors.h"
#include "support/zip_make.h"

#include "archive/stream.h"
#include "core/fs.h"
#include "core/hash.h"
#include "core/mem.h"

#define HELLO "hello\nhello\nhello\n"

static const struct sample {
	enum stream_kind kind;
	const char *hex;
} samples[] = {
	{ STREAM_GZIP,
		"1f8b0800000000000203cb48cdc9c9e7ca4022013a37663d12000000" },
	{ STREAM_XZ,
		"fd377a585a000004e6d6b4460200210116000000742fe5a3e00011000b5d00341949ee8ddd4ec585"
		"e0000000e5955ebcb6d0ac09000127120676fa091fb6f37d010000000004595a" },
	{ STREAM_BZIP2,
		"425a683931415926535927bc6671000004410000100244a000223f546419a0a8e45c78bb9229c284"
		"813de33388" },
	{ STREAM_ZSTD,
		"28b52ffd04586500003068656c6c6f0a0100e14a11ef0812e1" },
};
#define SAMPLES (sizeof samples / sizeof *samples)

static struct buf from_hex(const char *hex)
{
	struct buf b = BUF_INIT;
	for (; *hex; hex += 2)
		buf_byte(&b, (char)(vectors_hex(hex[0]) << 4 | vectors_hex(hex[1])));
	return b;
}

/* At most limit bytes into out; -1 with err. */
static int read_as(enum stream_kind kind, const struct buf *in, size_t limit, struct buf *out, struct err *err)
{
	_cleanup_close_ int fd = file_of(in->data, in->len);
	_cleanup_stream_ struct stream *s = stream_open(fd, 0, (off_t)in->len, kind, err);
	const uint8_t *data;
	size_t len;
	int r = -1;
	buf_clear(out);
	buf_str(out, "");
	while (s && out->len < limit && (r = stream_next(s, &data, &len, err)) > 0) {
		assert_true(len > 0);
		buf_add(out, data, len);
	}
	return r < 0 ? -1 : 0;
}

static void test_samples(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	for (size_t i = 0; i < SAMPLES; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_buf_ struct buf b = from_hex(samples[i].hex);
		_cleanup_close_ int fd = file_of(b.data, b.len);
		enum stream_kind kind;
		assert_int_equal(stream_sniff(fd, 0, (off_t)b.len, &kind, &err), 0);
		assert_int_equal(kind, samples[i].kind);
		if (read_as(kind, &b, SIZE_MAX, &out, &err))
			fail_msg("%zu: %s", i, err.msg);
		assert_string_equal(out.data, HELLO);
		/* Twice in a row is one content. */
		size_t one = b.len;
		buf_grow(&b, one);
		buf_add(&b, b.data, one);
		if (read_as(kind, &b, SIZE_MAX, &out, &err))
			fail_msg("%zu: %s", i, err.msg);
		assert_string_equal(out.data, HELLO HELLO);
	}
}

static void test_cut_and_damaged(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	for (size_t i = 0; i < SAMPLES; i++) {
		_cleanup_buf_ struct buf b = from_hex(samples[i].hex);
		size_t whole = b.len;
		for (b.len = 1; b.len < whole; b.len++)
			if (read_as(samples[i].kind, &b, SIZE_MAX, &out, NULL) == 0)
				fail_msg("format %d: %zu of %zu bytes were taken", samples[i].kind, b.len, whole);
		_cleanup_err_ struct err err = { 0 };
		buf_str(&b, "x");
		if (read_as(samples[i].kind, &b, SIZE_MAX, &out, &err) == 0)
			fail_msg("format %d: a byte behind the end was taken", samples[i].kind);
		assert_int_equal(err.code, ERR_INPUT);
		/* A flipped bit is an error, or harmless; other bytes come never. */
		for (size_t at = 0; at < whole; at++) {
			b.len = whole;
			b.data[at] ^= 0x10;
			if (read_as(samples[i].kind, &b, 1 << 20, &out, NULL) == 0)
				assert_string_equal(out.data, HELLO);
			b.data[at] ^= 0x10;
		}
	}
}

static void test_gzip_padding(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT, b = from_hex(samples[0].hex);
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(samples[0].kind, STREAM_GZIP);
	buf_add(&b, "\0\0\0\0", 4);
	assert_int_equal(read_as(STREAM_GZIP, &b, SIZE_MAX, &out, &err), 0);
	assert_string_equal(out.data, HELLO);
	buf_byte(&b, '\x1f');
	assert_int_equal(read_as(STREAM_GZIP, &b, SIZE_MAX, &out, &err), -1);
	assert_string_equal(err.msg, "gzip: there are bytes behind the end");
}

static void test_empty(void **state)
{
	const struct sample empty[] = {
		{ STREAM_XZ, "fd377a585a000004e6d6b446000000001cdf44211fb6f37d010000000004595a" },
		{ STREAM_BZIP2, "425a683917724538509000000000" },
		{ STREAM_PLAIN, "" },
	};
	for (size_t i = 0; i < 3; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_buf_ struct buf b = from_hex(empty[i].hex), out = BUF_INIT;
		if (read_as(empty[i].kind, &b, SIZE_MAX, &out, &err))
			fail_msg("format %d: %s", empty[i].kind, err.msg);
		assert_int_equal(out.len, 0);
	}
}

/* zstd's vectors: the content that zstd itself gives, or an error. */
static void test_zstd(void **state)
{
	vectors_or_skip("zstd/cases.tsv");
	struct vectors v = vectors_load("zstd/cases.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_buf_ struct buf out = BUF_INIT, in = BUF_INIT;
		char file[300];
		snprintf(file, sizeof file, "zstd/%s", vectors_text(&v, i, "file"));
		in.data = vectors_slurp(vectors_path(file), &in.len);
		const char *verdict = vectors_text(&v, i, "zstd_1_5_4");
		bool ran = strcmp(verdict, "not run") != 0, good = strcmp(verdict, "ok") == 0;
		int rc = read_as(STREAM_ZSTD, &in, 64 << 20, &out, &err);
		if (ran && good != (rc == 0))
			fail_msg("%s: should be %s: %s", file, verdict, err.msg ? err.msg : "accepted");
		if (!ran && rc == 0)
			fail_msg("%s: a window of 1 GiB was taken", file);
		if (good) {
			struct hash h;
			hash_of(out.data, out.len, &h);
			_cleanup_free_ char *hex = hash_hex(&h);
			assert_string_equal(hex, vectors_text(&v, i, "content_sha256"));
		}
	}
	vectors_free(&v);
}

struct sum {
	uint64_t total;
	int calls;
};

static int add_up(void *ctx, const void *data, size_t len, struct err *err)
{
	struct sum *s = ctx;
	s->total += len;
	return ++s->calls > 3 ? err_set(err, ERR_FAIL, "enough") : 0;
}

static void test_decompress(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf b = from_hex(samples[0].hex);
	_cleanup_close_ int fd = file_of(b.data, b.len);
	struct sum s = { 0 };
	assert_int_equal(archive_decompress(fd, strlen(HELLO), add_up, &s, &err), 0);
	assert_int_equal(s.total, strlen(HELLO));
	assert_int_equal(archive_decompress(fd, strlen(HELLO) - 1, add_up, &s, &err), -1);
	assert_non_null(strstr(err.msg, "limit of 17 bytes"));
	/* Plain content passes through; the sink can end it. */
	size_t big = 2 << 20;
	_cleanup_free_ char *zeros = mem_alloc(big);
	_cleanup_close_ int plain = file_of(zeros, big);
	s = (struct sum){ 0 };
	assert_int_equal(archive_decompress(plain, UINT64_MAX, add_up, &s, &err), -1);
	assert_string_equal(err.msg, "enough");
	assert_int_equal(s.calls, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples), cmocka_unit_test(test_cut_and_damaged),
		cmocka_unit_test(test_gzip_padding), cmocka_unit_test(test_empty), cmocka_unit_test(test_zstd),
		cmocka_unit_test(test_decompress),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
