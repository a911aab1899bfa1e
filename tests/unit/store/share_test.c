/* Equal files of several objects are one; what only looks alike is not, and nothing breaks it. */
#include "unit/store/fixture.h"

#include <sys/wait.h>

#include "store/gc.h"

#define LARGE (100 << 10) /* bytes: more than what a name in links is made from */

static void write_file(int dirfd, const char *name, char fill, size_t len, mode_t mode)
{
	_cleanup_free_ char *data = mem_alloc(len + 1);
	memset(data, fill, len);
	assert_ok(fs_write_file(dirfd, name, data, len, mode, err));
}

/* A tree in tmp of one file in a folder, `odd` bytes of whose middle differ from those of others; shared and added. */
static char *add_file(struct fixture *f, const char *name, size_t len, char odd, mode_t mode)
{
	struct store_prepared made = { 0 };
	_cleanup_free_ char *tmp = NULL, *data = mem_alloc(len + 1);
	assert_ok((tmp = store_tmp_name(f->s, "share", err)) ? 0 : -1);
	assert_int_equal(mkdirat(f->s->tmp_fd, tmp, 0755), 0);
	_cleanup_free_ char *sub = fs_join(tmp, "sub"), *path = fs_join(sub, "file");
	assert_int_equal(mkdirat(f->s->tmp_fd, sub, 0755), 0);
	memset(data, 'a', len);
	if (odd)
		data[len / 2] = odd;
	assert_ok(fs_write_file(f->s->tmp_fd, path, data, len, mode, err));
	store_share(f->s, tmp);
	assert_ok(store_prepare(f->s->tmp_fd, tmp, name, DRV_NAR, NULL, NULL, &made, err));
	assert_ok(store_settle(f->s->tmp_fd, &made, 1, err));
	store_share_offer(f->s, tmp);
	char *object = mem_dup(made.path);
	assert_ok(store_commit(f->s, &made, 1, err));
	store_prepared_free(&made);
	return object;
}

static struct stat stat_of(struct fixture *f, const char *object)
{
	struct stat st;
	_cleanup_free_ char *path = mem_printf("%s/sub/file", store_path_base(object));
	assert_int_equal(fstatat(f->s->objects_fd, path, &st, AT_SYMLINK_NOFOLLOW), 0);
	return st;
}

static size_t links(struct fixture *f)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_close_ int fd = store_sub(f->s, "links", NULL);
	assert_ok(fs_list(fd, &names, err));
	return names.count;
}

static void check_valid(struct fixture *f)
{
	assert_int_equal(store_verify(f->s, true, NULL, NULL, NULL), 0);
}

static void test_equal_files_are_one(void **state)
{
	static const size_t lengths[] = { 1, LARGE };
	for (size_t i = 0; i < 2; i++) {
		struct fixture *f = *state;
		_cleanup_free_ char *a = add_file(f, "a", lengths[i], 0, 0644), *b = add_file(f, "b", lengths[i], 0, 0600);
		struct stat one = stat_of(f, a), two = stat_of(f, b);
		assert_int_equal(one.st_ino, two.st_ino);
		assert_int_equal(one.st_mode & 07777, 0444);
		assert_int_equal(one.st_mtime, 1);
		assert_int_equal(one.st_nlink, 3);
		check_valid(f);
	}
}

static void test_others_are_not(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_file(f, "a", LARGE, 0, 0644), *middle = add_file(f, "middle", LARGE, 'b', 0644);
	_cleanup_free_ char *longer = add_file(f, "longer", LARGE + 1, 0, 0644), *runs = add_file(f, "runs", LARGE, 0, 0755);
	_cleanup_free_ char *empty = add_file(f, "empty", 0, 0, 0644);
	_cleanup_free_ char *again = add_file(f, "again", LARGE, 0, 0644), *two = add_file(f, "two", LARGE, 'b', 0644);
	assert_int_equal(stat_of(f, a).st_ino, stat_of(f, again).st_ino); /* what only looks alike has a name of its own */
	assert_int_equal(stat_of(f, middle).st_ino, stat_of(f, two).st_ino);
	const char *all[] = { middle, longer, runs, empty };
	for (size_t i = 0; i < 4; i++)
		assert_int_not_equal(stat_of(f, all[i]).st_ino, stat_of(f, a).st_ino);
	assert_int_equal(stat_of(f, empty).st_nlink, 1);
	assert_int_equal(stat_of(f, runs).st_mode & 07777, 0555);
	check_valid(f);
}

/* What was damaged is not spread: a new file stays as it was made, and is what later ones are names of. */
static void test_a_damaged_file_is_not_shared(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_file(f, "a", LARGE, 0, 0644);
	_cleanup_free_ char *path = mem_printf("%s/sub/file", store_path_base(a));
	assert_int_equal(fchmodat(f->s->objects_fd, path, 0644, 0), 0);
	_cleanup_close_ int fd = openat(f->s->objects_fd, path, O_WRONLY);
	assert_int_equal(pwrite(fd, "damage", 6, LARGE / 2), 6);
	_cleanup_free_ char *b = add_file(f, "b", LARGE, 0, 0644), *c = add_file(f, "c", LARGE, 0, 0644);
	assert_int_not_equal(stat_of(f, a).st_ino, stat_of(f, b).st_ino);
	assert_int_equal(stat_of(f, b).st_ino, stat_of(f, c).st_ino);
	assert_int_equal(store_verify(f->s, true, NULL, NULL, NULL), 1);
}

/* links is a place that only helps: whatever stands there, objects are whole. */
static void test_odd_links(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_file(f, "a", LARGE, 0, 0644);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_close_ int fd = store_sub(f->s, "links", NULL);
	assert_ok(fs_list(fd, &names, err));
	assert_int_equal(names.count, 1);
	assert_int_equal(unlinkat(fd, names.items[0], 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", fd, names.items[0]), 0);
	_cleanup_free_ char *b = add_file(f, "b", LARGE, 0, 0644);
	assert_int_equal(unlinkat(fd, names.items[0], 0), 0);
	assert_int_equal(mkdirat(fd, names.items[0], 0755), 0);
	_cleanup_free_ char *c = add_file(f, "c", LARGE, 0, 0644);
	assert_int_equal(unlinkat(fd, names.items[0], AT_REMOVEDIR), 0);
	assert_int_equal(mkfifoat(fd, names.items[0], 0644), 0);
	_cleanup_free_ char *d = add_file(f, "d", LARGE, 0, 0644);
	assert_int_equal(unlinkat(f->s->root_fd, "links", AT_REMOVEDIR), -1);
	check_valid(f);
	/* the last one has another name beside the pipe */
	_cleanup_free_ char *e = add_file(f, "e", LARGE, 0, 0644);
	assert_int_equal(stat_of(f, d).st_ino, stat_of(f, e).st_ino);
	assert_int_equal(faccessat(f->s->tmp_fd, ".", F_OK, 0), 0);
	check_valid(f);
}

static void test_gc_forgets_them(void **state)
{
	struct fixture *f = *state;
	static const uint64_t nothing;
	struct store_gc gc;
	struct store_gc_done done;
	_cleanup_free_ char *a = add_file(f, "a", LARGE, 0, 0644), *b = add_file(f, "b", LARGE, 0, 0644);
	_cleanup_free_ char *c = add_file(f, "c", LARGE, 'c', 0644);
	assert_int_equal(links(f), 2);
	assert_ok(store_root_set(f->s, "b", b, NULL, err));
	store_close(f->s);
	f->s = open_or_fail(f->store_folder, STORE_WRITE);
	assert_ok(store_gc_plan(f->s, &nothing, &gc, err));
	assert_ok(store_gc_run(f->s, &gc, NULL, NULL, &done, err));
	store_gc_free(&gc);
	assert_int_equal(done.removed, 2);
	assert_int_equal(links(f), 1);
	assert_int_equal(stat_of(f, b).st_nlink, 2);
	check_valid(f);
}

/* What is shared counts once, in what is left and in what is freed. */
static void test_gc_counts_them_once(void **state)
{
	struct fixture *f = *state;
	static const uint64_t bound = LARGE + LARGE / 2;
	struct store_gc gc;
	struct store_gc_done done;
	for (int i = 0; i < 3; i++) {
		_cleanup_free_ char *name = mem_printf("o%d", i), *object = add_file(f, name, LARGE, 0, 0644);
	}
	assert_int_equal(share_saved(f->s), 2 * LARGE);
	assert_ok(store_gc_plan(f->s, &bound, &gc, err));
	assert_int_equal(gc.dead.count, 0);
	assert_true(gc.left_bytes > LARGE && gc.left_bytes < bound);
	store_gc_free(&gc);
	_cleanup_free_ char *other = add_file(f, "other", 2 * LARGE, 0, 0644);
	assert_ok(store_root_set(f->s, "other", other, NULL, err));
	store_close(f->s);
	f->s = open_or_fail(f->store_folder, STORE_WRITE);
	assert_ok(store_gc_plan(f->s, NULL, &gc, err));
	assert_int_equal(gc.dead.count, 3);
	assert_ok(store_gc_run(f->s, &gc, NULL, NULL, &done, err));
	store_gc_free(&gc);
	assert_true(done.bytes > LARGE && done.bytes < bound);
	assert_true(done.left_bytes > 2 * LARGE && done.left_bytes < 2 * LARGE + LARGE / 2);
	assert_int_equal(share_saved(f->s), 0);
}

/* Many processes at once: all objects are whole, and nothing is left in tmp. */
static void test_at_once(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();
		if (pid == 0) {
			struct store *s = open_or_fail(f->store_folder, STORE_WRITE);
			struct fixture own = { f->folder, f->fd, f->store_folder, s };
			for (int k = 0; k < 20; k++) {
				_cleanup_free_ char *name = mem_printf("o%d-%d", i, k), *path = add_file(&own, name, LARGE, 'a' + (char)(k % 3), 0644);
			}
			store_close(s);
			_exit(0);
		}
	}
	for (int status, i = 0; i < 8; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	_cleanup_str_list_ struct str_list left = STR_LIST_INIT;
	check_valid(f);
	store_close(f->s);
	f->s = open_or_fail(f->store_folder, STORE_WRITE);
	assert_ok(fs_list(f->s->tmp_fd, &left, err));
	assert_int_equal(left.count, 0);
}

static void test_deep_and_odd_trees(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *tmp = store_tmp_name(f->s, "odd", NULL);
	assert_int_equal(mkdirat(f->s->tmp_fd, tmp, 0755), 0);
	_cleanup_close_ int fd = openat(f->s->tmp_fd, tmp, O_RDONLY | O_DIRECTORY);
	assert_int_equal(symlinkat("../../..", fd, "up"), 0);
	assert_int_equal(mkfifoat(fd, "pipe", 0644), 0);
	write_file(fd, "plain", 'x', 10, 0644);
	assert_int_equal(linkat(fd, "plain", fd, "twice", 0), 0); /* as an archive may have it: left alone */
	write_file(fd, "runs", 'x', 10, 0711);
	for (int i = 0; i < 2; i++) {
		store_share(f->s, tmp);
		store_share_offer(f->s, tmp);
		store_share(f->s, "not-there");
		store_share_offer(f->s, "not-there");
	}
	assert_int_equal(links(f), 1);
}

/* Twins in one tree stay two files: each is shared with one of another tree's. */
static void test_twins(void **state)
{
	struct fixture *f = *state;
	ino_t inodes[2][2];
	for (int i = 0; i < 2; i++) {
		struct store_prepared made = { 0 };
		_cleanup_free_ char *tmp = store_tmp_name(f->s, "twins", NULL), *name = mem_printf("twins-%d", i);
		assert_int_equal(mkdirat(f->s->tmp_fd, tmp, 0755), 0);
		_cleanup_close_ int fd = openat(f->s->tmp_fd, tmp, O_RDONLY | O_DIRECTORY);
		write_file(fd, "a", 'x', 1000, 0644);
		write_file(fd, "b", 'x', 1000, 0644);
		store_share(f->s, tmp);
		assert_ok(store_prepare(f->s->tmp_fd, tmp, name, DRV_NAR, NULL, NULL, &made, err));
		store_share_offer(f->s, tmp);
		for (int k = 0; k < 2; k++) {
			struct stat st;
			assert_int_equal(fstatat(fd, k ? "b" : "a", &st, 0), 0);
			inodes[i][k] = st.st_ino;
		}
		assert_ok(store_commit(f->s, &made, 1, err));
		store_prepared_free(&made);
		assert_int_not_equal(inodes[i][0], inodes[i][1]);
	}
	assert_int_equal(inodes[0][0], inodes[1][0]);
	assert_int_equal(inodes[0][1], inodes[1][1]);
	check_valid(f);
}

/* A file that somebody else could change, or that is not as it was left. */
static void test_unsealed_files_are_not_taken(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_file(f, "a", LARGE, 0, 0644);
	_cleanup_free_ char *path = mem_printf("%s/sub/file", store_path_base(a));
	assert_int_equal(fchmodat(f->s->objects_fd, path, 0644, 0), 0);
	_cleanup_free_ char *b = add_file(f, "b", LARGE, 0, 0644);
	assert_int_not_equal(stat_of(f, a).st_ino, stat_of(f, b).st_ino);
	assert_int_equal(fchmodat(f->s->objects_fd, path, 0444, 0), 0);
	if (geteuid() == 0) {
		assert_int_equal(fchownat(f->s->objects_fd, path, 1, 1, 0), 0);
		_cleanup_free_ char *c = add_file(f, "c", LARGE, 0, 0644);
		assert_int_not_equal(stat_of(f, a).st_ino, stat_of(f, c).st_ino);
	}
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)
	const struct CMUnitTest tests[] = {
		T(test_equal_files_are_one), T(test_others_are_not), T(test_a_damaged_file_is_not_shared), T(test_odd_links),
		T(test_gc_forgets_them), T(test_gc_counts_them_once), T(test_at_once), T(test_deep_and_odd_trees),
		T(test_twins), T(test_unsealed_files_are_not_taken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
