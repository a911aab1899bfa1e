/* A store on a file system that fills up: one clear line, and a store that is still valid. */
#include "unit/store/fixture.h"

#include <errno.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "store/gc.h"

/* In a mount namespace of its own: a file system of 4 MiB at f->folder. */
static bool mount_small(struct fixture *f)
{
	return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
		mount("forge-test", f->folder, "tmpfs", MS_NOSUID, "size=4m,nr_inodes=2000") == 0;
}

#define expect(what) do { \
	if (!(what)) { \
		fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #what, e.msg ? e.msg : ""); \
		return 1; \
	} \
} while (0)

static bool says_full(const struct err *e, const char *folder)
{
	return e->msg && e->code == ERR_SYS && e->sys == ENOSPC && strstr(e->msg, "the disk is full: can't write") &&
		strstr(e->msg, folder) && !strchr(e->msg, '\n');
}

static bool clean(struct store *s)
{
	return store_verify(s, true, NULL, NULL, NULL) == 0;
}

/* Leave `left` bytes; the name of what fills the rest is "filler". */
static bool fill(struct fixture *f, size_t left)
{
	static char block[4096];
	_cleanup_close_ int fd = open(f->folder, O_RDONLY | O_DIRECTORY);
	_cleanup_close_ int out = openat(fd, "filler", O_RDWR | O_CREAT | O_TRUNC, 0600);
	off_t size = 0;
	for (ssize_t n; (n = write(out, block, sizeof block)) > 0;)
		size += n;
	return ftruncate(out, size > (off_t)left ? size - (off_t)left : 0) == 0;
}

/* A copy, a batch of texts and the database, each with less and less room. */
static int run_full(struct fixture *f)
{
	struct err e = { 0 };
	expect(mount_small(f));
	struct store *s = store_open(f->store_folder, STORE_WRITE, &e);
	expect(s);
	_cleanup_close_ int outside = open(f->store_folder, O_RDONLY | O_DIRECTORY);
	static char big[600000];
	memset(big, 'x', sizeof big);
	expect(fs_write_file(outside, "big", big, sizeof big, 0600, &e) == 0);
	char *path = NULL;
	expect(fill(f, 300000));
	expect(store_add_path(s, outside, "big", "big", DRV_NAR, &path, &e) < 0 && says_full(&e, f->store_folder));
	err_clear(&e);
	expect(count_tmp(s) == 0 && clean(s));

	int failed = 0;
	for (size_t left = 0; left <= 400000; left += 20480) {
		expect(fill(f, left));
		_cleanup_free_ char *text = mem_printf("%0*zu", 40000, left);
		struct store_text texts[] = { { "a.drv", slice_of(text), NULL }, { "b.drv", slice_of(text), NULL } };
		int rc = store_add_texts(s, texts, 2, &e);
		expect(rc == 0 || says_full(&e, f->store_folder));
		failed += rc < 0;
		err_clear(&e);
		expect(count_tmp(s) == 0 && clean(s));
		expect(fill(f, 1000000)); /* room again: the same command succeeds */
		expect(store_add_texts(s, texts, 2, &e) == 0 && clean(s));
	}
	expect(failed > 2);
	unlinkat(outside, "../filler", 0);
	expect(store_add_path(s, outside, "big", "big", DRV_NAR, &path, &e) == 0 && clean(s));
	free(path);
	store_close(s);
	return 0;
}

static int run_no_room_to_open(struct fixture *f)
{
	struct err e = { 0 };
	expect(mount_small(f));
	expect(fill(f, 0));
	expect(!store_open(f->store_folder, STORE_WRITE, &e) && strstr(e.msg, f->store_folder) && e.sys == ENOSPC);
	err_clear(&e);
	expect(fill(f, 1000000));
	struct store *s = store_open(f->store_folder, STORE_WRITE, &e);
	expect(s && clean(s));
	store_close(s);
	return 0;
}

/* Twenty objects of which one is kept, and rows enough that the journal of all does not fit into what is set aside;
 * then there is room for nothing. */
static int run_gc(struct fixture *f)
{
	struct err e = { 0 };
	static char big[20000];
	expect(mount_small(f));
	struct store *s = store_open(f->store_folder, STORE_WRITE, &e);
	expect(s);
	_cleanup_close_ int outside = open(f->store_folder, O_RDONLY | O_DIRECTORY);
	for (int i = 0; i < 20; i++) {
		_cleanup_free_ char *path = NULL;
		snprintf(big, sizeof big, "%d", i);
		expect(fs_write_file(outside, "big", big, sizeof big, 0600, &e) == 0);
		expect(store_add_path(s, outside, "big", "big", DRV_NAR, &path, &e) == 0);
		expect(i || store_root_set(s, "kept", path, NULL, &e) == 0);
	}
	expect(db_exec(s->db, "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 4000) INSERT INTO path "
		"(base, nar_hash, nar_size, ca, registered) SELECT hex(randomblob(16)) || '-x', zeroblob(32), 1, 'x', 1 FROM n",
		&e) == 0);
	store_close(s);
	expect(fill(f, 0));
	s = store_open(f->store_folder, STORE_WRITE, &e);
	expect(s);
	struct store_gc gc;
	struct store_gc_done done;
	expect(store_gc_plan(s, NULL, &gc, &e) == 0 && gc.dead.count == 4019);
	expect(store_gc_run(s, &gc, NULL, NULL, &done, &e) == 0);
	expect(done.removed == 4019 && done.left == 1 && clean(s) && count_tmp(s) == 0);
	store_gc_free(&gc);
	store_close(s);
	return 0;
}

static void in_child(struct fixture *f, int (*run)(struct fixture *), const char *name)
{
	if (geteuid() != 0) {
		printf("skipped: %s: needs root\n", name);
		fflush(stdout);
		skip();
	}
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(run(f));
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_full(void **state)
{
	in_child(*state, run_full, "full disk");
}

static void test_no_room_to_open(void **state)
{
	in_child(*state, run_no_room_to_open, "full disk when opening");
}

static void test_gc_makes_room(void **state)
{
	in_child(*state, run_gc, "gc on a full disk");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_full),
		store_test(test_no_room_to_open),
		store_test(test_gc_makes_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
