#include "unit/store/fixture.h"

#include <signal.h>
#include <sys/wait.h>

static size_t lock_files(struct fixture *f)
{
	_cleanup_close_ int dir = openat(f->s->root_fd, "locks", O_RDONLY | O_DIRECTORY);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	assert_ok(fs_list(dir, &names, err));
	return names.count;
}

static void test_one_holds(void **state)
{
	struct fixture *f = *state;
	struct store *other = open_or_fail(f->store_folder, STORE_WRITE);
	bool busy;
	_cleanup_close_ int held = store_lock(f->s, "a goal", true, &busy, NULL);
	assert_true(held >= 0 && !busy);
	struct err e = { 0 };
	assert_int_equal(store_lock(other, "a goal", false, &busy, &e), -1);
	assert_true(busy && !e.msg);
	_cleanup_close_ int another = store_lock(other, "another goal", false, &busy, NULL);
	assert_true(another >= 0 && !busy);
	fs_close_ptr(&held);
	_cleanup_close_ int now = store_lock(other, "a goal", false, &busy, NULL);
	assert_true(now >= 0 && !busy);
	store_close(other);
}

static void test_files_do_not_pile_up(void **state)
{
	struct fixture *f = *state;
	int fds[10];
	for (int i = 0; i < 10; i++) {
		_cleanup_free_ char *key = mem_printf("goal %d", i);
		fds[i] = store_lock(f->s, key, true, NULL, NULL);
		assert_true(fds[i] >= 0);
	}
	assert_int_equal(lock_files(f), 10);
	for (int i = 1; i < 10; i++)
		close(fds[i]);
	fixture_reopen(f, STORE_WRITE);
	assert_int_equal(lock_files(f), 1); /* the one that is held */
	close(fds[0]);
}

/* Many processes take and tidy the same lock; a counter in a file shows that they take turns. */
static int count_up(struct fixture *f, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		struct store *s = open_or_fail(f->store_folder, STORE_WRITE);
		_cleanup_close_ int held = store_lock(s, "counter", true, NULL, NULL);
		_cleanup_buf_ struct buf text = BUF_INIT;
		if (held < 0 || fs_read_file(f->fd, "counter", 100, &text, NULL) < 0)
			return 1;
		_cleanup_free_ char *next = mem_printf("%d", atoi(text.data) + 1);
		if (fs_write_file(f->fd, "counter", next, strlen(next), 0600, NULL) < 0)
			return 1;
		fs_close_ptr(&held);
		store_close(s);
	}
	return 0;
}

static void test_takes_turns(void **state)
{
	enum { PROCESSES = 8, ROUNDS = 50 };
	struct fixture *f = *state;
	put_file(f->fd, "counter", "0", 0600);
	fflush(NULL);
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0)
			_exit(count_up(f, ROUNDS));
	for (int i = 0; i < PROCESSES; i++) {
		int status;
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	_cleanup_buf_ struct buf text = BUF_INIT;
	assert_ok(fs_read_file(f->fd, "counter", 100, &text, err));
	assert_int_equal(atoi(text.data), PROCESSES * ROUNDS);
	assert_int_equal(lock_files(f), 0);
}

/* A process that is killed gives its lock up. */
static void test_killed_holder(void **state)
{
	struct fixture *f = *state;
	int ready[2];
	assert_int_equal(pipe(ready), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct store *s = store_open(f->store_folder, STORE_WRITE, NULL);
		int fd = store_lock(s, "goal", true, NULL, NULL);
		_exit(fd >= 0 && write(ready[1], "x", 1) == 1 ? (pause(), 0) : 1);
	}
	char c;
	assert_int_equal(read(ready[0], &c, 1), 1);
	bool busy;
	assert_int_equal(store_lock(f->s, "goal", false, &busy, NULL), -1);
	assert_true(busy);
	assert_int_equal(kill(pid, SIGKILL), 0);
	_cleanup_close_ int fd = store_lock(f->s, "goal", true, &busy, NULL);
	assert_true(fd >= 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_one_holds),
		store_test(test_files_do_not_pile_up),
		store_test(test_takes_turns),
		store_test(test_killed_holder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
