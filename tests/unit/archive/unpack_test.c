/* Unpacking: the attack lists of the shared vectors, and what unpack.h promises. */
#include "support/vectors.h"
#include "support/tar_make.h"
#include "support/tempdir.h"
#include "support/zip_make.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <zlib.h>

#include "archive/unpack.h"
#include "core/fs.h"
#include "core/mem.h"

#define MIB (1024 * 1024)

/* out/ to unpack into, beside outside/ with the file foo, which must stay as it is. */
struct place {
	struct tempdir dir;
	int out;
};

static struct place place_make(void)
{
	struct place p = { .dir = tempdir_make() };
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(mkdirat(p.dir.fd, "out", 0755), 0);
	assert_int_equal(mkdirat(p.dir.fd, "outside", 0700), 0);
	assert_int_equal(fs_write_file(p.dir.fd, "outside/foo", "unmodified", 10, 0644, &err), 0);
	p.out = openat(p.dir.fd, "out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(p.out >= 0);
	return p;
}

static void place_remove(struct place *p)
{
	close(p->out);
	tempdir_remove(&p->dir);
}

/* Nothing beside out/ was touched, nor the places outside that the attacks aim at. */
static void check_outside(const struct place *p, const char *what)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_buf_ struct buf foo = BUF_INIT;
	struct stat st;
	assert_int_equal(fs_list(p->dir.fd, &names, &err), 0);
	if (names.count != 2 || strcmp(names.items[0], "out") || strcmp(names.items[1], "outside"))
		fail_msg("%s: something appeared beside the folder", what);
	assert_int_equal(fstatat(p->dir.fd, "outside", &st, AT_SYMLINK_NOFOLLOW), 0);
	if ((st.st_mode & 07777) != 0700)
		fail_msg("%s: the mode of outside/ changed", what);
	_cleanup_close_ int outside = openat(p->dir.fd, "outside", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_str_list_ struct str_list inner = STR_LIST_INIT;
	assert_int_equal(fs_list(outside, &inner, &err), 0);
	assert_int_equal(fs_read_file(outside, "foo", 100, &foo, &err), 0);
	if (inner.count != 1 || strcmp(foo.data, "unmodified") != 0)
		fail_msg("%s: outside/ changed", what);
	if (fs_exists("/tmp/forge-extract-absolute") || fs_exists("/tmp/forge-extract-through"))
		fail_msg("%s: a file outside the folder was made", what);
}

static const char *walked; /* the case that is walked, for messages */

/* Only files, folders and links, with the two modes; no link leads out. */
static int check_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	mode_t mode = st->st_mode & 07777;
	if (S_ISDIR(st->st_mode) ? mode != 0755 : S_ISREG(st->st_mode) ? mode != 0644 && mode != 0755 :
		!S_ISLNK(st->st_mode))
		fail_msg("%s: %s has mode %o", walked, path, st->st_mode);
	return 0;
}

static void check_inside(const struct place *p, const char *what)
{
	char path[300];
	walked = what;
	snprintf(path, sizeof path, "%s/out", p->dir.path);
	assert_int_equal(nftw(path, check_one, 32, FTW_PHYS), 0);
}

static struct unpack_options root_options(void)
{
	return (struct unpack_options){ .root_links = true, .merge = true };
}

/* Every entry that was to be made is there, as its last mention says. */
static void check_entries(const struct place *p, const char *what)
{
	struct vectors v = vectors_load("extract/entries.tsv");
	for (size_t i = 0; i < v.count; i++) {
		const char *name = vectors_text(&v, i, "entry_name"), *kind = vectors_text(&v, i, "kind");
		struct vectors_cell data = vectors_cell(&v, i, "data");
		struct stat st;
		char target[5000];
		if (strcmp(vectors_text(&v, i, "case"), what) != 0)
			continue;
		if (fstatat(p->out, name, &st, AT_SYMLINK_NOFOLLOW))
			fail_msg("%s: %s is missing", what, name);
		bool last = true; /* of a name that stands twice only the last entry counts */
		for (size_t j = i + 1; j < v.count; j++)
			last &= strcmp(vectors_text(&v, j, "case"), what) != 0 ||
				strcmp(vectors_text(&v, j, "entry_name"), name) != 0;
		if (!last)
			continue;
		if (strcmp(kind, "dir") == 0)
			assert_true(S_ISDIR(st.st_mode));
		if (strcmp(kind, "symlink") == 0) {
			ssize_t n = readlinkat(p->out, name, target, sizeof target - 1);
			assert_true(n > 0);
			target[n] = '\0';
			assert_string_equal(target, vectors_text(&v, i, "link_target"));
		}
		if (strcmp(kind, "hardlink") == 0) {
			struct stat other;
			assert_int_equal(fstatat(p->out, vectors_text(&v, i, "link_target"), &other, 0), 0);
			assert_true(other.st_ino == st.st_ino);
		}
		if (strcmp(kind, "file") == 0) {
			_cleanup_close_ int fd = openat(p->out, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
			_cleanup_buf_ struct buf b = BUF_INIT;
			assert_int_equal(fs_slurp(fd, MIB, &b, NULL), 0);
			if (b.len != data.len || (b.len && memcmp(b.data, data.data, b.len) != 0))
				fail_msg("%s: %s has another content", what, name);
		}
	}
	vectors_free(&v);
}

static void test_attacks(void **state)
{
	vectors_or_skip("extract/cases.tsv");
	struct vectors v = vectors_load("extract/cases.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		const char *what = vectors_text(&v, i, "case"), *expected = vectors_text(&v, i, "expected");
		char file[300];
		snprintf(file, sizeof file, "extract/tars/%s.tar", what);
		_cleanup_close_ int fd = open(vectors_path(file), O_RDONLY | O_CLOEXEC);
		assert_true(fd >= 0);
		struct place p = place_make();
		int rc = unpack_any(fd, p.out, &(struct unpack_options){ 0 }, &err);
		/* As a source tree: what is right only in a root file system is refused. */
		bool must_refuse = strcmp(expected, "refuse") == 0 || strcmp(expected, "rootfs") == 0;
		if (rc == 0 && must_refuse)
			fail_msg("%s was unpacked", what);
		if (rc && strcmp(expected, "accept") == 0)
			fail_msg("%s: %s", what, err.msg);
		if (rc && err.code != ERR_INPUT)
			fail_msg("%s: not an error of the input: %s", what, err.msg);
		check_outside(&p, what);
		check_inside(&p, what);
		if (rc == 0)
			check_entries(&p, what);
		place_remove(&p);
		/* As a root file system too, nothing may get out. */
		p = place_make();
		struct unpack_options o = root_options();
		unpack_any(fd, p.out, &o, NULL);
		check_outside(&p, what);
		check_inside(&p, what);
		place_remove(&p);
	}
	vectors_free(&v);
}

static void test_rootfs(void **state)
{
	vectors_or_skip("extract/cases.tsv");
	const struct { const char *name, *lands; } rows[] = {
		{ "rootfs-merged-usr", "usr/bin/ls" }, { "rootfs-absolute-link", "usr/lib/x" },
		{ "rootfs-dotdot-link", "pwned" },
	};
	for (size_t i = 0; i < 3; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct stat st;
		char file[300];
		snprintf(file, sizeof file, "extract/tars/%s.tar", rows[i].name);
		_cleanup_close_ int fd = open(vectors_path(file), O_RDONLY | O_CLOEXEC);
		struct place p = place_make();
		struct unpack_options o = root_options();
		if (unpack_tar(fd, p.out, &o, &err))
			fail_msg("%s: %s", rows[i].name, err.msg);
		if (fstatat(p.out, rows[i].lands, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
			fail_msg("%s: %s is not there", rows[i].name, rows[i].lands);
		check_outside(&p, rows[i].name);
		place_remove(&p);
	}
}

static void test_tar_vectors(void **state)
{
	vectors_or_skip("tar/cases.tsv");
	struct vectors v = vectors_load("tar/cases.tsv");
	struct unpack_options o = { .limits.bytes = 64 * MIB };
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		const char *what = vectors_text(&v, i, "file"), *suggested = vectors_text(&v, i, "suggested");
		char file[300];
		snprintf(file, sizeof file, "tar/%s", what);
		_cleanup_close_ int fd = open(vectors_path(file), O_RDONLY | O_CLOEXEC);
		struct place p = place_make();
		int rc = unpack_any(fd, p.out, &o, &err);
		/* This one is about its long name record, which the reader takes; the hard link in it has
		 * no target, so unpacking can only refuse. */
		bool no_target = strcmp(what, "reject/gnu_longlink.tar") == 0;
		if (rc && strcmp(suggested, "accept") == 0 && !no_target)
			fail_msg("%s: %s", what, err.msg);
		if (rc == 0 && strcmp(suggested, "refuse") == 0)
			fail_msg("%s was unpacked", what);
		struct vectors_cell never = vectors_cell(&v, i, "member_that_must_not_appear");
		struct vectors_cell must = vectors_cell(&v, i, "member_that_must_appear_if_accepted");
		/* pax_path_nonzero_fixed lists the accepted name too: that one is either way. */
		if (never.data && strcmp(suggested, "accept") != 0 && !strstr(never.data, "..") &&
		    faccessat(p.out, never.data, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			fail_msg("%s: %s appeared", what, never.data);
		if (rc == 0 && must.data && faccessat(p.out, must.data, F_OK, AT_SYMLINK_NOFOLLOW))
			fail_msg("%s: %s is missing", what, must.data);
		check_outside(&p, what);
		check_inside(&p, what);
		place_remove(&p);
	}
	vectors_free(&v);
}

static void test_zips(void **state)
{
	vectors_or_skip("extract/zips.tsv");
	struct vectors v = vectors_load("extract/zips.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		const char *what = vectors_text(&v, i, "file"), *expected = vectors_text(&v, i, "expected");
		char file[300];
		snprintf(file, sizeof file, "extract/zips/%s", what);
		_cleanup_close_ int fd = open(vectors_path(file), O_RDONLY | O_CLOEXEC);
		struct place p = place_make();
		int rc = unpack_any(fd, p.out, &(struct unpack_options){ 0 }, &err);
		if (strcmp(expected, "either") != 0 && (rc == 0) != (strcmp(expected, "accept") == 0))
			fail_msg("%s: should be %s: %s", what, expected, err.msg ? err.msg : "unpacked");
		check_outside(&p, what);
		check_inside(&p, what);
		place_remove(&p);
	}
	vectors_free(&v);
}

static int unpack_bytes(const struct buf *b, int out, const struct unpack_options *o, struct err *err)
{
	_cleanup_close_ int fd = file_of(b->data, b->len);
	return unpack_any(fd, out, o, err);
}

static void expect_error(const struct buf *b, const struct unpack_options *o, const char *part)
{
	_cleanup_err_ struct err err = { 0 };
	struct place p = place_make();
	if (unpack_bytes(b, p.out, o, &err) == 0)
		fail_msg("unpacked, but: %s", part);
	if (!strstr(err.msg, part))
		fail_msg("\"%s\" is not in: %s", part, err.msg);
	place_remove(&p);
}

static void test_strip(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct unpack_options o = { .strip = 1 };
	struct stat a, h;
	tar_make_add(&b, &(struct tar_member){ .type = '5', .name = "./p-1/" });
	tar_make_add(&b, &(struct tar_member){ .name = "p-1/d/a", .data = "x" });
	tar_make_add(&b, &(struct tar_member){ .type = '1', .name = "p-1/h", .target = "p-1/d/a" });
	tar_make_add(&b, &(struct tar_member){ .type = '2', .name = "p-1/d/l", .target = "../h" });
	size_t good = b.len;
	tar_make_end(&b);
	_cleanup_err_ struct err err = { 0 };
	struct place p = place_make();
	if (unpack_bytes(&b, p.out, &o, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(fstatat(p.out, "d/a", &a, 0), 0);
	assert_int_equal(fstatat(p.out, "d/l", &h, 0), 0);
	assert_true(a.st_ino == h.st_ino && a.st_nlink == 2);
	place_remove(&p);
	const struct { struct tar_member m; const char *error; } bad[] = {
		{ { .name = "q-1/x" }, "more than one top folder" },
		{ { .name = "x" }, "does not lie in the top folder" },
		{ { .type = '2', .name = "p-1/x", .target = "../p-1/h" }, "out of the folder" },
		{ { .type = '1', .name = "p-1/x", .target = "d/a" }, "more than one top folder" },
		{ { .type = '1', .name = "p-1/x", .target = "p-1" }, "hard link" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		b.len = good;
		tar_make_add(&b, &bad[i].m);
		tar_make_end(&b);
		expect_error(&b, &o, bad[i].error);
	}
}

static void test_sparse(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct stat st;
	tar_make_pax(&b, 'x', (const char *[]){ "GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name=s",
		"GNU.sparse.realsize=10485760", NULL });
	char h[512], map[512] = "1\n5242880\n5\n";
	tar_make_header(h, &(struct tar_member){ .name = "x", .size = 517 });
	buf_add(&b, h, 512);
	buf_add(&b, map, 512);
	buf_str(&b, "hello");
	tar_make_pad(&b);
	tar_make_end(&b);
	struct place p = place_make();
	if (unpack_bytes(&b, p.out, &(struct unpack_options){ 0 }, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(fstatat(p.out, "s", &st, 0), 0);
	assert_int_equal(st.st_size, 10 * MIB);
	assert_true(st.st_blocks * 512 < MIB);
	_cleanup_close_ int fd = openat(p.out, "s", O_RDONLY | O_CLOEXEC);
	char hello[7] = "";
	assert_int_equal(pread(fd, hello, 6, 5 * MIB), 6);
	assert_string_equal(hello, "hello");
	place_remove(&p);
	struct unpack_options o = { .limits.bytes = 10 * MIB - 1 };
	expect_error(&b, &o, "larger than");
}

static struct buf gzip_block(const void *data, size_t len)
{
	struct buf b = BUF_INIT;
	z_stream zs = { .next_in = (Bytef *)data, .avail_in = (uInt)len };
	assert_int_equal(deflateInit2(&zs, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	zs.next_out = (Bytef *)buf_grow(&b, 2 * len);
	zs.avail_out = (uInt)(2 * len);
	assert_int_equal(deflate(&zs, Z_FINISH), Z_STREAM_END);
	b.len = zs.total_out;
	deflateEnd(&zs);
	return b;
}

/* What an archive hides behind itself: a zip behind a tar, bare or compressed. */
static void test_tar_and_zip(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct zip_make z = { 0 };
	tar_make_add(&b, &(struct tar_member){ .name = "a" });
	tar_make_end(&b);
	zip_make_add(&z, &(struct zip_member){ .name = "b" });
	struct buf zip = zip_make_end(&z);
	_cleanup_buf_ struct buf gz = gzip_block(b.data, b.len);
	buf_add(&b, zip.data, zip.len);
	buf_add(&gz, zip.data, zip.len);
	buf_free(&zip);
	expect_error(&b, &(struct unpack_options){ 0 }, "ends as a zip");
	expect_error(&gz, &(struct unpack_options){ 0 }, "ends as a zip");
	struct buf short_file = { b.data, 3, 0 };
	expect_error(&short_file, &(struct unpack_options){ 0 }, "too short");
}

static void count_bytes(void *ctx, uint64_t bytes)
{
	uint64_t *last = ctx;
	assert_true(bytes >= *last);
	*last = bytes;
}

/* size bytes of zeros, deflated; window as zlib has it (negative: raw, over 16: gzip). */
static struct buf deflate_zeros(size_t size, int window)
{
	struct buf b = BUF_INIT;
	static char zeros[MIB];
	z_stream zs = { 0 };
	assert_int_equal(deflateInit2(&zs, 1, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY), Z_OK);
	for (size_t done = 0; done < size; done += MIB) {
		zs.next_in = (Bytef *)zeros;
		zs.avail_in = MIB;
		do {
			zs.next_out = (Bytef *)buf_grow(&b, 65536);
			zs.avail_out = 65536;
			deflate(&zs, done + MIB == size ? Z_FINISH : Z_NO_FLUSH);
			b.len += 65536 - zs.avail_out;
		} while (zs.avail_out == 0);
	}
	deflateEnd(&zs);
	return b;
}

/* In a child, whose peak memory is then known.  What it may take beyond an empty child. */
static long child_peak(int fd, const char *folder, uint64_t expected)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		uint64_t bytes = 0;
		struct unpack_options o = { .progress = count_bytes, .ctx = &bytes };
		int out = open(folder, O_RDONLY | O_DIRECTORY);
		_exit(fd >= 0 && (unpack_any(fd, out, &o, NULL) || bytes != expected));
	}
	int status;
	struct rusage usage;
	assert_int_equal(wait4(pid, &status, 0, &usage), pid);
	assert_int_equal(status, 0);
	return usage.ru_maxrss;
}

/* Memory does not grow with what is unpacked: 64 MiB of each sort in less than 8 MiB. */
static void test_memory(void **state)
{
#ifdef __SANITIZE_ADDRESS__
	printf("skipped: test_memory: the sanitizer takes memory of its own\n");
	skip();
#endif
	const size_t size = 64 * MIB;
	struct buf raw = deflate_zeros(size, -15);
	uint32_t crc = 0;
	static char zeros[MIB];
	for (size_t i = 0; i < 64; i++)
		crc = (uint32_t)crc32(crc, (const Bytef *)zeros, MIB);
	struct zip_make z = { 0 };
	struct zip_member m = { "zeros", 8, raw.data, raw.len, size, crc, 0100644 };
	zip_make_add(&z, &m);
	/* Ballast, so that it is no bomb by ratio. */
	_cleanup_free_ char *ballast = mem_alloc(2 * MIB);
	zip_make_add(&z, &(struct zip_member){ "ballast", 0, ballast, 2 * MIB, 2 * MIB,
		(uint32_t)crc32(0, (const Bytef *)ballast, 2 * MIB), 0100644 });
	struct buf zip = zip_make_end(&z);
	struct place p = place_make();
	_cleanup_free_ char *folder = mem_printf("%s/out", p.dir.path);
	int fd = file_of(zip.data, zip.len);
	buf_free(&zip);
	buf_free(&raw);
	free(steal_ptr(ballast));
	/* An empty child holds what this process holds. */
	long empty = child_peak(-1, folder, 0), peak = child_peak(fd, folder, size + 2 * MIB);
	if (peak > empty + 8 * 1024)
		fail_msg("a zip of 66 MiB took %ld KiB, an empty child %ld KiB", peak, empty);
	close(fd);
	place_remove(&p);
	/* A gzip'd tar: the header in one member, content and end mark in another. */
	char h[512];
	tar_make_header(h, &(struct tar_member){ .name = "zeros", .size = size });
	struct buf gz = gzip_block(h, sizeof h), rest = deflate_zeros(size + MIB, 31);
	buf_add(&gz, rest.data, rest.len);
	buf_free(&rest);
	p = place_make();
	fd = file_of(gz.data, gz.len);
	buf_free(&gz);
	free(folder);
	folder = mem_printf("%s/out", p.dir.path);
	peak = child_peak(fd, folder, size);
	if (peak > empty + 8 * 1024)
		fail_msg("a tar of 64 MiB took %ld KiB, an empty child %ld KiB", peak, empty);
	close(fd);
	place_remove(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attacks), cmocka_unit_test(test_rootfs), cmocka_unit_test(test_tar_vectors),
		cmocka_unit_test(test_zips), cmocka_unit_test(test_strip), cmocka_unit_test(test_sparse),
		cmocka_unit_test(test_tar_and_zip), cmocka_unit_test(test_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
