/* Making files below a folder: limits, modes, what may stand where. */
#include "support/vectors.h"
#include "support/tempdir.h"

#include <errno.h>

#include "archive/tree.h"
#include "core/fs.h"

static int put(struct tree *t, const char *name, const char *text, struct err *err)
{
	size_t n = strlen(text);
	if (tree_file(t, name, false, n, err) || (n && tree_write(t, 0, text, n, err)))
		return -1;
	return tree_file_end(t, err);
}

static mode_t mode_of(int dirfd, const char *name)
{
	struct stat st;
	return fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) ? 0 : st.st_mode;
}

/* The call fails, as a fault of the input, with these words. */
#define expect(call, words) do { \
	_cleanup_err_ struct err err = { 0 }; \
	if ((call) == 0) \
		fail_msg("%s succeeded", #call); \
	if (err.code != ERR_INPUT || !strstr(err.msg, words)) \
		fail_msg("%s: %s", #call, err.msg); \
} while (0)

static void test_kinds(void **state)
{
	_cleanup_err_ struct err none = { 0 };
	struct tempdir d = tempdir_make();
	_cleanup_tree_ struct tree *t = tree_open(d.fd, &(struct unpack_options){ 0 }, &none);
	struct stat a, b;
	assert_int_equal(tree_folder(t, "", &none), 0);
	assert_int_equal(put(t, "d/e/a", "one", &none), 0);
	assert_int_equal(tree_folder(t, "d/e", &none), 0);
	assert_int_equal(tree_hardlink(t, "d/h", "d/e/a", &none), 0);
	assert_int_equal(tree_symlink(t, "d/l", "e/a", &none), 0);
	assert_int_equal(fstatat(d.fd, "d/l", &a, 0), 0);
	assert_int_equal(fstatat(d.fd, "d/h", &b, 0), 0);
	assert_true(a.st_ino == b.st_ino);
	/* A second file of one name replaces the first; its other name keeps the old bytes. */
	assert_int_equal(put(t, "d/h", "", &none), 0);
	assert_int_equal(fstatat(d.fd, "d/e/a", &a, 0), 0);
	assert_int_equal(fstatat(d.fd, "d/h", &b, 0), 0);
	assert_true(a.st_size == 3 && a.st_nlink == 1 && b.st_size == 0);
	expect(put(t, "d", "", &err), "something else");
	expect(put(t, "d/l", "", &err), "something else");
	expect(put(t, "d/l/x", "", &err), "through a link");
	expect(put(t, "d/h/x", "", &err), "not a folder");
	expect(put(t, "", "", &err), "without a name");
	expect(tree_folder(t, "d/h", &err), "something else");
	expect(tree_folder(t, "d/l", &err), "something else");
	expect(tree_symlink(t, "d/h", "x", &err), "something else");
	expect(tree_symlink(t, "d/e", "x", &err), "something else");
	expect(tree_symlink(t, "x", "..", &err), "out of the folder");
	expect(tree_symlink(t, "x", "", &err), "without a name or target");
	expect(tree_hardlink(t, "d/h", "d/e/a", &err), "something else");
	expect(tree_hardlink(t, "x", "d/l", &err), "not an earlier file");
	expect(tree_hardlink(t, "x", "d", &err), "not an earlier file");
	expect(tree_hardlink(t, "x", "none/a", &err), "not an earlier file");
	assert_int_equal(tree_symlink(t, "to-d", "d", &none), 0);
	expect(put(t, "to-d/x", "", &err), "through a link");
	expect(tree_hardlink(t, "x", "to-d/h", &err), "through a link");
	tempdir_remove(&d);
}

static void test_limits(void **state)
{
	_cleanup_err_ struct err none = { 0 };
	struct tempdir d = tempdir_make();
	struct unpack_options o = { .limits = { 10, 5 } };
	struct tree *t = tree_open(d.fd, &o, &none);
	assert_int_equal(put(t, "a", "12345", &none), 0);
	expect(put(t, "b", "123456", &err), "larger than 10 bytes");
	assert_int_equal(put(t, "d/b", "12345", &none), 0); /* with its folder the fourth */
	assert_int_equal(put(t, "d/c", "", &none), 0);
	expect(tree_folder(t, "e", &err), "more than 5 entries");
	tree_free(t);
	tempdir_remove(&d);
}

static void test_sizes(void **state)
{
	_cleanup_err_ struct err none = { 0 };
	struct tempdir d = tempdir_make();
	_cleanup_tree_ struct tree *t = tree_open(d.fd, &(struct unpack_options){ 0 }, &none);
	struct stat st;
	assert_int_equal(tree_file(t, "a", false, 4, &none), 0);
	expect(tree_write(t, 0, "12345", 5, &err), "more bytes than it states");
	expect(tree_write(t, 5, "", 0, &err), "more bytes than it states");
	assert_int_equal(tree_write(t, 2, "x", 1, &none), 0);
	expect(tree_write(t, 1, "x", 1, &err), "more bytes than it states");
	assert_int_equal(tree_file_end(t, &none), 0);
	assert_int_equal(fstatat(d.fd, "a", &st, 0), 0);
	assert_int_equal(st.st_size, 4);
	_cleanup_buf_ struct buf b = BUF_INIT;
	assert_int_equal(fs_read_file(d.fd, "a", 10, &b, &none), 0);
	assert_memory_equal(b.data, "\0\0x\0", 4);
	tempdir_remove(&d);
}

static void test_two_trees(void **state)
{
	_cleanup_err_ struct err none = { 0 };
	struct tempdir d = tempdir_make();
	struct unpack_options o = { .merge = true };
	struct tree *first = tree_open(d.fd, &o, &none), *second = tree_open(d.fd, &o, &none);
	assert_int_equal(put(first, "d/a", "1", &none), 0);
	assert_int_equal(put(second, "d/b", "2", &none), 0);
	expect(put(second, "d/a", "2", &err), "from another archive");
	expect(tree_hardlink(second, "d/c", "d/a", &err), "not an earlier file");
	assert_int_equal(tree_hardlink(second, "d/c", "d/b", &none), 0);
	tree_free(first);
	tree_free(second);
	_cleanup_err_ struct err err = { 0 };
	assert_null(tree_open(d.fd, &(struct unpack_options){ 0 }, &err));
	assert_string_equal(err.msg, "the folder to unpack into is not empty");
	tempdir_remove(&d);
}

/* Modes are what the header says under any umask, and the umask is left as it was. */
static void test_umask(void **state)
{
	const mode_t masks[] = { 0, 022, 077, 0777 };
	for (size_t i = 0; i < 4; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct tempdir d = tempdir_make();
		mode_t old = umask(masks[i]);
		struct tree *t = tree_open(d.fd, &(struct unpack_options){ 0 }, &err);
		int rc = put(t, "d/e/a", "x", &err) || tree_file(t, "x", true, 0, &err) || tree_file_end(t, &err) ||
			tree_folder(t, "f", &err);
		assert_int_equal(umask(old), masks[i]);
		tree_free(t);
		assert_int_equal(rc, 0);
		assert_int_equal(mode_of(d.fd, "d"), S_IFDIR | 0755);
		assert_int_equal(mode_of(d.fd, "d/e"), S_IFDIR | 0755);
		assert_int_equal(mode_of(d.fd, "f"), S_IFDIR | 0755);
		assert_int_equal(mode_of(d.fd, "d/e/a"), S_IFREG | 0644);
		assert_int_equal(mode_of(d.fd, "x"), S_IFREG | 0755);
		tempdir_remove(&d);
	}
}

/* What stands in the folder already, made by someone else, is never followed or written to. */
static void test_planted(void **state)
{
	_cleanup_err_ struct err none = { 0 };
	struct tempdir d = tempdir_make(), other = tempdir_make();
	assert_int_equal(symlinkat(other.path, d.fd, "out"), 0);
	assert_int_equal(symlinkat("new", d.fd, "dangling"), 0);
	assert_int_equal(mkfifoat(d.fd, "fifo", 0600), 0);
	for (int root = 0; root < 2; root++) {
		struct unpack_options o = { .merge = true, .root_links = root };
		struct tree *t = tree_open(d.fd, &o, &none);
		expect(put(t, "out/a", "x", &err), root ? "leads nowhere" : "through a link");
		expect(put(t, "out", "x", &err), "something else");
		expect(put(t, "dangling", "x", &err), "something else");
		expect(put(t, "fifo", "x", &err), "something else");
		tree_free(t);
	}
	assert_int_equal(mode_of(other.fd, "a"), 0);
	assert_int_equal(mode_of(d.fd, "new"), 0);
	tempdir_remove(&d);
	tempdir_remove(&other);
}

/* What the system refuses is its error, with the name: here the folder was removed. */
static void test_system_errors(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	struct tempdir d = tempdir_make();
	_cleanup_tree_ struct tree *t = tree_open(d.fd, &(struct unpack_options){ 0 }, &err);
	assert_int_equal(rmdir(d.path), 0);
	assert_int_equal(put(t, "a", "x", &err), -1);
	assert_int_equal(err.code, ERR_SYS);
	assert_int_equal(err.sys, ENOENT);
	assert_non_null(strstr(err.msg, "can't unpack a"));
	close(d.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds), cmocka_unit_test(test_limits), cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_two_trees), cmocka_unit_test(test_umask), cmocka_unit_test(test_planted),
		cmocka_unit_test(test_system_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
