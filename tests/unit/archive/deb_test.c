/* Debian packages: the ar around them, and how several become one root file system. */
#include "support/vectors.h"
#include "support/tar_make.h"
#include "support/tempdir.h"
#include "support/zip_make.h"

#include "archive/deb.h"
#include "archive/unpack.h"
#include "core/fs.h"
#include "core/mem.h"

static void ar_add(struct buf *b, const char *name, const void *data, size_t len)
{
	buf_printf(b, "%-16s%-12d%-6d%-6d%-8s%-10zu`\n", name, 0, 0, 0, "100644", len);
	buf_add(b, data, len);
	if (len & 1)
		buf_byte(b, '\n');
}

static struct buf deb_of(const struct buf *tar)
{
	struct buf b = BUF_INIT;
	buf_str(&b, "!<arch>\n");
	ar_add(&b, "debian-binary", "2.0\n", 4);
	ar_add(&b, "control.tar/", "abc", 3); /* odd, and as GNU ar names it; never read */
	ar_add(&b, "data.tar", tar->data, tar->len);
	return b;
}

/* A package of the members up to the one without a name. */
static int unpack_members(const struct tar_member *m, int dirfd, struct err *err)
{
	struct unpack_options o = { .root_links = true, .merge = true };
	_cleanup_buf_ struct buf tar = BUF_INIT;
	for (; m->name; m++)
		tar_make_add(&tar, m);
	tar_make_end(&tar);
	_cleanup_buf_ struct buf deb = deb_of(&tar);
	_cleanup_close_ int fd = file_of(deb.data, deb.len);
	return unpack_deb(fd, dirfd, &o, err);
}

static const struct tar_member base_files[] = {
	{ .type = '5', .name = "./" }, { .type = '5', .name = "./usr/" }, { .type = '5', .name = "./usr/lib/" },
	{ .type = '2', .name = "./bin", .target = "usr/bin" }, { .type = '2', .name = "./lib", .target = "usr/lib" },
	{ .type = '2', .name = "./abs", .target = "/usr/lib" }, { .type = '2', .name = "./up", .target = "../../../usr" },
	{ .name = "./usr/bin/base", .data = "b", .mode = 0755 },
	{ 0 },
};

static void expect_file(int dirfd, const char *path, const char *content)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_close_ int fd = fs_open_beneath(dirfd, path, O_RDONLY, 0, &err);
	_cleanup_buf_ struct buf b = BUF_INIT;
	if (fd < 0 || fs_slurp(fd, 100, &b, &err))
		fail_msg("%s: %s", path, err.msg);
	assert_string_equal(b.data, content);
}

static void test_merged_usr(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	struct tempdir d = tempdir_make();
	/* lib/ and bin/ are announced as folders, as packages from before the merge do. */
	const struct tar_member more[] = {
		{ .type = '5', .name = "./lib/" }, { .name = "./lib/x/one", .data = "1" }, { .name = "./bin/two", .data = "2" },
		{ .name = "./abs/three", .data = "3" }, { .name = "./up/bin/four", .data = "4" },
		{ .type = '1', .name = "./usr/hard", .target = "./lib/x/one" }, { 0 },
	};
	if (unpack_members(base_files, d.fd, &err) || unpack_members(more, d.fd, &err))
		fail_msg("%s", err.msg);
	expect_file(d.fd, "usr/lib/x/one", "1");
	expect_file(d.fd, "usr/bin/two", "2");
	expect_file(d.fd, "usr/lib/three", "3");
	expect_file(d.fd, "usr/bin/four", "4");
	expect_file(d.fd, "usr/hard", "1");
	tempdir_remove(&d);
}

static void expect_conflict(const struct tar_member *m, const char *part)
{
	_cleanup_err_ struct err err = { 0 };
	struct tempdir d = tempdir_make();
	assert_int_equal(unpack_members(base_files, d.fd, &err), 0);
	assert_int_equal(unpack_members(m, d.fd, &err), -1);
	if (!strstr(err.msg, part))
		fail_msg("\"%s\" is not in: %s", part, err.msg);
	assert_int_equal(err.code, ERR_INPUT);
	tempdir_remove(&d);
}

static void test_conflicts(void **state)
{
	expect_conflict((struct tar_member[]){ { .name = "./usr/bin/base" }, { 0 } }, "from another archive");
	/* The same file by the link. */
	expect_conflict((struct tar_member[]){ { .name = "./bin/base" }, { 0 } }, "from another archive");
	expect_conflict((struct tar_member[]){ { .type = '2', .name = "./bin", .target = "x" }, { 0 } }, "something else");
	expect_conflict((struct tar_member[]){ { .type = '1', .name = "./h", .target = "./usr/bin/base" }, { 0 } },
		"not an earlier file of this archive");
	expect_conflict((struct tar_member[]){ { .type = '5', .name = "./usr/bin/base/" }, { 0 } }, "something else");
	expect_conflict((struct tar_member[]){ { .name = "./usr/bin/base/x" }, { 0 } }, "not a folder");
	expect_conflict((struct tar_member[]){ { .type = '2', .name = "./l", .target = "none" },
		{ .name = "./l/x" }, { 0 } }, "leads nowhere");
	expect_conflict((struct tar_member[]){ { .type = '2', .name = "./l", .target = "l" },
		{ .name = "./l/x" }, { 0 } }, "through a link");
}

/* A folder that an earlier package only announced gives way to the link; one with files does not. */
static void test_links_late(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	struct tempdir d = tempdir_make();
	const struct tar_member announced[] = { { .type = '5', .name = "./lib/" }, { 0 } };
	const struct tar_member filled[] = { { .name = "./bin/x", .data = "x" }, { 0 } };
	char target[10] = "";
	const struct tar_member lib[] = { { .type = '2', .name = "./lib", .target = "usr/lib" }, { 0 } };
	const struct tar_member bin[] = { { .type = '2', .name = "./bin", .target = "usr/bin" }, { 0 } };
	assert_int_equal(unpack_members(announced, d.fd, &err), 0);
	assert_int_equal(unpack_members(filled, d.fd, &err), 0);
	assert_int_equal(unpack_members(lib, d.fd, &err), 0);
	assert_int_equal(readlinkat(d.fd, "lib", target, sizeof target), 7);
	assert_int_equal(unpack_members(bin, d.fd, &err), -1);
	expect_file(d.fd, "bin/x", "x");
	tempdir_remove(&d);
}

static void expect_bad(const struct buf *b, const char *part)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_close_ int fd = file_of(b->data, b->len);
	off_t at, end;
	if (deb_find_data(fd, &at, &end, &err) == 0)
		fail_msg("accepted, but: %s", part);
	if (!strstr(err.msg, part))
		fail_msg("\"%s\" is not in: %s", part, err.msg);
}

static void test_bad_ar(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	expect_bad(&b, "not a Debian package");
	buf_str(&b, "!<arch>\n");
	expect_bad(&b, "without data.tar");
	ar_add(&b, "data.tar", "", 0);
	expect_bad(&b, "not debian-binary");
	b.len = 8;
	ar_add(&b, "debian-binary", "3.0\n", 4);
	expect_bad(&b, "another format than 2");
	b.len = 8;
	ar_add(&b, "debian-binary", "2.0\n", 4);
	size_t good = b.len;
	ar_add(&b, "data.tar", "12345", 5);
	for (size_t n = good; n < b.len - 1; n++) {
		struct buf cut = { b.data, n, 0 };
		expect_bad(&cut, n == good ? "without data.tar" : n < good + 60 ? "cut off" : "bad ar header");
	}
	memcpy(b.data + good + 48, "-5        ", 10);
	expect_bad(&b, "bad ar header");
	memcpy(b.data + good + 48, "9999999999", 10);
	expect_bad(&b, "bad ar header");
	memcpy(b.data + good + 48, "          ", 10);
	expect_bad(&b, "bad ar header");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_merged_usr), cmocka_unit_test(test_conflicts), cmocka_unit_test(test_links_late),
		cmocka_unit_test(test_bad_ar),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
