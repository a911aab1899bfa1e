/* Canonical zip archives. */
#include "support/tempdir.h"
#include "support/vectors.h"

#include <errno.h>
#include <sys/mman.h>

#include "core/buf.h"
#include "core/fs.h"
#include "core/mem.h"
#include "wheel/zip_head.h"
#include "wheel/zip_write.h"

static int memory_file(void)
{
	int fd = memfd_create("zip", MFD_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

static void times(void **state)
{
	vectors_or_skip("dist/zip-times.tsv");
	struct vectors v = vectors_load("dist/zip-times.tsv");
	for (size_t i = 0; i < v.count; i++) {
		uint16_t date = 0, time = 0;
		const char *want = vectors_text(&v, i, "dos_date");
		int rc = zip_dos_time(atoll(vectors_text(&v, i, "SOURCE_DATE_EPOCH")), &date, &time);
		assert_int_equal(rc, want ? 0 : -1);
		if (!want)
			continue;
		assert_int_equal(date, strtoul(want, NULL, 16));
		assert_int_equal(time, strtoul(vectors_text(&v, i, "dos_time"), NULL, 16));
	}
	vectors_free(&v);
	assert_null(zip_writer_new(-1, 4354819200, NULL));
}

/* Bytes that are cheap to make and to check: of a counter, or of a generator that deflate can't shorten. */
struct stuff {
	uint64_t size;
	bool random;
	uint64_t at, seed;
	uint64_t short_by; /* gives fewer bytes than it should */
	size_t piece;      /* of at most this many bytes; 0: 40000 */
};

static void fill(struct stuff *s, unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; i++, s->at++) {
		s->seed = s->seed * 6364136223846793005u + 1442695040888963407u;
		p[i] = s->random ? (unsigned char)(s->seed >> 56) : (unsigned char)(s->at >> 10);
	}
}

static void stuff_begin(struct stuff *s)
{
	s->at = 0;
	s->seed = 42;
}

static int give(void *ctx, zip_sink_fn *sink, void *sink_ctx, struct err *err)
{
	struct stuff *s = ctx;
	unsigned char piece[40000];
	stuff_begin(s);
	while (s->at < s->size - s->short_by) {
		uint64_t left = s->size - s->short_by - s->at;
		size_t most = s->piece ? s->piece : sizeof piece;
		size_t n = left < most ? (size_t)left : most;
		fill(s, piece, n);
		if (sink(sink_ctx, piece, n, err))
			return -1;
	}
	return 0;
}

static int compare(void *ctx, const void *data, size_t len, struct err *err)
{
	struct stuff *s = ctx;
	_cleanup_free_ unsigned char *want = mem_alloc(len);
	fill(s, want, len);
	return memcmp(want, data, len) ? err_set(err, ERR_FAIL, "other bytes") : 0;
}

/* Write one entry and read it back with the strict reader. */
static void round_trip(struct stuff *s, unsigned method)
{
	_cleanup_close_ int fd = memory_file();
	_cleanup_err_ struct err err = { 0 };
	struct zip_writer *w = zip_writer_new(fd, 0, NULL);
	if (zip_writer_add(w, "before.txt", false, 0, give, &(struct stuff){ 0 }, &err) ||
	    zip_writer_add(w, "a/stuff", true, s->size, give, s, &err) ||
	    zip_writer_add_bytes(w, "after.txt", false, "abc", 3, &err) || zip_writer_end(w, &err))
		fail_msg("%s", err.msg);
	zip_writer_free(w);
	struct zip *z = zip_open(fd, &err);
	if (!z)
		fail_msg("%s", err.msg);
	assert_int_equal(zip_count(z), 3);
	const struct zip_entry *e = zip_find(z, "a/stuff");
	assert_int_equal(e->method, method);
	assert_int_equal(e->size, s->size);
	assert_int_equal(e->mode & 07777, 0755);
	assert_int_equal(zip_find(z, "after.txt")->mode & 07777, 0644);
	stuff_begin(s);
	if (zip_stream(z, e, compare, s, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(s->at, s->size);
	zip_free(z);
}

static void sizes(void **state)
{
	static const uint64_t sizes_tried[] = { 0, 1, 2, 40000, ZIP_WHOLE - 1, ZIP_WHOLE, ZIP_WHOLE + 1, 3 * ZIP_WHOLE };
	for (size_t i = 0; i < sizeof sizes_tried / sizeof *sizes_tried; i++) {
		struct stuff even = { .size = sizes_tried[i] }, noise = { .size = sizes_tried[i], .random = true };
		round_trip(&even, sizes_tried[i] > 2 ? 8 : 0);
		round_trip(&noise, 0);
	}
}

/* The archive is made of the bytes, not of the pieces they came in. */
static void pieces(void **state)
{
	static const size_t tried[] = { 40000, 1021, 3, 32768 };
	_cleanup_buf_ struct buf first = BUF_INIT;
	for (size_t i = 0; i < sizeof tried / sizeof *tried; i++) {
		_cleanup_close_ int fd = memory_file();
		_cleanup_buf_ struct buf got = BUF_INIT;
		struct stuff s = { .size = ZIP_WHOLE + 5000, .piece = tried[i] };
		struct zip_writer *w = zip_writer_new(fd, 0, NULL);
		assert_int_equal(zip_writer_add(w, "x", false, s.size, give, &s, NULL), 0);
		assert_int_equal(zip_writer_end(w, NULL), 0);
		zip_writer_free(w);
		assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
		assert_int_equal(fs_slurp(fd, 1u << 26, &got, NULL), 0);
		if (i == 0)
			buf_add(&first, got.data, got.len);
		assert_int_equal(got.len, first.len);
		assert_memory_equal(got.data, first.data, got.len);
	}
}

static void announced_size(void **state)
{
	uint64_t sizes_tried[] = { 100, ZIP_WHOLE + 100 };
	for (size_t i = 0; i < 2; i++) {
		_cleanup_close_ int fd = memory_file();
		_cleanup_err_ struct err err = { 0 };
		struct stuff s = { .size = sizes_tried[i], .short_by = 1 };
		struct zip_writer *w = zip_writer_new(fd, 0, NULL);
		assert_int_equal(zip_writer_add(w, "x", false, s.size, give, &s, &err), -1);
		assert_int_equal(err.code, ERR_INPUT);
		zip_writer_free(w);
	}
}

/* Every byte of a small archive: what no library decides. */
static void bytes(void **state)
{
	static const char want[] =
		"PK\3\4\24\0\0\0\0\0\0\0!\0\xc2\x41\x24\x35\3\0\0\0\3\0\0\0\1\0\0\0" "aabc"
		"PK\3\4\24\0\0\10\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0" "\xc3\xa4"
		"PK\1\2\24\3\24\0\0\0\0\0\0\0!\0\xc2\x41\x24\x35\3\0\0\0\3\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0\xa4\x81\0\0\0\0" "a"
		"PK\1\2\24\3\24\0\0\10\0\0\0\0!\0\0\0\0\0\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\0\0\0\0\xed\x81\42\0\0\0" "\xc3\xa4"
		"PK\5\6\0\0\0\0\2\0\2\0\137\0\0\0\102\0\0\0\0\0";
	_cleanup_close_ int fd = memory_file();
	struct zip_writer *w = zip_writer_new(fd, 1, NULL);
	assert_int_equal(zip_writer_add_bytes(w, "a", false, "abc", 3, NULL), 0);
	assert_int_equal(zip_writer_add_bytes(w, "\xc3\xa4", true, "", 0, NULL), 0);
	assert_int_equal(zip_writer_end(w, NULL), 0);
	zip_writer_free(w);
	_cleanup_buf_ struct buf got = BUF_INIT;
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(fs_slurp(fd, 4096, &got, NULL), 0);
	assert_int_equal(got.len, sizeof want - 1);
	assert_memory_equal(got.data, want, got.len);
}

/* More entries than 16 bits count: the zip64 end record. */
static void many_entries(void **state)
{
	enum { MANY = 65536 };
	_cleanup_close_ int fd = memory_file();
	_cleanup_err_ struct err err = { 0 };
	struct zip_writer *w = zip_writer_new(fd, 0, NULL);
	for (int i = 0; i < MANY; i++) {
		char name[16];
		snprintf(name, sizeof name, "%05d", i);
		assert_int_equal(zip_writer_add_bytes(w, name, false, "x", 1, NULL), 0);
	}
	assert_int_equal(zip_writer_end(w, NULL), 0);
	zip_writer_free(w);
	struct zip *z = zip_open(fd, &err);
	if (!z)
		fail_msg("%s", err.msg);
	assert_int_equal(zip_count(z), MANY);
	zip_free(z);
}

static void full_disk(void **state)
{
	_cleanup_close_ int fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	_cleanup_err_ struct err err = { 0 };
	struct zip_writer *w = zip_writer_new(fd, 0, NULL);
	assert_int_equal(zip_writer_add_bytes(w, "a", false, "abc", 3, &err), -1);
	assert_int_equal(err.code, ERR_SYS);
	assert_int_equal(err.sys, ENOSPC);
	zip_writer_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times), cmocka_unit_test(sizes), cmocka_unit_test(pieces), cmocka_unit_test(announced_size),
		cmocka_unit_test(bytes), cmocka_unit_test(many_entries), cmocka_unit_test(full_disk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
