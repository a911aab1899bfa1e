#include "unit/store/fixture.h"

#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

static char *copy(struct fixture *f, const char *name)
{
	char *tmp = store_tmp_name(f->s, "copy", NULL);
	assert_ok(store_copy_in(f->s->tmp_fd, f->fd, name, tmp, err));
	return tmp;
}

static void refuse(struct fixture *f, const char *name, const char *part)
{
	_cleanup_free_ char *tmp = store_tmp_name(f->s, "copy", NULL);
	assert_refused(store_copy_in(f->s->tmp_fd, f->fd, name, tmp, err), part);
	assert_int_equal(count_tmp(f->s), 0);
}

static void stat_copy(struct fixture *f, const char *tmp, const char *path, struct stat *st)
{
	_cleanup_free_ char *whole = mem_printf("%s/%s", tmp, path);
	assert_int_equal(fstatat(f->s->tmp_fd, whole, st, AT_SYMLINK_NOFOLLOW), 0);
}

static void test_copies(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(mkdirat(f->fd, "out", 0777), 0);
	assert_int_equal(mkdirat(f->fd, "out/sub", 02777), 0);
	put_file(f->fd, "out/sub/setuid", "program", 06777);
	put_file(f->fd, "out/empty", "", 0600);
	assert_int_equal(linkat(f->fd, "out/empty", f->fd, "out/hard", 0), 0);
	assert_int_equal(symlinkat("/etc/passwd", f->fd, "out/absolute"), 0);
	assert_int_equal(symlinkat("../../..", f->fd, "out/sub/up"), 0);
	_cleanup_free_ char *tmp = copy(f, "out");
	struct stat a, b;
	stat_copy(f, tmp, "sub/setuid", &a);
	assert_int_equal(a.st_mode, S_IFREG | 0555);
	assert_int_equal(a.st_size, 7);
	stat_copy(f, tmp, "empty", &a);
	stat_copy(f, tmp, "hard", &b);
	assert_int_not_equal(a.st_ino, b.st_ino); /* files of their own */
	assert_int_equal(a.st_nlink, 1);
	stat_copy(f, tmp, "absolute", &a);
	assert_true(S_ISLNK(a.st_mode)); /* as it is, and not followed */
	struct store_prepared p;
	assert_ok(store_prepare(f->s->tmp_fd, tmp, "out", DRV_NAR, NULL, NULL, &p, err));
	stat_copy(f, tmp, "sub", &a);
	assert_int_equal(a.st_mode & 07777, 0555);
	assert_ok(store_commit(f->s, &p, 1, err));
	store_prepared_free(&p);
	assert_clean(f->s);
	assert_int_equal(fstatat(f->fd, "out/sub/setuid", &a, 0), 0);
	assert_int_equal(a.st_mode & 07777, 06777); /* the source stays as it was */
}

static void test_single_things(void **state)
{
	struct fixture *f = *state;
	put_file(f->fd, "file", "text", 0700);
	assert_int_equal(symlinkat("/etc", f->fd, "link"), 0);
	_cleanup_free_ char *file = copy(f, "file"), *link = copy(f, "link");
	struct stat st;
	assert_int_equal(fstatat(f->s->tmp_fd, file, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0555);
	assert_int_equal(fstatat(f->s->tmp_fd, link, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(st.st_mode));
}

static void test_refuses(void **state)
{
	struct fixture *f = *state;
	refuse(f, "absent", "absent: can't find it");
	assert_int_equal(mkdirat(f->fd, "a", 0700), 0);
	put_file(f->fd, "a/good", "text", 0600);
	assert_int_equal(mkfifoat(f->fd, "a/pi\npe", 0600), 0);
	refuse(f, "a", "a/pi?pe: a device, pipe or socket");
	assert_int_equal(mkdirat(f->fd, "b", 0700), 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	snprintf(at.sun_path, sizeof at.sun_path, "%s/b/socket", f->folder);
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof at), 0);
	refuse(f, "b", "b/socket: a device, pipe or socket");
}

static void test_refuses_device(void **state)
{
	struct fixture *f = *state;
	if (mknodat(f->fd, "null", S_IFCHR | 0666, makedev(1, 3)) < 0) {
		printf("skipped: devices: needs root\n");
		fflush(stdout);
		skip();
	}
	refuse(f, "null", "null: a device, pipe or socket");
}

/* Folders too deep for any path, made through descriptors. */
static void make_deep(struct fixture *f, const char *name, int depth)
{
	assert_int_equal(mkdirat(f->fd, name, 0700), 0);
	int at = openat(f->fd, name, O_PATH | O_DIRECTORY);
	for (int i = 1; i < depth; i++) {
		assert_int_equal(mkdirat(at, "a-rather-long-name-for-a-folder", 0700), 0);
		int next = openat(at, "a-rather-long-name-for-a-folder", O_PATH | O_DIRECTORY);
		close(at);
		at = next;
	}
	close(at);
}

static void test_depth(void **state)
{
	struct fixture *f = *state;
	make_deep(f, "deep", 256);
	make_deep(f, "deeper", 257);
	make_deep(f, "deepest", 1000);
	_cleanup_free_ char *tmp = copy(f, "deep");
	assert_ok(fs_remove_tree(f->s->tmp_fd, tmp, err));
	refuse(f, "deeper", "nested deeper than 256");
	refuse(f, "deepest", "nested deeper than 256");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_copies),
		store_test(test_single_things),
		store_test(test_refuses),
		store_test(test_refuses_device),
		store_test(test_depth),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
