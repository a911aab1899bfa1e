#include "unit/store/fixture.h"

#include <errno.h>
#include <grp.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

/* Run fn in a child, so that it can give up rights and mounts; its result is its exit status. */
static int in_child(int (*fn)(struct fixture *f), struct fixture *f)
{
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(fn(f));
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void need_root(const char *name)
{
	if (geteuid() == 0)
		return;
	printf("skipped: %s: needs root\n", name);
	fflush(stdout);
	skip();
}

static void test_layout(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = { "objects", "tmp", "log", "roots", "cache", "locks", "db.sqlite" };
	for (size_t i = 0; i < 7; i++)
		assert_int_equal(faccessat(f->fd, "store", F_OK, 0) | faccessat(f->s->root_fd, names[i], F_OK, 0), 0);
	assert_string_equal(store_folder(f->s), f->store_folder);
	_cleanup_free_ char *physical = store_physical(f->s, STORE_DIR "/dc04vv14dak1c1r48qa0m23vr9jy8sm0-other");
	_cleanup_free_ char *wanted = mem_printf("%s/objects/dc04vv14dak1c1r48qa0m23vr9jy8sm0-other", f->store_folder);
	assert_string_equal(physical, wanted);
}

static void test_missing_is_empty(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *folder = fs_join(f->folder, "none");
	struct store *s = open_or_fail(folder, STORE_READ);
	const char *path = STORE_DIR "/dc04vv14dak1c1r48qa0m23vr9jy8sm0-other";
	struct store_info info;
	char *out = NULL;
	assert_int_equal(store_valid(s, path, NULL), 0);
	assert_int_equal(store_query(s, path, &info, NULL), 0);
	assert_int_equal(store_realisation(s, "sha256:00!out", &out, NULL), 0);
	assert_int_equal(store_verify(s, true, NULL, NULL, NULL), 0);
	struct store_text t = { "x.drv", SLICE("x"), NULL };
	assert_refused(store_add_texts(s, &t, 1, err), "opened for reading only");
	assert_null(store_tmp_name(s, "x", NULL));
	store_close(s);
	assert_false(fs_exists(folder));
}

static void set_version(struct fixture *f, int version)
{
	_cleanup_free_ char *sql = mem_printf("PRAGMA user_version = %d", version);
	assert_ok(db_exec(f->s->db, sql, err));
}

static void test_newer_store(void **state)
{
	struct fixture *f = *state;
	set_version(f, DB_VERSION + 1);
	for (int mode = STORE_READ; mode <= STORE_WRITE; mode++) {
		struct err e = { 0 };
		assert_null(store_open(f->store_folder, (enum store_mode)mode, &e));
		_cleanup_free_ char *words = mem_printf("written by a newer forge (format %d; this forge knows up to %d)",
			DB_VERSION + 1, DB_VERSION);
		assert_non_null(strstr(e.msg, words));
		assert_non_null(strstr(e.msg, f->store_folder));
		err_clear(&e);
	}
	set_version(f, DB_VERSION);
}

/* Format 2 did not know when what was used. */
#define TO_2 "ALTER TABLE path DROP COLUMN used; DROP TABLE manifest; PRAGMA user_version = 2; "
/* Format 1 had no notes. */
#define TO_1 TO_2 "DROP INDEX build_name; ALTER TABLE build DROP COLUMN note; PRAGMA user_version = 1; "

static void make_format(struct fixture *f, int version)
{
	assert_ok(db_exec(f->s->db, "INSERT INTO build (drv, name, what, start_ms, end_ms, cpu_ms, peak_memory, status) "
		"VALUES ('/forge/store/x.drv', 'old', 'build', 1, 2, 3, 4, 0)", err));
	assert_ok(db_exec(f->s->db, version == 1 ? TO_1 : TO_2, err));
}

static int see_old(void *ctx, const struct store_build *b)
{
	*(bool *)ctx = strcmp(b->name, "old") == 0 && !b->note;
	return 0;
}

static void test_older_store(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *path = add_tree(f, "tree", "text", NULL);
	for (int i = 0; i < 4; i++) {
		bool seen = false;
		fixture_reopen(f, STORE_WRITE);
		make_format(f, 1 + i / 2);
		store_close(f->s);
		f->s = open_or_fail(f->store_folder, i % 2 ? STORE_READ : STORE_WRITE);
		assert_int_equal(db_version(f->s->db, NULL), DB_VERSION);
		assert_int_equal(store_builds(f->s, NULL, 1, see_old, &seen, NULL), 0);
		assert_true(seen);
		assert_valid(f, path, 1);
		assert_clean(f->s);
	}
}

static void test_not_a_database(void **state)
{
	struct fixture *f = *state;
	static char junk[8192] = "this is no database";
	_cleanup_free_ char *folder = fs_join(f->folder, "other"), *file = fs_join(folder, "db.sqlite");
	assert_int_equal(mkdir(folder, 0755), 0);
	assert_ok(fs_write_file(AT_FDCWD, file, junk, sizeof junk, 0644, err));
	struct err e = { 0 };
	assert_null(store_open(folder, STORE_WRITE, &e));
	assert_non_null(strstr(e.msg, "db.sqlite is damaged"));
	err_clear(&e);
	_cleanup_free_ char *plain = fs_join(f->folder, "plain");
	assert_ok(fs_write_file(AT_FDCWD, plain, "x", 1, 0644, err));
	assert_null(store_open(plain, STORE_WRITE, &e));
	assert_non_null(strstr(e.msg, "is not a folder"));
	err_clear(&e);
}

/* What every reader must see. */
static int read_store(const char *folder, const char *path)
{
	struct err err = { 0 };
	struct store *s = store_open(folder, STORE_READ, &err);
	int good = s && store_valid(s, path, &err) == 1 && store_verify(s, true, NULL, NULL, &err) == 0;
	if (!good)
		fprintf(stderr, "%s\n", err.msg ? err.msg : "the object is not seen");
	store_close(s);
	return good ? 0 : 1;
}

static char *known_path; /* for the children below */

static int read_as_stranger(struct fixture *f)
{
	if (setgroups(0, NULL) < 0 || setresgid(65534, 65534, 65534) < 0 || setresuid(65534, 65534, 65534) < 0)
		return 2;
	struct err e = { 0 };
	if (store_open(f->store_folder, STORE_WRITE, &e) || !strstr(e.msg, "can't be written (name another with --store"))
		return 3;
	err_clear(&e);
	return read_store(f->store_folder, known_path);
}

static void open_up(struct fixture *f)
{
	assert_int_equal(chmod(f->folder, 0755), 0);
	assert_int_equal(chmod(f->store_folder, 0755), 0);
}

static void test_stranger_reads(void **state)
{
	struct fixture *f = *state;
	need_root("stranger reads");
	open_up(f);
	known_path = add_tree(f, "tree", "text", NULL);
	assert_int_equal(in_child(read_as_stranger, f), 0); /* with a writer that has it open */
	store_close(f->s);
	assert_int_equal(in_child(read_as_stranger, f), 0); /* closed cleanly */
	_cleanup_free_ char *wal = fs_join(f->store_folder, "db.sqlite-wal"), *shm = fs_join(f->store_folder, "db.sqlite-shm");
	assert_true(unlink(wal) == 0 && unlink(shm) == 0);
	assert_int_equal(in_child(read_as_stranger, f), 0); /* a bare copy */
	f->s = open_or_fail(f->store_folder, STORE_WRITE);
	free(known_path);
}

static int read_mounted_read_only(struct fixture *f)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(f->folder, f->folder, NULL, MS_BIND, NULL) < 0 ||
	    mount(NULL, f->folder, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
		return 2;
	struct err e = { 0 };
	if (store_open(f->store_folder, STORE_WRITE, &e) || !strstr(e.msg, "can't be written (name another with --store") ||
	    !strstr(e.msg, "Read-only file system"))
		return fprintf(stderr, "%s\n", e.msg ? e.msg : "opened"), 3;
	err_clear(&e);
	return read_store(f->store_folder, known_path);
}

static void test_read_only_mount(void **state)
{
	struct fixture *f = *state;
	need_root("read-only mount");
	known_path = add_tree(f, "tree", "text", NULL);
	store_close(f->s);
	assert_int_equal(in_child(read_mounted_read_only, f), 0);
	_cleanup_free_ char *wal = fs_join(f->store_folder, "db.sqlite-wal"), *shm = fs_join(f->store_folder, "db.sqlite-shm");
	assert_true(unlink(wal) == 0 && unlink(shm) == 0);
	assert_int_equal(in_child(read_mounted_read_only, f), 0);
	f->s = open_or_fail(f->store_folder, STORE_WRITE);
	free(known_path);
}

/* Many processes find no store and lay it out together. */
static int create_and_add(struct fixture *f)
{
	_cleanup_free_ char *folder = fs_join(f->folder, "fresh/store");
	struct err e = { 0 };
	struct store *s = store_open(folder, STORE_WRITE, &e);
	struct store_text t = { "same.drv", SLICE("the same text"), NULL };
	int rc = s ? store_add_texts(s, &t, 1, &e) : -1;
	if (rc < 0)
		fprintf(stderr, "%s\n", e.msg);
	store_close(s);
	return rc < 0;
}

static void test_created_by_many(void **state)
{
	struct fixture *f = *state;
	fflush(NULL);
	for (int i = 0; i < 12; i++)
		if (fork() == 0)
			_exit(create_and_add(f));
	for (int i = 0; i < 12; i++) {
		int status;
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	_cleanup_free_ char *folder = fs_join(f->folder, "fresh/store");
	struct store *s = open_or_fail(folder, STORE_READ);
	assert_clean(s);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_layout),
		store_test(test_missing_is_empty),
		store_test(test_newer_store),
		store_test(test_older_store),
		store_test(test_not_a_database),
		store_test(test_stranger_reads),
		store_test(test_read_only_mount),
		store_test(test_created_by_many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
