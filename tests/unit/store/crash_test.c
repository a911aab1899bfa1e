/* Many processes at once on one store, and processes that are killed at any moment. */
#include "unit/store/killed.h"

/* Objects that every process adds, in an order of its own, with references among them. */
static int add_many(const char *folder, unsigned seed, int rounds)
{
	struct err e = { 0 };
	struct store *s = store_open(folder, STORE_WRITE, &e);
	for (int i = 0; s && i < rounds; i++) {
		unsigned k = (seed * 7 + (unsigned)i * 5) % 40;
		_cleanup_free_ char *text = mem_printf("text %u", k), *name = mem_printf("t%u.drv", k);
		_cleanup_free_ char *tmp = store_tmp_name(s, "tree", &e);
		struct store_text t = { name, slice_of(text), NULL };
		struct store_prepared p = { 0 };
		_cleanup_close_ int lock = store_lock(s, k % 2 ? "odd" : "even", true, NULL, &e);
		if (!tmp || lock < 0 || store_add_texts(s, &t, 1, &e) < 0)
			break;
		fs_close_ptr(&lock);
		if (mkdirat(s->tmp_fd, tmp, 0700) < 0)
			break;
		_cleanup_close_ int dir = openat(s->tmp_fd, tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fs_write_file(dir, "a", text, strlen(text), 0600, &e) < 0 ||
		    store_prepare(s->tmp_fd, tmp, "tree", DRV_NAR, NULL, NULL, &p, &e) < 0)
			break;
		int rc = store_commit(s, &p, 1, &e);
		if (rc == 0)
			rc = store_realisation_add(s, text, p.path, &e);
		if (rc == 0)
			rc = store_root_set(s, name, p.path, NULL, &e);
		store_prepared_free(&p);
		if (rc < 0)
			break;
	}
	if (e.msg)
		fprintf(stderr, "%s\n", e.msg);
	int failed = !s || e.msg;
	store_close(s);
	err_clear(&e);
	return failed;
}

static pid_t start(struct fixture *f, unsigned seed, int rounds)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(add_many(f->store_folder, seed, rounds));
	assert_true(pid > 0);
	return pid;
}

static void test_many_at_once(void **state)
{
	enum { PROCESSES = 6 };
	struct fixture *f = *state;
	for (unsigned i = 0; i < PROCESSES; i++)
		start(f, i, 60);
	for (int i = 0; i < PROCESSES; i++) {
		int status;
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_clean(f->s);
	assert_int_equal(count_tmp(f->s), 0);
}

/* One deletes what others add. */
static int delete_many(const char *folder, int rounds)
{
	struct err e = { 0 };
	struct store *s = store_open(folder, STORE_WRITE, &e);
	for (int i = 0; s && i < rounds && !e.msg; i++) {
		_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
		fs_list(s->objects_fd, &names, &e);
		if (names.count == 0)
			continue;
		_cleanup_free_ char *path = mem_printf(STORE_DIR "/%s", names.items[(size_t)i % names.count]);
		const char *paths[] = { path };
		store_delete(s, paths, 1, &e);
	}
	if (e.msg)
		fprintf(stderr, "%s\n", e.msg);
	int failed = !s || e.msg;
	store_close(s);
	return failed;
}

static int add_texts_only(const char *folder, int rounds)
{
	struct err e = { 0 };
	struct store *s = store_open(folder, STORE_WRITE, &e);
	for (int i = 0; s && i < rounds && !e.msg; i++) {
		_cleanup_free_ char *text = mem_printf("text %d", i % 5);
		struct store_text t = { "same.drv", slice_of(text), NULL };
		store_add_texts(s, &t, 1, &e);
	}
	if (e.msg)
		fprintf(stderr, "%s\n", e.msg);
	int failed = !s || e.msg;
	store_close(s);
	return failed;
}

static void test_adding_against_deleting(void **state)
{
	struct fixture *f = *state;
	fflush(NULL);
	for (int i = 0; i < 4; i++)
		if (fork() == 0)
			_exit(i == 0 ? delete_many(f->store_folder, 300) : add_texts_only(f->store_folder, 300));
	for (int i = 0; i < 4; i++) {
		int status;
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_clean(f->s);
}

/* Killed after a random time; the store verifies, and the same work done again succeeds. */
static void test_killed(void **state)
{
	struct fixture *f = *state;
	unsigned seed = 1;
	int killed = 0;
	for (int round = 0; round < 60; round++) {
		pid_t pid = start(f, (unsigned)round, 400);
		seed = seed * 1103515245 + 12345;
		usleep((seed >> 8) % 30000);
		assert_int_equal(kill(pid, SIGKILL), 0);
		int status;
		assert_int_equal(waitpid(pid, &status, 0), pid);
		killed += WIFSIGNALED(status);
		struct store *s = open_or_fail(f->store_folder, STORE_WRITE);
		assert_clean(s);
		assert_int_equal(count_tmp(s), 0);
		store_close(s);
		if (round % 10 == 9) { /* start afresh, so that adding is what is interrupted */
			store_close(f->s);
			assert_ok(fs_remove_tree(f->fd, "store", err));
			f->s = open_or_fail(f->store_folder, STORE_WRITE);
		}
	}
	assert_true(killed > 20);
	assert_int_equal(add_many(f->store_folder, 3, 60), 0);
	assert_clean(f->s);
}

/* Everything that writes, once. */
static int one_of_each(const char *folder)
{
	struct err e = { 0 };
	struct store *s = store_open(folder, STORE_WRITE, &e);
	_cleanup_free_ char *tmp = s ? store_tmp_name(s, "tree", &e) : NULL;
	struct store_text texts[] = { { "a.drv", SLICE("a"), NULL }, { "b.drv", SLICE("b"), NULL } };
	struct store_prepared p = { 0 };
	int rc = tmp ? store_add_texts(s, texts, 2, &e) : -1;
	if (rc == 0)
		rc = mkdirat(s->tmp_fd, tmp, 0700);
	_cleanup_close_ int dir = rc < 0 ? -1 : openat(s->tmp_fd, tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (rc == 0)
		rc = fs_write_file(dir, "file", "text", 4, 0600, &e);
	if (rc == 0)
		rc = store_prepare(s->tmp_fd, tmp, "tree", DRV_NAR, NULL, NULL, &p, &e);
	if (rc == 0)
		rc = store_commit(s, &p, 1, &e);
	if (rc == 0)
		rc = store_realisation_add(s, "sha256:00!out", p.path, &e);
	if (rc == 0)
		rc = store_root_set(s, "root", p.path, NULL, &e);
	const char *gone[] = { STORE_DIR "/dc04vv14dak1c1r48qa0m23vr9jy8sm0-missing" };
	if (rc == 0)
		rc = store_delete(s, gone, 1, &e);
	if (e.msg)
		fprintf(stderr, "%s\n", e.msg);
	store_prepared_free(&p);
	store_close(s);
	return rc < 0;
}

static void test_killed_after_each_system_call(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *folder = fs_join(f->folder, "fresh");
	int killed = 0;
	for (long n = 1;; n++) {
		int rc = kill_after_or_skip(one_of_each, folder, n);
		struct store *s = open_or_fail(folder, STORE_READ);
		assert_clean(s);
		store_close(s);
		assert_int_equal(one_of_each(folder), 0);
		s = open_or_fail(folder, STORE_WRITE);
		assert_clean(s);
		assert_int_equal(count_tmp(s), 0);
		store_close(s);
		assert_ok(fs_remove_tree(f->fd, "fresh", err));
		if (rc == 0)
			break;
		killed++;
	}
	assert_true(killed > 150);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_many_at_once),
		store_test(test_adding_against_deleting),
		store_test(test_killed),
		store_test(test_killed_after_each_system_call),
	};
	/* A killed process loses nothing that it wrote, whatever holds the files: take what is fast. */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
