/* Finding damage, and repairing it. */
#include "unit/store/fixture.h"

struct found {
	int count;
	char text[512];
};

static void remember(void *ctx, const char *path, const char *why)
{
	struct found *found = ctx;
	found->count++;
	snprintf(found->text, sizeof found->text, "%s: %s", path, why);
}

static void assert_damaged(struct fixture *f, bool contents, const char *path, const char *why)
{
	struct found found = { 0 };
	assert_int_equal(store_verify(f->s, contents, remember, &found, NULL), 1);
	assert_int_equal(found.count, 1);
	assert_true(str_starts(found.text, path));
	if (!strstr(found.text, why))
		fail_msg("said \"%s\", not \"%s\"", found.text, why);
}

/* Write into an object, as a bad disk or a careless person would. */
static void damage(struct fixture *f, const char *path)
{
	_cleanup_free_ char *file = mem_printf("%s/data", store_path_base(path));
	assert_int_equal(fchmodat(f->s->objects_fd, file, 0644, 0), 0);
	put_file(f->s->objects_fd, file, "Text", 0444);
}

static void test_finds(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_tree(f, "a", "text", NULL), *b = add_tree(f, "b", "text b", NULL);
	assert_clean(f->s);
	damage(f, a);
	assert_int_equal(store_verify(f->s, false, NULL, NULL, NULL), 0);
	assert_damaged(f, true, a, "its contents changed: NAR hash sha256:");
	assert_ok(fs_remove_tree(f->s->objects_fd, store_path_base(a), err));
	assert_damaged(f, false, a, "is missing");
	_cleanup_free_ char *again = add_tree(f, "a", "text", NULL);
	assert_ok(db_exec(f->s->db, "UPDATE path SET ca = 'fixed:r:sha256:' || "
		"'04zwf782yjwnh3q6hz5izfd6jyip8kgw6g6yj43fiqhbyhdd0dqw' WHERE base LIKE '%-b'", err));
	assert_damaged(f, false, b, "its path does not follow");
}

static void test_unreadable(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_tree(f, "a", "text", NULL);
	_cleanup_free_ char *pipe = mem_printf("%s/pipe", store_path_base(a));
	assert_int_equal(fchmodat(f->s->objects_fd, store_path_base(a), 0755, 0), 0);
	assert_int_equal(mkfifoat(f->s->objects_fd, pipe, 0600), 0);
	assert_damaged(f, true, a, "can't be read");
}

static void test_damaged_rows(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_tree(f, "a", "text", NULL);
	assert_ok(db_exec(f->s->db, "PRAGMA foreign_keys = OFF; INSERT INTO ref VALUES (1, 99)", err));
	assert_damaged(f, false, "db.sqlite", "a row refers to another that is missing");
}

static void test_repairs(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_tree(f, "a", "text", NULL);
	damage(f, a);
	_cleanup_free_ char *wrong = put_tree(f, "Text"), *right = put_tree(f, "text"), *third = put_tree(f, "text");
	struct err e = { 0 };
	assert_int_equal(store_repair(f->s, a, wrong, &e), -1);
	assert_int_equal(e.code, ERR_HASH);
	assert_non_null(strstr(e.msg, "does not have its NAR hash sha256:"));
	err_clear(&e);
	assert_damaged(f, true, a, "its contents changed"); /* untouched */
	assert_ok(store_repair(f->s, a, right, err));
	assert_clean(f->s);
	struct stat st;
	assert_int_equal(fstatat(f->s->objects_fd, store_path_base(a), &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0555);
	assert_int_equal(faccessat(f->s->tmp_fd, right, F_OK, 0), -1);

	assert_ok(fs_remove_tree(f->s->objects_fd, store_path_base(a), err));
	assert_ok(store_repair(f->s, a, third, err)); /* missing altogether */
	assert_clean(f->s);
	const char *missing = STORE_DIR "/dc04vv14dak1c1r48qa0m23vr9jy8sm0-missing";
	assert_refused(store_repair(f->s, missing, wrong, err), "is not in the store");
}

/* A folder in the place of a file and the other way round: the swap does not care. */
static void test_repairs_other_kind(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_tree(f, "a", "text", NULL);
	assert_ok(fs_remove_tree(f->s->objects_fd, store_path_base(a), err));
	put_file(f->s->objects_fd, store_path_base(a), "junk", 0444);
	_cleanup_free_ char *right = put_tree(f, "text");
	assert_ok(store_repair(f->s, a, right, err));
	assert_clean(f->s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_finds),
		store_test(test_unreadable),
		store_test(test_damaged_rows),
		store_test(test_repairs),
		store_test(test_repairs_other_kind),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
