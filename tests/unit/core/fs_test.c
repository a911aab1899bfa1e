/* core/fs.c and fs_tree.c. */
#include "support/vectors.h"

#include <errno.h>
#include <fcntl.h>

#include "core/fs.h"
#include "core/mem.h"
#include "support/tempdir.h"

static void nothing_is_opened_outside(void **state)
{
	struct tempdir t = tempdir_make();
	assert_int_equal(symlinkat("/etc", t.fd, "out"), 0);
	assert_int_equal(symlinkat("inside", t.fd, "link"), 0);
	assert_int_equal(fs_write_file(t.fd, "inside", "x", 1, 0644, NULL), 0);
	assert_true(fs_open_beneath(t.fd, "out/passwd", O_RDONLY, 0, NULL) < 0);
	assert_true(fs_open_beneath(t.fd, "../x", O_RDONLY, 0, NULL) < 0);
	assert_true(fs_open_beneath(t.fd, "/etc/passwd", O_RDONLY, 0, NULL) < 0);
	assert_true(fs_open_beneath(t.fd, "link", O_RDONLY, 0, NULL) < 0);
	int fd = fs_open_beneath(t.fd, "inside", O_RDONLY, 0, NULL);
	assert_true(fd >= 0);
	close(fd);
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(fs_mkdirs_beneath(t.fd, "out/made", 0755, &err), -1);
	assert_non_null(err.msg);
	assert_int_equal(fs_mkdirs_beneath(t.fd, "a/b/c", 0755, NULL), 0);
	assert_int_equal(fs_mkdirs_beneath(t.fd, "a/b/c", 0755, NULL), 0);
	tempdir_remove(&t);
}

static void files_are_read_up_to_a_limit(void **state)
{
	struct tempdir t = tempdir_make();
	_cleanup_buf_ struct buf out = BUF_INIT;
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(fs_write_file(t.fd, "f", "12345", 5, 0600, NULL), 0);
	assert_int_equal(fs_read_file(t.fd, "f", 5, &out, NULL), 0);
	assert_string_equal(out.data, "12345");
	assert_int_equal(fs_read_file(t.fd, "f", 4, &out, &err), -1);
	assert_string_equal(err.msg, "f: longer than 4 bytes");
	assert_int_equal(fs_replace_file(t.fd, "f", "new", 3, 0644, NULL), 0);
	buf_clear(&out);
	assert_int_equal(fs_read_file(t.fd, "f", 100, &out, NULL), 0);
	assert_string_equal(out.data, "new");
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	assert_int_equal(fs_list(t.fd, &names, NULL), 0);
	assert_int_equal(names.count, 1); /* nothing aside is left */
	tempdir_remove(&t);
}

static void copies_are_whole(void **state)
{
	struct tempdir t = tempdir_make();
	char block[70000];
	for (size_t i = 0; i < sizeof block; i++)
		block[i] = (char)(i * 7);
	_cleanup_buf_ struct buf back = BUF_INIT;
	assert_int_equal(fs_write_file(t.fd, "from", block, sizeof block, 0600, NULL), 0);
	int from = openat(t.fd, "from", O_RDONLY), to = openat(t.fd, "to", O_RDWR | O_CREAT, 0600);
	assert_int_equal(fs_copy_bytes(from, to, -1, NULL), 0);
	assert_int_equal(fs_read_file(t.fd, "to", 1 << 20, &back, NULL), 0);
	assert_int_equal(back.len, sizeof block);
	assert_memory_equal(back.data, block, sizeof block);
	lseek(from, 0, SEEK_SET);
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(fs_copy_bytes(from, to, sizeof block + 1, &err), -1); /* asked for more than there is */
	close(from);
	close(to);
	tempdir_remove(&t);
}

/* Deeper than descriptors or stack would bear, read-only, with a link that leads out. */
static void a_hostile_tree_is_removed(void **state)
{
	struct tempdir t = tempdir_make();
	assert_int_equal(mkdirat(t.fd, "outside", 0755), 0);
	assert_int_equal(fs_write_file(t.fd, "outside/keep", "x", 1, 0644, NULL), 0);
	assert_int_equal(mkdirat(t.fd, "tree", 0755), 0);
	int at = openat(t.fd, "tree", O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 3000; i++) {
		assert_int_equal(mkdirat(at, "d", 0755), 0);
		assert_int_equal(symlinkat("../outside", at, "l"), 0);
		int next = openat(at, "d", O_RDONLY | O_DIRECTORY);
		assert_int_equal(fchmod(at, i % 2 ? 0555 : 0000), 0);
		close(at);
		at = next;
	}
	close(at);
	_cleanup_err_ struct err err = { 0 };
	if (fs_remove_tree(t.fd, "tree", &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(faccessat(t.fd, "tree", F_OK, 0), -1);
	assert_int_equal(faccessat(t.fd, "outside/keep", F_OK, 0), 0);
	assert_int_equal(fs_remove_tree(t.fd, "tree", NULL), 0); /* gone already: no error */
	tempdir_remove(&t);
}

static void temporary_folders_differ(void **state)
{
	struct tempdir t = tempdir_make();
	char *a = NULL, *b = NULL;
	assert_int_equal(fs_temp_dir(t.fd, "x", &a, NULL), 0);
	assert_int_equal(fs_temp_dir(t.fd, "x", &b, NULL), 0);
	assert_string_not_equal(a, b);
	free(a);
	free(b);
	tempdir_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_opened_outside), cmocka_unit_test(files_are_read_up_to_a_limit),
		cmocka_unit_test(copies_are_whole), cmocka_unit_test(a_hostile_tree_is_removed),
		cmocka_unit_test(temporary_folders_differ),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
