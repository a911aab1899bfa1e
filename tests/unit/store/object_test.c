/* The ways into an object's place, also where the file system knows neither of renameat2()'s flags. */
#include "unit/store/fixture.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* From here on renameat2() says EINVAL, as such a file system does. */
static bool forbid_renameat2(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof code / sizeof *code, code };
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static void rename_new(struct fixture *f)
{
	put_file(f->fd, "file", "a", 0600);
	put_file(f->fd, "file2", "b", 0600);
	assert_int_equal(symlinkat("nowhere", f->fd, "link"), 0);
	assert_int_equal(mkdirat(f->fd, "folder", 0700) | mkdirat(f->fd, "folder2", 0700), 0);
	put_file(f->fd, "folder/a", "a", 0600);
	put_file(f->fd, "folder2/a", "b", 0600);
	assert_int_equal(mkdirat(f->fd, "to", 0700), 0);
	_cleanup_close_ int to = openat(f->fd, "to", O_RDONLY | O_DIRECTORY);
	static const struct { const char *from, *to; int wanted; } rows[] = {
		{ "file", "f", 0 }, { "file2", "f", EEXIST }, { "link", "f", EEXIST }, { "link", "l", 0 },
		{ "folder", "d", 0 }, { "folder2", "d", EEXIST }, { "folder2", "f", EEXIST }, { "file2", "d", EEXIST },
		{ "absent", "x", ENOENT },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(object_rename_new(f->fd, rows[i].from, to, rows[i].to), rows[i].wanted);
		bool left = faccessat(f->fd, rows[i].from, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
		assert_int_equal(left, rows[i].wanted == EEXIST);
	}
	_cleanup_buf_ struct buf text = BUF_INIT;
	assert_ok(fs_read_file(to, "f", 10, &text, err));
	assert_string_equal(text.data, "a");
}

static void add_and_repair(struct fixture *f)
{
	_cleanup_free_ char *path = add_tree(f, "a", "text", NULL), *again = add_tree(f, "a", "text", NULL);
	_cleanup_free_ char *file = mem_printf("%s/data", store_path_base(path)), *tmp = put_tree(f, "text");
	assert_int_equal(fchmodat(f->s->objects_fd, file, 0644, 0), 0);
	put_file(f->s->objects_fd, file, "Text", 0444);
	assert_int_equal(store_verify(f->s, true, NULL, NULL, NULL), 1);
	assert_ok(store_repair(f->s, path, tmp, err));
	assert_clean(f->s);
	assert_int_equal(count_tmp(f->s), 0);
}

static void test_with_flags(void **state)
{
	rename_new(*state);
	add_and_repair(*state);
}

/* In a child: a filter can't be taken off again. */
static void test_without_flags(void **state)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		if (!forbid_renameat2() || syscall(SYS_renameat2, -1, "", -1, "", 0) == 0 || errno != EINVAL)
			_exit(99);
		rename_new(*state);
		add_and_repair(*state);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 99) {
		printf("skipped: without renameat2: no seccomp filters here\n");
		fflush(stdout);
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_ca(void **state)
{
	struct hash h;
	assert_ok(hash_parse(slice_of("04zwf782yjwnh3q6hz5izfd6jyip8kgw6g6yj43fiqhbyhdd0dqw"), &h, err));
	_cleanup_free_ char *nar = object_ca(DRV_NAR, &h), *flat = object_ca(DRV_FLAT, &h), *text = object_ca(DRV_TEXT, &h);
	assert_string_equal(nar, "fixed:r:sha256:04zwf782yjwnh3q6hz5izfd6jyip8kgw6g6yj43fiqhbyhdd0dqw");
	assert_string_equal(flat, "fixed:sha256:04zwf782yjwnh3q6hz5izfd6jyip8kgw6g6yj43fiqhbyhdd0dqw");
	assert_string_equal(text, "text:sha256:04zwf782yjwnh3q6hz5izfd6jyip8kgw6g6yj43fiqhbyhdd0dqw");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_with_flags),
		store_test(test_without_flags),
		cmocka_unit_test(test_ca),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
