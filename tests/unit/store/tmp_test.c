#include "unit/store/fixture.h"

#include <signal.h>
#include <sys/wait.h>

static bool in_tmp(struct fixture *f, const char *name)
{
	return faccessat(f->s->tmp_fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_names(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = store_tmp_name(f->s, "a", NULL), *b = store_tmp_name(f->s, "../a b", NULL);
	assert_string_not_equal(a, b);
	assert_null(strchr(b, '/'));
	assert_true(str_ends(b, "-.._a_b"));
	char longer[500];
	memset(longer, 'x', sizeof longer);
	longer[499] = '\0';
	_cleanup_free_ char *c = store_tmp_name(f->s, longer, NULL);
	assert_true(strlen(c) < 150);
}

/* Live processes' trees stay, whoever opens the store. */
static void test_live_stays(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *tree = put_tree(f, "text");
	store_close(open_or_fail(f->store_folder, STORE_WRITE));
	assert_true(in_tmp(f, tree));
}

static void test_own_leftovers_go(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *tree = put_tree(f, "text");
	struct stat st;
	put_file(f->s->tmp_fd, "somebody-elses", "", 0600);
	fixture_reopen(f, STORE_READ);
	assert_false(in_tmp(f, tree));
	assert_true(in_tmp(f, "somebody-elses"));
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	assert_ok(fs_list(f->s->tmp_fd, &names, err));
	assert_int_equal(names.count, 1);
	assert_int_equal(fstatat(f->s->tmp_fd, "somebody-elses", &st, 0), 0);
}

static void test_kept(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = put_tree(f, "text"), *b = put_tree(f, "text");
	_cleanup_free_ char *first = store_tmp_keep(f->s, a, "flash attn", NULL);
	_cleanup_free_ char *second = store_tmp_keep(f->s, b, "flash attn", NULL);
	assert_true(str_starts(first, f->store_folder) && str_ends(first, "/tmp/kept-flash_attn-1"));
	assert_true(str_ends(second, "/tmp/kept-flash_attn-2"));
	assert_null(store_tmp_keep(f->s, a, "x", NULL));
	fixture_reopen(f, STORE_WRITE);
	fixture_reopen(f, STORE_WRITE);
	assert_true(fs_exists(first) && fs_exists(second));
}

/* A child makes a tree, says its name and is killed. */
static char *killed_with_tree(struct fixture *f, bool keep_worker, pid_t *worker)
{
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0) {
		f->s = open_or_fail(f->store_folder, STORE_WRITE);
		char *tree = put_tree(f, "text");
		pid_t child = keep_worker ? fork() : -1;
		if (child == 0)
			for (;;)
				pause();
		_exit(write(ready[1], &child, sizeof child) == sizeof child &&
			write(ready[1], tree, strlen(tree)) > 0 ? (pause(), 0) : 1);
	}
	char name[300];
	assert_int_equal(read(ready[0], worker, sizeof *worker), sizeof *worker);
	ssize_t n = read(ready[0], name, sizeof name - 1);
	assert_true(n > 0);
	name[n] = '\0';
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
	return mem_dup(name);
}

static void test_dead_goes(void **state)
{
	struct fixture *f = *state;
	pid_t worker;
	_cleanup_free_ char *tree = killed_with_tree(f, false, &worker);
	assert_true(in_tmp(f, tree));
	fixture_reopen(f, STORE_READ);
	assert_true(in_tmp(f, tree));
	fixture_reopen(f, STORE_WRITE);
	assert_false(in_tmp(f, tree));
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	assert_ok(fs_list(f->s->tmp_fd, &names, err));
	assert_int_equal(names.count, 0);
}

/* The process is dead, a worker of it is still writing. */
static void test_worker_keeps(void **state)
{
	struct fixture *f = *state;
	pid_t worker;
	_cleanup_free_ char *tree = killed_with_tree(f, true, &worker);
	fixture_reopen(f, STORE_WRITE);
	assert_true(in_tmp(f, tree));
	assert_int_equal(kill(worker, SIGKILL), 0);
	for (int i = 0; i < 500 && in_tmp(f, tree); i++) { /* its parent is gone: it can't be waited for */
		usleep(10000);
		fixture_reopen(f, STORE_WRITE);
	}
	assert_false(in_tmp(f, tree));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_names),
		store_test(test_live_stays),
		store_test(test_own_leftovers_go),
		store_test(test_kept),
		store_test(test_dead_goes),
		store_test(test_worker_keeps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
