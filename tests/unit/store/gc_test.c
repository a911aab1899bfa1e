/* What gc takes and what it leaves, beside other processes and killed at any moment. */
#include "unit/store/killed.h"

#include <errno.h>
#include <time.h>

#include "store/gc.h"

#define DAY 86400

static const uint64_t nothing; /* a bound of no bytes */

static bool on_disk(struct fixture *f, const char *path)
{
	return faccessat(f->s->objects_fd, store_path_base(path), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* An object that refers to another, or to none. */
static char *add(struct fixture *f, const char *name, const char *ref)
{
	_cleanup_str_list_ struct str_list refs = STR_LIST_INIT;
	if (ref)
		str_list_add(&refs, ref);
	return add_tree(f, name, ref ? ref : name, &refs);
}

static void sql(struct fixture *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void sql(struct fixture *f, const char *fmt, ...)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	assert_ok(db_exec(f->s->db, text.data, err));
}

static void set_used(struct fixture *f, const char *path, int days_ago)
{
	sql(f, "UPDATE path SET registered = 1, used = %lld WHERE base = '%s'", (long long)time(NULL) - days_ago * DAY,
		store_path_base(path));
}

static int64_t used_days_ago(struct fixture *f, const char *path)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(f->s->db, "SELECT used FROM path WHERE base = ?", NULL);
	db_bind_text(stmt, 1, store_path_base(path));
	assert_int_equal(db_step(f->s->db, stmt, NULL), 1);
	return ((int64_t)time(NULL) - sqlite3_column_int64(stmt, 0)) / DAY;
}

/* The names (after the digest) of what is to go, in order. */
static char *dead_names(const struct store_gc *gc)
{
	struct buf out = BUF_INIT;
	for (size_t i = 0; i < gc->dead.count; i++)
		buf_printf(&out, "%s%s", i ? " " : "", gc->dead.items[i].base + STORE_PATH_DIGEST + 1);
	return buf_steal(&out);
}

static void assert_plan(struct fixture *f, const uint64_t *max_size, const char *wanted)
{
	struct store_gc gc;
	assert_ok(store_gc_plan(f->s, max_size, &gc, err));
	_cleanup_free_ char *names = dead_names(&gc);
	assert_string_equal(names, wanted);
	store_gc_free(&gc);
}

/* What the process itself added or found is let go first. */
static struct store_gc_done collect(struct fixture *f, const uint64_t *max_size)
{
	struct store_gc gc;
	struct store_gc_done done;
	fixture_reopen(f, STORE_WRITE);
	assert_ok(store_gc_plan(f->s, max_size, &gc, err));
	assert_ok(store_gc_run(f->s, &gc, NULL, NULL, &done, err));
	assert_int_equal(done.left, gc.left);
	assert_int_equal(done.left_bytes, gc.left_bytes);
	store_gc_free(&gc);
	assert_clean(f->s);
	assert_int_equal(count_tmp(f->s), 0);
	return done;
}

static size_t count_objects(struct fixture *f)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	assert_ok(fs_list(f->s->objects_fd, &names, err));
	return names.count;
}

static void test_roots_keep_their_closure(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add(f, "a", NULL), *b = add(f, "b", a), *c = add(f, "c", b), *d = add(f, "d", a);
	_cleanup_free_ char *lone = add(f, "lone", NULL);
	assert_ok(store_root_set(f->s, "mine", b, NULL, err));
	assert_plan(f, NULL, ""); /* it holds what it added */
	fixture_reopen(f, STORE_WRITE);
	assert_plan(f, NULL, "c d lone");
	struct store_gc_done done = collect(f, NULL);
	assert_int_equal(done.removed, 3);
	assert_int_equal(done.left, 2);
	assert_true(done.bytes > 3 * 100 && done.left_bytes > 2 * 100);
	assert_true(on_disk(f, a) && on_disk(f, b) && !on_disk(f, c) && !on_disk(f, d) && !on_disk(f, lone));
	assert_valid(f, c, 0);
	assert_int_equal(collect(f, NULL).removed, 0);
}

static void test_an_empty_store(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(collect(f, NULL).removed, 0);
	assert_int_equal(collect(f, &nothing).removed, 0);
}

/* A chain of 3,000 and an object that refers to itself; nothing goes before what refers to it. */
static void test_chains(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *last = add(f, "link", NULL), *self = add(f, "self", NULL);
	sql(f, "INSERT INTO ref SELECT id, id FROM path WHERE base = '%s'", store_path_base(self));
	sql(f, "WITH RECURSIVE n(i) AS (VALUES (100) UNION ALL SELECT i + 1 FROM n WHERE i < 3100) INSERT INTO path "
		"(id, base, nar_hash, nar_size, ca, registered) "
		"SELECT i, printf('%%032d-x', i), zeroblob(32), 1, 'x', abs(random()) %% 1000 FROM n");
	sql(f, "INSERT INTO ref SELECT id, id - 1 FROM path WHERE id > 100");
	sql(f, "INSERT INTO ref SELECT 100, id FROM path WHERE base = '%s'", store_path_base(last));
	fixture_reopen(f, STORE_WRITE);
	struct store_gc gc;
	assert_ok(store_gc_plan(f->s, &nothing, &gc, err));
	assert_int_equal(gc.dead.count, 3003);
	size_t first = strcmp(gc.dead.items[0].base + STORE_PATH_DIGEST, "-self") == 0;
	for (size_t i = 0; i < 3000; i++)
		assert_true(strcmp(gc.dead.items[first + i].base, gc.dead.items[first + i + 1].base) > 0);
	store_gc_free(&gc);
	assert_int_equal(collect(f, &nothing).removed, 3003);
	assert_int_equal(count_objects(f), 0);
}

/* No content address gives one, but a damaged database must not make gc loop or take half of it. */
static void test_a_cycle_stays(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add(f, "a", NULL), *b = add(f, "b", a);
	sql(f, "INSERT INTO ref SELECT p.id, q.id FROM path p, path q WHERE p.base = '%s' AND q.base = '%s'",
		store_path_base(a), store_path_base(b));
	fixture_reopen(f, STORE_WRITE);
	assert_plan(f, &nothing, "");
}

static void test_compiles_stay_without_a_bound(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *compile = add(f, "compile-a.c", NULL), *out = add(f, "out", NULL);
	assert_ok(store_realisation_add(f->s, "sha256:01!" STORE_COMPILE_OUTPUT, compile, err));
	assert_ok(store_realisation_add(f->s, "sha256:02!out", out, err));
	assert_int_equal(collect(f, NULL).removed, 1);
	assert_valid(f, compile, 1);
	assert_int_equal(collect(f, &nothing).removed, 1);
	assert_valid(f, compile, 0);
	_cleanup_free_ char *found = NULL;
	assert_int_equal(store_realisation(f->s, "sha256:01!" STORE_COMPILE_OUTPUT, &found, NULL), 0);
}

static void test_the_least_recently_used_goes_first(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add(f, "a", NULL), *b = add(f, "b", NULL), *needed = add(f, "needed", NULL);
	_cleanup_free_ char *user = add(f, "user", needed), *c = add(f, "c", NULL), *root = add(f, "root", NULL);
	assert_ok(store_root_set(f->s, "root", root, NULL, err));
	assert_ok(store_realisation_add(f->s, "sha256:01!" STORE_COMPILE_OUTPUT, b, err));
	set_used(f, a, 3);
	set_used(f, b, 9);
	set_used(f, c, 5);
	set_used(f, user, 1); /* and so is what it needs */
	set_used(f, needed, 20);
	set_used(f, root, 30);
	fixture_reopen(f, STORE_WRITE);
	assert_plan(f, &nothing, "b c a user needed");
	assert_plan(f, NULL, "c a user needed");
	struct store_gc gc;
	assert_ok(store_gc_plan(f->s, &nothing, &gc, err));
	uint64_t all = gc.bytes + gc.left_bytes, less_one = all - gc.dead.items[0].bytes;
	const uint64_t bound[] = { all, less_one, less_one - 1 };
	store_gc_free(&gc);
	assert_plan(f, &bound[0], "");
	assert_plan(f, &bound[1], "b");
	assert_plan(f, &bound[2], "b c");
	assert_int_equal(collect(f, &bound[2]).removed, 2);
	assert_true(on_disk(f, a) && on_disk(f, needed) && !on_disk(f, b) && !on_disk(f, c));
	assert_int_equal(collect(f, &nothing).left, 1);
}

static void test_use_is_recorded_by_days(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *old = add(f, "old", NULL), *built = add(f, "built", NULL), *young = add(f, "young", NULL);
	assert_ok(store_realisation_add(f->s, "sha256:01!out", built, err));
	set_used(f, old, 9);
	set_used(f, built, 9);
	set_used(f, young, 0);
	sql(f, "UPDATE path SET used = used - 7200 WHERE base = '%s'", store_path_base(young));
	_cleanup_free_ char *found = NULL;
	fixture_reopen(f, STORE_READ);
	assert_valid(f, old, 1);
	fixture_reopen(f, STORE_WRITE);
	assert_int_equal(used_days_ago(f, old), 9); /* who only reads leaves no trace */
	assert_valid(f, old, 1);
	assert_valid(f, young, 1);
	_cleanup_free_ char *new = add(f, "new", NULL); /* what was found is written with it */
	assert_int_equal(used_days_ago(f, old), 0);
	assert_int_equal(store_realisation(f->s, "sha256:01!out", &found, NULL), 1);
	assert_int_equal(used_days_ago(f, built), 9);
	fixture_reopen(f, STORE_WRITE); /* and at the end */
	assert_int_equal(used_days_ago(f, built), 0);
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(f->s->db,
		"SELECT count(*) FROM path WHERE used > unixepoch() - 3600", NULL);
	assert_int_equal(db_step(f->s->db, stmt, NULL), 1);
	assert_int_equal(sqlite3_column_int(stmt, 0), 2); /* not that of today again */
}

/* As long as another has the store open, what that one found or added stays, with what it refers to. */
static void test_others_keep_what_they_found(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add(f, "a", NULL), *b = add(f, "b", a), *c = add(f, "c", NULL), *d = add(f, "d", NULL);
	assert_ok(store_realisation_add(f->s, "sha256:01!out", c, err));
	store_close(f->s);
	struct store *reader = open_or_fail(f->store_folder, STORE_READ), *other = open_or_fail(f->store_folder, STORE_WRITE);
	_cleanup_free_ char *found = NULL;
	f->s = open_or_fail(f->store_folder, STORE_WRITE);
	assert_int_equal(store_valid(reader, d, NULL), 1); /* who only reads keeps nothing */
	assert_int_equal(store_valid(other, b, NULL), 1);
	assert_int_equal(store_realisation(other, "sha256:01!out", &found, NULL), 1);
	struct store_text t = { "added.drv", SLICE("x"), NULL };
	assert_ok(store_add_texts(other, &t, 1, err));
	assert_plan(f, &nothing, "d");
	assert_int_equal(collect(f, &nothing).left, 4);
	store_close(other);
	assert_int_equal(collect(f, &nothing).left, 0);
	store_close(reader);
}

/* What comes into use between the plan and its turn. */
static void test_what_comes_into_use_stays(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add(f, "a", NULL), *b = add(f, "b", a), *c = add(f, "c", NULL), *d = add(f, "d", NULL);
	_cleanup_free_ char *e = add(f, "e", NULL), *x = add(f, "x", NULL);
	store_close(f->s);
	struct store *other = open_or_fail(f->store_folder, STORE_WRITE), *gone = open_or_fail(f->store_folder, STORE_WRITE);
	f->s = open_or_fail(f->store_folder, STORE_WRITE);
	set_used(f, e, 9);
	struct store_gc gc;
	struct store_gc_done done;
	assert_ok(store_gc_plan(f->s, &nothing, &gc, err));
	assert_int_equal(gc.dead.count, 6);
	assert_int_equal(store_valid(other, b, NULL), 1);           /* held, and so is a */
	_cleanup_str_list_ struct str_list refs = STR_LIST_INIT;
	str_list_add(&refs, c);
	struct store_text t = { "added.drv", slice_of(c), &refs };
	assert_ok(store_add_texts(other, &t, 1, err));               /* it refers to c */
	assert_ok(store_root_set(gone, "new", d, NULL, err));        /* a root */
	assert_int_equal(store_valid(gone, e, NULL), 1);             /* used: who found it has ended, but today */
	store_close(gone);
	assert_ok(store_gc_run(f->s, &gc, NULL, NULL, &done, err));
	assert_int_equal(done.removed, 1);
	assert_true(on_disk(f, a) && on_disk(f, b) && on_disk(f, c) && on_disk(f, d) && on_disk(f, e) && !on_disk(f, x));
	store_gc_free(&gc);
	store_close(other);
	assert_clean(f->s);
}

static void test_roots_that_keep_nothing(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *kept = add(f, "kept", NULL), *freed = add(f, "freed", NULL), *lost = add(f, "lost", NULL);
	_cleanup_free_ char *linked = add(f, "linked", NULL), *inside = add(f, "inside", NULL);
	const struct { const char *name, *path; } roots[] = { { "kept", kept }, { "freed", freed }, { "lost", lost } };
	for (size_t i = 0; i < 3; i++)
		assert_ok(store_root_set(f->s, roots[i].name, roots[i].path, NULL, err));
	_cleanup_free_ char *to_linked = store_physical(f->s, linked), *in = store_physical(f->s, inside);
	_cleanup_free_ char *to_inside = fs_join(in, "bin/program");
	_cleanup_close_ int dir = openat(f->s->root_fd, "roots", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(unlinkat(dir, "freed", 0), 0);             /* a person lets go */
	assert_ok(fs_remove_tree(f->s->objects_fd, store_path_base(lost), err));
	assert_int_equal(symlinkat(to_linked, dir, "by-hand"), 0);
	assert_int_equal(symlinkat(to_inside, dir, "by-hand-inside"), 0);
	assert_int_equal(symlinkat("../objects/dc04vv14dak1c1r48qa0m23vr9jy8sm0-never", dir, "nowhere"), 0);
	assert_int_equal(symlinkat("/elsewhere/objects/x", dir, "elsewhere"), 0);
	put_file(dir, "a-file", "x", 0600);
	fixture_reopen(f, STORE_WRITE);
	struct store_gc gc;
	assert_ok(store_gc_plan(f->s, NULL, &gc, err));
	assert_int_equal(gc.stale.count, 3);
	assert_string_equal(gc.stale.items[0], "freed");
	assert_string_equal(gc.stale.items[1], "lost");
	assert_string_equal(gc.stale.items[2], "nowhere");
	store_gc_free(&gc);
	assert_int_equal(collect(f, NULL).removed, 2);
	assert_true(on_disk(f, kept) && on_disk(f, linked) && on_disk(f, inside) && !on_disk(f, freed));
	_cleanup_str_list_ struct str_list left = STR_LIST_INIT;
	assert_ok(fs_list(dir, &left, err));
	assert_int_equal(left.count, 5);
	assert_false(str_list_has(&left, "lost") || str_list_has(&left, "nowhere"));
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(f->s->db, "SELECT group_concat(name) FROM root", NULL);
	assert_int_equal(db_step(f->s->db, stmt, NULL), 1);
	assert_string_equal(db_text(stmt, 0), "kept");
}

/* A root that came back between the plan and its turn. */
static void test_a_root_that_is_set_again_stays(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add(f, "a", NULL);
	assert_ok(store_root_set(f->s, "a", a, NULL, err));
	assert_int_equal(unlinkat(f->s->root_fd, "roots/a", 0), 0);
	fixture_reopen(f, STORE_WRITE);
	struct store_gc gc;
	struct store_gc_done done;
	assert_ok(store_gc_plan(f->s, NULL, &gc, err));
	assert_int_equal(gc.stale.count, 1);
	assert_int_equal(gc.dead.count, 1);
	assert_ok(store_root_set(f->s, "a", a, NULL, err));
	assert_ok(store_gc_run(f->s, &gc, NULL, NULL, &done, err));
	assert_int_equal(done.removed, 0);
	store_gc_free(&gc);
	assert_int_equal(collect(f, NULL).left, 1);
}

static void test_what_a_crash_left(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add(f, "a", NULL), *b = add(f, "b", NULL), *c = add(f, "c", NULL);
	sql(f, "DELETE FROM path WHERE base IN ('%s', '%s')", store_path_base(a), store_path_base(c));
	put_file(f->s->objects_fd, "no-object", "12345", 0444);
	fixture_reopen(f, STORE_WRITE);
	struct store_gc gc;
	struct store_gc_done done;
	assert_ok(store_gc_plan(f->s, NULL, &gc, err));
	assert_int_equal(gc.dead.count, 4);
	assert_int_equal(gc.left, 0);
	struct store *other = open_or_fail(f->store_folder, STORE_WRITE);
	struct fixture again = { f->folder, f->fd, f->store_folder, other };
	_cleanup_free_ char *same = add(&again, "c", NULL); /* it is registered again before its turn */
	store_close(other);
	assert_ok(store_gc_run(f->s, &gc, NULL, NULL, &done, err));
	assert_int_equal(done.removed, 3);
	store_gc_free(&gc);
	assert_true(!on_disk(f, a) && !on_disk(f, b) && on_disk(f, c));
	assert_clean(f->s);
}

static void test_reading_only(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add(f, "a", NULL);
	fixture_reopen(f, STORE_READ);
	struct store_gc gc;
	struct store_gc_done done;
	assert_ok(store_gc_plan(f->s, NULL, &gc, err));
	assert_int_equal(gc.dead.count, 1);
	assert_refused(store_gc_run(f->s, &gc, NULL, NULL, &done, err), "opened for reading only");
	store_gc_free(&gc);
	_cleanup_free_ char *none = fs_join(f->folder, "none");
	struct store *missing = open_or_fail(none, STORE_READ);
	assert_ok(store_gc_plan(missing, NULL, &gc, err));
	assert_int_equal(gc.dead.count, 0);
	store_gc_free(&gc);
	store_close(missing);
}

static void count_calls(void *ctx, size_t done, size_t total)
{
	size_t *calls = ctx;
	assert_true(done == *calls && total == 2500);
	++*calls;
}

/* More than one batch, and objects of which nothing is on disk. */
static void test_batches(void **state)
{
	struct fixture *f = *state;
	sql(f, "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 2500) INSERT INTO path "
		"(id, base, nar_hash, nar_size, ca, registered) SELECT i, printf('%%032d-x', i), zeroblob(32), 1, 'x', 1 FROM n");
	struct store_gc gc;
	struct store_gc_done done;
	size_t calls = 0;
	assert_ok(store_gc_plan(f->s, NULL, &gc, err));
	assert_ok(store_gc_run(f->s, &gc, count_calls, &calls, &done, err));
	assert_int_equal(calls, 2500);
	assert_int_equal(done.removed, 2500);
	assert_int_equal(done.left, 0);
	store_gc_free(&gc);
}

/* In a child: find or add, and what was found must be on disk until the end. */
static int use_many(const char *folder, unsigned seed, int rounds)
{
	struct err e = { 0 };
	for (int i = 0; i < rounds; i++) {
		struct store *s = store_open(folder, STORE_WRITE, &e);
		unsigned k = (seed * 7 + (unsigned)i * 5) % 12;
		_cleanup_free_ char *text = mem_printf("text %u", k), *id = mem_printf("sha256:%u!out", k), *found = NULL;
		struct store_text t = { "used.drv", slice_of(text), NULL };
		struct hash h;
		_cleanup_buf_ struct buf path = BUF_INIT;
		hash_of(text, strlen(text), &h);
		store_path_text(&h, t.name, &(struct str_list)STR_LIST_INIT, &path);
		int there = s ? store_realisation(s, id, &found, &e) : -1;
		if (there == 0 && (store_add_texts(s, &t, 1, &e) < 0 || store_realisation_add(s, id, path.data, &e) < 0))
			there = -1;
		for (int look = 0; there >= 0 && look < 5; look++) {
			if (store_valid(s, path.data, &e) != 1 ||
			    faccessat(s->objects_fd, store_path_base(path.data), F_OK, 0) < 0)
				there = err_set(&e, ERR_FAIL, "%s vanished", path.data);
			usleep(200);
		}
		store_close(s);
		if (there < 0) {
			fprintf(stderr, "%s\n", e.msg);
			return 1;
		}
	}
	return 0;
}

static int collect_all(const char *folder)
{
	struct err e = { 0 };
	struct store_gc gc = { 0 };
	struct store_gc_done done;
	struct store *s = store_open(folder, STORE_WRITE, &e);
	int rc = s ? store_gc_plan(s, &nothing, &gc, &e) : -1;
	if (rc == 0)
		rc = store_gc_run(s, &gc, NULL, NULL, &done, &e);
	if (rc < 0)
		fprintf(stderr, "%s\n", e.msg);
	store_gc_free(&gc);
	store_close(s);
	err_clear(&e);
	return rc < 0;
}

static int collect_often(const char *folder, int rounds)
{
	int failed = 0;
	for (int i = 0; i < rounds && !failed; i++)
		failed = collect_all(folder);
	return failed;
}

static void test_beside_those_who_use(void **state)
{
	enum { USERS = 4, COLLECTORS = 2 };
	struct fixture *f = *state;
	fflush(NULL);
	for (unsigned i = 0; i < USERS + COLLECTORS; i++)
		if (fork() == 0)
			_exit(i < USERS ? use_many(f->store_folder, i, 150) : collect_often(f->store_folder, 150));
	for (int i = 0; i < USERS + COLLECTORS; i++) {
		int status;
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
	assert_clean(f->s);
	collect(f, &nothing);
	assert_int_equal(count_objects(f), 0);
}

/* A store with all that gc can meet. */
static void put_all_kinds(const char *folder, char **kept)
{
	struct fixture f = { .store_folder = (char *)folder, .s = open_or_fail(folder, STORE_WRITE) };
	_cleanup_free_ char *a = add(&f, "a", NULL), *b = add(&f, "b", a), *c = add(&f, "c", b), *d = add(&f, "d", NULL);
	_cleanup_free_ char *freed = add(&f, "freed", NULL), *left = add(&f, "left", NULL);
	assert_ok(store_root_set(f.s, "b", b, NULL, err));
	assert_ok(store_root_set(f.s, "freed", freed, NULL, err));
	assert_ok(store_realisation_add(f.s, "sha256:01!out", d, err));
	assert_int_equal(unlinkat(f.s->root_fd, "roots/freed", 0), 0);
	sql(&f, "DELETE FROM path WHERE base = '%s'", store_path_base(left));
	store_close(f.s);
	*kept = steal_ptr(b);
}

static void test_killed_after_each_system_call(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *folder = fs_join(f->folder, "fresh");
	int killed = 0, rc = 1;
	for (long n = 1; rc; n++, killed += rc) {
		_cleanup_free_ char *kept = NULL;
		put_all_kinds(folder, &kept);
		rc = kill_after_or_skip(collect_all, folder, n);
		struct store *s = open_or_fail(folder, STORE_READ);
		assert_clean(s);
		assert_int_equal(store_valid(s, kept, NULL), 1);
		store_close(s);
		assert_int_equal(collect_all(folder), 0);
		s = open_or_fail(folder, STORE_WRITE);
		assert_clean(s);
		assert_int_equal(count_tmp(s), 0);
		_cleanup_str_list_ struct str_list objects = STR_LIST_INIT;
		assert_ok(fs_list(s->objects_fd, &objects, err));
		assert_int_equal(objects.count, 2);
		store_close(s);
		assert_ok(fs_remove_tree(f->fd, "fresh", err));
	}
	assert_true(killed > 150);
}

static int own_all_but(int dirfd, const char *name, const char *except)
{
	struct stat st;
	if (strcmp(name, except) == 0)
		return 0;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || fchownat(dirfd, name, 65534, 65534, AT_SYMLINK_NOFOLLOW) < 0)
		return -1;
	_cleanup_close_ int fd = S_ISDIR(st.st_mode) ? openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fd >= 0 && fs_list(fd, &names, NULL) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (own_all_but(fd, names.items[i], except) < 0)
			return -1;
	return 0;
}

/* As another user, to whom all belongs but one object, which therefore can't be moved. */
static int collect_as_stranger(const char *folder)
{
	struct err e = { 0 };
	struct store_gc gc;
	struct store_gc_done done;
	if (setgid(65534) < 0 || setuid(65534) < 0)
		return 2;
	struct store *s = store_open(folder, STORE_WRITE, &e);
	if (!s || store_gc_plan(s, NULL, &gc, &e) < 0 || store_gc_run(s, &gc, NULL, NULL, &done, &e) == 0)
		return 3;
	bool good = done.removed == 1 && done.left == 0 && e.sys == EPERM && strstr(e.msg, "-b: Operation not permitted");
	if (!good)
		fprintf(stderr, "%zu removed: %s\n", done.removed, e.msg);
	store_gc_free(&gc);
	store_close(s);
	err_clear(&e);
	return !good;
}

static void test_what_cant_be_removed_does_not_stop_it(void **state)
{
	struct fixture *f = *state;
	if (geteuid() != 0) {
		printf("skipped: an object that can't be removed: needs root\n");
		fflush(stdout);
		skip();
	}
	_cleanup_free_ char *a = add(f, "a", NULL), *b = add(f, "b", NULL);
	set_used(f, a, 1);
	set_used(f, b, 9);
	store_close(f->s);
	assert_int_equal(chmod(f->folder, 0755), 0);
	assert_int_equal(own_all_but(AT_FDCWD, f->folder, store_path_base(b)), 0);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(collect_as_stranger(f->store_folder));
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	f->s = open_or_fail(f->store_folder, STORE_WRITE);
	assert_clean(f->s);
	assert_true(!on_disk(f, a) && on_disk(f, b));
	assert_int_equal(collect(f, NULL).removed, 1); /* whoever may takes it */
	assert_false(on_disk(f, b));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_roots_keep_their_closure),
		store_test(test_an_empty_store),
		store_test(test_chains),
		store_test(test_a_cycle_stays),
		store_test(test_compiles_stay_without_a_bound),
		store_test(test_the_least_recently_used_goes_first),
		store_test(test_use_is_recorded_by_days),
		store_test(test_others_keep_what_they_found),
		store_test(test_what_comes_into_use_stays),
		store_test(test_roots_that_keep_nothing),
		store_test(test_a_root_that_is_set_again_stays),
		store_test(test_what_a_crash_left),
		store_test(test_reading_only),
		store_test(test_batches),
		store_test(test_beside_those_who_use),
		store_test(test_killed_after_each_system_call),
		store_test(test_what_cant_be_removed_does_not_stop_it),
	};
	/* A killed process loses nothing that it wrote, whatever holds the files: take what is fast. */
	if (access("/dev/shm", W_OK) == 0)
		setenv("TMPDIR", "/dev/shm", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
