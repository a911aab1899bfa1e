/* What is left when a build is over: src/sandbox/result.c. */
#include "unit/sandbox/fixture.h"

struct answer {
	int fd, type;
	bool missing;
	struct err err;
};

static struct answer ask(struct fixture *f, const char *path)
{
	struct answer a = { .fd = -1 };
	struct stat st;
	a.fd = sandbox_open_result(f->scratch, path, &a.missing, &a.err);
	if (a.fd >= 0 && fstat(a.fd, &st) == 0)
		a.type = (int)(st.st_mode & S_IFMT);
	if (a.fd >= 0)
		close(a.fd);
	return a;
}

static void expect_missing(struct fixture *f, const char *path)
{
	struct answer a = ask(f, path);
	assert_int_equal(a.fd, -1);
	assert_true(a.missing);
	assert_int_equal(a.err.code, ERR_NONE);
}

/* In a process of the user's own, where that is another: shut files are to be opened by their owner. */
static void look(struct fixture *f)
{
	assert_int_equal(ask(f, "/forge/store/out").type, S_IFREG);
	assert_int_equal(ask(f, "/forge/store/tree").type, S_IFDIR);
	assert_int_equal(ask(f, "/forge/store/link").type, S_IFLNK);
	assert_int_equal(ask(f, "/forge/store").type, S_IFDIR);
	assert_int_equal(ask(f, "/build/home").type, S_IFDIR);
	expect_missing(f, "/forge/store/none");
	expect_missing(f, "/forge/store/out/below");
	expect_missing(f, "/etc/passwd");
	expect_missing(f, "/forge/storeroom");
	struct answer pipe = ask(f, "/forge/store/pipe");
	assert_false(pipe.missing);
	assert_int_equal(pipe.err.code, ERR_BUILD);
	err_clear(&pipe.err);
	struct answer through = ask(f, "/forge/store/link/x"); /* a link on the way is not followed */
	assert_int_equal(through.fd, -1);
	err_clear(&through.err);
	struct answer up = ask(f, "/forge/store/../../log");
	assert_int_equal(up.fd, -1);
	err_clear(&up.err);
}

static void test_results(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "outputs"), 0);
	assert_not_said(f->out->log, ": E");
	pid_t pid = fork();
	if (pid == 0) {
		struct err err = { 0 };
		become(f->who);
		look(f);
		if (sandbox_scratch_remove(f->scratch, &err) < 0)
			fprintf(stderr, "%s\n", err.msg);
		_exit(fs_exists(f->scratch) ? 9 : 0);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
	world_free(f);
}

static void test_remove(void **state)
{
	struct tempdir t = tempdir_make();
	struct err err = { 0 };
	_cleanup_free_ char *folder = fs_join(t.path, "a"), *slash = fs_join(t.path, "a/"), *dots = fs_join(t.path, "..");
	_cleanup_free_ char *gone = fs_join(t.path, "gone/gone"), *whiteout = fs_join(folder, "w"), *link = fs_join(folder, "l");
	assert_int_equal(mkdir(folder, 0700), 0);
	assert_int_equal(symlink("/", link), 0);
	if (mknod(whiteout, S_IFCHR, 0) < 0)
		assert_int_equal(errno, EPERM); /* not here */
	assert_int_equal(sandbox_scratch_remove(slash, &err), 0);
	assert_false(fs_exists(folder));
	assert_int_equal(sandbox_scratch_remove(slash, &err), 0); /* again */
	assert_int_equal(sandbox_scratch_remove(gone, &err), 0);
	assert_int_equal(sandbox_scratch_remove(dots, &err), -1);
	assert_said(err.msg, "no scratch folder");
	assert_int_equal(sandbox_scratch_remove("/", &err), -1);
	err_clear(&err);
	tempdir_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = { BOTH(test_results), cmocka_unit_test(test_remove) };
	return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
