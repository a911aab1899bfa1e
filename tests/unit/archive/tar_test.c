/* The tar reader: what it shows of each vector, and forms the vectors lack. */
#include "support/vectors.h"
#include "support/tar_make.h"
#include "support/zip_make.h"

#include "archive/stream.h"
#include "archive/tar.h"
#include "core/fs.h"
#include "core/mem.h"

#define LIMIT (1ULL << 32)

/* Read a whole tar; names as "kind:name[->target]=content" lines.  -1 with err. */
static int list_fd(int fd, uint64_t limit, struct buf *out, struct err *err)
{
	struct tar_entry e;
	int r;
	_cleanup_stream_ struct stream *s = stream_open(fd, 0, lseek(fd, 0, SEEK_END), STREAM_PLAIN, err);
	_cleanup_tar_ struct tar *t = tar_new(s, limit);
	buf_str(out, "");
	while ((r = tar_next(t, &e, err)) > 0) {
		const uint8_t *data;
		size_t len;
		uint64_t at, end = 0;
		buf_printf(out, "%c:%.*s", "fdlh"[e.kind], (int)e.name.n, e.name.p);
		if (e.kind == TAR_SYMLINK || e.kind == TAR_HARDLINK)
			buf_printf(out, "->%.*s", (int)e.target.n, e.target.p);
		if (e.kind == TAR_FILE)
			buf_printf(out, "[%llu%s]", (unsigned long long)e.size, e.exec ? "x" : "");
		while ((r = tar_data(t, &data, &len, &at, err)) > 0) {
			assert_true(len > 0 && at >= end && at + len <= e.size);
			if (at > end)
				buf_printf(out, "<%llu>", (unsigned long long)(at - end));
			buf_add(out, data, len < 40 ? len : 40);
			end = at + len;
		}
		buf_byte(out, '\n');
		if (r < 0)
			return -1;
	}
	return r;
}

static int list(const struct buf *tar, struct buf *out, struct err *err)
{
	_cleanup_close_ int fd = file_of(tar->data, tar->len);
	return list_fd(fd, LIMIT, out, err);
}

static bool has_name(const struct buf *listing, struct vectors_cell name)
{
	_cleanup_free_ char *needle = mem_printf(":%s", name.data);
	for (const char *p = listing->data; (p = strstr(p, needle)); p++) {
		char after = p[strlen(needle)];
		if (after == '\n' || after == '[' || after == '-')
			return true;
	}
	return false;
}

/* The reader alone already refuses the hidden entries; what only the names tell is left to unpacking. */
static void test_vectors(void **state)
{
	vectors_or_skip("tar/cases.tsv");
	struct vectors v = vectors_load("tar/cases.tsv");
	size_t refused = 0;
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_buf_ struct buf out = BUF_INIT;
		char file[300];
		snprintf(file, sizeof file, "tar/%s", vectors_text(&v, i, "file"));
		_cleanup_close_ int fd = open(vectors_path(file), O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		int rc = list_fd(fd, LIMIT, &out, &err);
		refused += rc != 0;
		if (rc && strcmp(vectors_text(&v, i, "suggested"), "accept") == 0)
			fail_msg("%s: %s", file, err.msg);
		if (rc && err.code != ERR_INPUT)
			fail_msg("%s: not an error of the input: %s", file, err.msg);
		struct vectors_cell must = vectors_cell(&v, i, "member_that_must_appear_if_accepted");
		if (rc == 0 && must.data && !has_name(&out, must))
			fail_msg("%s: %s is missing in %s", file, must.data, out.data);
		struct vectors_cell never = vectors_cell(&v, i, "member_that_must_not_appear");
		if (never.data && strcmp(vectors_text(&v, i, "suggested"), "accept") != 0 && has_name(&out, never))
			fail_msg("%s: %s appears in %s", file, never.data, out.data);
	}
	assert_true(refused > 30);
	vectors_free(&v);
}

static void expect(struct buf *tar, const char *listing)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	if (list(tar, &out, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(out.data, listing);
	buf_clear(tar);
}

static void expect_error(struct buf *tar, const char *part)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	if (list(tar, &out, &err) == 0)
		fail_msg("accepted: %s", out.data);
	if (!strstr(err.msg, part))
		fail_msg("\"%s\" is not in: %s", part, err.msg);
	assert_int_equal(err.code, ERR_INPUT);
	buf_clear(tar);
}

static void test_plain(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	tar_make_add(&b, &(struct tar_member){ .type = '5', .name = "d/", .mode = 0755 });
	tar_make_add(&b, &(struct tar_member){ .name = "d/a", .data = "hello", .mode = 0711 });
	tar_make_add(&b, &(struct tar_member){ .type = '2', .name = "l", .target = "d/a" });
	tar_make_add(&b, &(struct tar_member){ .type = '1', .name = "h", .target = "d/a" });
	tar_make_end(&b);
	expect(&b, "d:d/\nf:d/a[5x]hello\nl:l->d/a\nh:h->d/a\n");
}

static void test_pax(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	tar_make_pax(&b, 'g', (const char *[]){ "comment=0123456789abcdef", "mtime=1", NULL });
	tar_make_pax(&b, 'x', (const char *[]){ "path=caf\xc3\xa9", "size=3", "SCHILY.xattr.user.x=y", NULL });
	tar_make_add(&b, &(struct tar_member){ .name = "x", .data = "hey", .size = 7 });
	tar_make_pax(&b, 'x', (const char *[]){ "linkpath=there", NULL });
	tar_make_add(&b, &(struct tar_member){ .type = '2', .name = "l", .target = "elsewhere" });
	tar_make_add(&b, &(struct tar_member){ .name = "plain" });
	tar_make_end(&b);
	expect(&b, "f:caf\xc3\xa9[3]hey\nl:l->there\nf:plain[0]\n");
	const struct { char type; const char *record, *error; } bad[] = {
		{ 'x', "path=\xe9", "not UTF-8" }, { 'g', "path=a", "global" }, { 'g', "size=1", "global" },
		{ 'g', "GNU.sparse.major=1", "global" }, { 'x', "size=-1", "not a number" },
		{ 'x', "size=1x", "not a number" }, { 'x', "hdrcharset=KOI8-R", "charset" }, { 'x', "=x", "without a key" },
		{ 'x', "size=9999999999999999999", "not a number" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tar_make_pax(&b, bad[i].type, (const char *[]){ bad[i].record, NULL });
		tar_make_add(&b, &(struct tar_member){ .name = "a" });
		tar_make_end(&b);
		expect_error(&b, bad[i].error);
	}
	tar_make_pax(&b, 'x', (const char *[]){ "path=a", NULL });
	tar_make_end(&b);
	expect_error(&b, "without its entry");
	tar_make_add(&b, &(struct tar_member){ .type = 'x', .name = "p", .data = "99 path=a\n" });
	expect_error(&b, "bad length");
}

static void test_gnu_names(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char name[201], listing[500];
	memset(name, 'n', 200);
	name[200] = '\0';
	/* Both records at once, as GNU tar writes a link with two long names. */
	tar_make_add(&b, &(struct tar_member){ .type = 'K', .name = "././@LongLink", .data = name });
	tar_make_add(&b, &(struct tar_member){ .type = 'L', .name = "././@LongLink", .data = name });
	tar_make_add(&b, &(struct tar_member){ .type = '2', .name = "nn", .target = "nn" });
	tar_make_add(&b, &(struct tar_member){ .name = "a" });
	tar_make_end(&b);
	snprintf(listing, sizeof listing, "l:%s->%s\nf:a[0]\n", name, name);
	expect(&b, listing);
	for (int i = 0; i < 2; i++)
		tar_make_add(&b, &(struct tar_member){ .type = 'L', .name = "././@LongLink", .data = name });
	expect_error(&b, "two long names");
	tar_make_add(&b, &(struct tar_member){ .type = 'L', .name = "././@LongLink", .size = 1 << 20 });
	expect_error(&b, "an extension header of more than");
	tar_make_add(&b, &(struct tar_member){ .type = 'L', .name = "././@LongLink", .data = name });
	tar_make_end(&b);
	expect_error(&b, "without its entry");
}

static void add_raw(struct buf *b, char h[512])
{
	tar_make_sum(h);
	buf_add(b, h, 512);
}

static void test_numbers(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char h[512];
	tar_make_header(h, &(struct tar_member){ .name = "a" });
	memcpy(h + 124, "\x80\0\0\0\0\0\0\0\0\0\0\5", 12); /* base-256 */
	add_raw(&b, h);
	buf_str(&b, "hello");
	tar_make_pad(&b);
	tar_make_end(&b);
	expect(&b, "f:a[5]hello\n");
	memcpy(h + 124, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", 12);
	add_raw(&b, h);
	expect_error(&b, "negative or too large");
	memcpy(h + 124, "\x80\0\0\0\x7f\0\0\0\0\0\0\5", 12);
	add_raw(&b, h);
	expect_error(&b, "negative or too large");
	memcpy(h + 124, "\x80\0\x01\0\0\0\0\0\0\0\0\5", 12);
	add_raw(&b, h);
	expect_error(&b, "negative or too large");
	memcpy(h + 124, "0000000009\0", 12);
	add_raw(&b, h);
	expect_error(&b, "not octal");
	tar_make_header(h, &(struct tar_member){ .name = "a" });
	h[0] = 'b';
	buf_add(&b, h, sizeof h);
	expect_error(&b, "checksum");
}

static void test_prefix_and_v7(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char h[512];
	tar_make_header(h, &(struct tar_member){ .name = "a" });
	strcpy(h + 345, "some/folder");
	add_raw(&b, h);
	memcpy(h + 257, "ustar  \0", 8); /* GNU's: no prefix there */
	add_raw(&b, h);
	tar_make_header(h, &(struct tar_member){ .name = "old/" });
	h[156] = '\0';
	memset(h + 257, 0, 8);
	add_raw(&b, h);
	tar_make_end(&b);
	expect(&b, "f:some/folder/a[0]\nf:a[0]\nd:old/\n");
}

static void test_kinds(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	const struct { char type; const char *error; } bad[] = {
		{ '3', "a device" }, { '4', "a device" }, { '6', "a fifo" }, { 'V', "unknown kind" }, { 'D', "unknown kind" },
		{ 'M', "unknown kind" }, { 'A', "unknown kind" }, { '\x01', "unknown kind" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		tar_make_add(&b, &(struct tar_member){ .type = bad[i].type, .name = "a" });
		tar_make_end(&b);
		expect_error(&b, bad[i].error);
	}
	for (const char *type = "125"; *type; type++) {
		tar_make_add(&b, &(struct tar_member){ .type = *type, .name = "a", .target = "b", .data = "x" });
		tar_make_end(&b);
		expect_error(&b, "has content");
	}
}

static void test_end(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	expect_error(&b, "no end mark");
	tar_make_add(&b, &(struct tar_member){ .name = "a", .data = "hello" });
	struct buf cut = { b.data, b.len, 0 };
	for (size_t n = 1; n < b.len; n++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_buf_ struct buf out = BUF_INIT;
		cut.len = n;
		assert_int_equal(list(&cut, &out, &err), -1);
	}
	expect_error(&b, "no end mark");
	tar_make_add(&b, &(struct tar_member){ .name = "a" });
	buf_add(&b, (char[512]){ 0 }, 512); /* one zero block is enough */
	expect(&b, "f:a[0]\n");
	tar_make_end(&b);
	buf_add(&b, (char[20000]){ 0 }, 20000);
	buf_byte(&b, 'x');
	expect_error(&b, "behind the end");
}

static void test_limit(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf b = BUF_INIT, out = BUF_INIT;
	tar_make_add(&b, &(struct tar_member){ .name = "a" });
	tar_make_end(&b);
	_cleanup_close_ int fd = file_of(b.data, b.len);
	assert_int_equal(list_fd(fd, b.len, &out, &err), 0);
	assert_int_equal(list_fd(fd, b.len - 1, &out, &err), -1);
	assert_non_null(strstr(err.msg, "larger than its limit"));
}

static void sparse_gnu(char h[512], size_t stored, const char *map, const char *real)
{
	tar_make_header(h, &(struct tar_member){ .type = 'S', .name = "s", .size = stored });
	memcpy(h + 257, "ustar  \0", 8);
	for (size_t i = 0; i * 12 < strlen(map); i++)
		memcpy(h + 386 + i * 12, map + i * 12, 11);
	memcpy(h + 483, real, 11);
}

static void test_sparse_gnu(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	char h[512], ext[512] = { 0 };
	/* "ab" at 0, "cde" at 1024, 4096 bytes in all. */
	sparse_gnu(h, 5, "00000000000 00000000002 00000002000 00000000003 ", "00000010000");
	add_raw(&b, h);
	buf_str(&b, "abcde");
	tar_make_pad(&b);
	tar_make_add(&b, &(struct tar_member){ .name = "next" });
	tar_make_end(&b);
	expect(&b, "f:s[4096]ab<1022>cde\nf:next[0]\n");
	/* The same, the second stretch in an extension block. */
	sparse_gnu(h, 5, "00000000000 00000000002 ", "00000010000");
	h[482] = 1;
	memcpy(ext, "00000002000\0" "00000000003", 23);
	add_raw(&b, h);
	buf_add(&b, ext, sizeof ext);
	buf_str(&b, "abcde");
	tar_make_pad(&b);
	tar_make_end(&b);
	expect(&b, "f:s[4096]ab<1022>cde\n");
	const struct { const char *map; size_t stored; } bad[] = {
		{ "00000000000 00000000006 ", 5 },                         /* more than is stored */
		{ "00000000000 00000000002 ", 5 },                         /* less */
		{ "00000010000 00000000005 ", 5 },                         /* past the end */
		{ "00000000002 00000000003 00000000000 00000000002 ", 5 }, /* backwards */
		{ "77777777777 77777777777 ", 5 },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		sparse_gnu(h, bad[i].stored, bad[i].map, "00000010000");
		add_raw(&b, h);
		tar_make_end(&b);
		expect_error(&b, "map does not fit");
	}
}

static void add_sparse_pax(struct buf *b, const char *map, const char *real, const char *content)
{
	_cleanup_buf_ struct buf data = BUF_INIT;
	_cleanup_free_ char *record = mem_printf("GNU.sparse.realsize=%s", real);
	char h[512];
	tar_make_pax(b, 'x', (const char *[]){ "GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=s",
		record, NULL });
	buf_str(&data, map);
	tar_make_pad(&data);
	buf_str(&data, content);
	tar_make_header(h, &(struct tar_member){ .name = "GNUSparseFile.0/s", .size = data.len });
	add_raw(b, h);
	buf_add(b, data.data, data.len);
	tar_make_pad(b);
	tar_make_end(b);
}

static void test_sparse_pax(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	add_sparse_pax(&b, "2\n0\n2\n1024\n3\n", "4096", "abcde");
	expect(&b, "f:s[4096]ab<1022>cde\n");
	add_sparse_pax(&b, "0\n", "4096", "");
	expect(&b, "f:s[4096]\n");
	add_sparse_pax(&b, "1\n0\n6\n", "4096", "abcde");
	expect_error(&b, "map does not fit");
	add_sparse_pax(&b, "1\n4092\n5\n", "4096", "abcde");
	expect_error(&b, "map does not fit");
	add_sparse_pax(&b, "1\n0\n-5\n", "4096", "abcde");
	expect_error(&b, "not a list of numbers");
	add_sparse_pax(&b, "1\n0\n", "4096", "");
	expect_error(&b, "not a list of numbers"); /* the padding is read as a number */
	add_sparse_pax(&b, "", "4096", "");
	expect_error(&b, "cut off");
	tar_make_pax(&b, 'x', (const char *[]){ "GNU.sparse.map=0,5", "GNU.sparse.size=4096", NULL });
	tar_make_add(&b, &(struct tar_member){ .name = "a", .data = "hello" });
	expect_error(&b, "not supported");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors), cmocka_unit_test(test_plain), cmocka_unit_test(test_pax),
		cmocka_unit_test(test_gnu_names), cmocka_unit_test(test_numbers), cmocka_unit_test(test_prefix_and_v7),
		cmocka_unit_test(test_kinds), cmocka_unit_test(test_end), cmocka_unit_test(test_limit),
		cmocka_unit_test(test_sparse_gnu), cmocka_unit_test(test_sparse_pax),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
