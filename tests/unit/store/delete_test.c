#include "unit/store/fixture.h"

static bool on_disk(struct fixture *f, const char *path)
{
	return faccessat(f->s->objects_fd, store_path_base(path), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void test_delete(void **state)
{
	struct fixture *f = *state;
	_cleanup_str_list_ struct str_list refs = STR_LIST_INIT;
	_cleanup_free_ char *a = add_tree(f, "a", "text", NULL);
	str_list_add(&refs, a);
	_cleanup_free_ char *b = add_tree(f, "b", a, &refs);

	const char *only_a[] = { a }, *both[] = { a, b };
	assert_refused(store_delete(f->s, only_a, 1, err), "-b refers to it");
	assert_true(on_disk(f, a));
	assert_ok(store_delete(f->s, both, 2, err)); /* in any order */
	assert_valid(f, a, 0);
	assert_valid(f, b, 0);
	assert_false(on_disk(f, a) || on_disk(f, b));
	assert_int_equal(count_tmp(f->s), 0);
	assert_clean(f->s);
	assert_ok(store_delete(f->s, both, 2, err)); /* nowhere: no error */
	_cleanup_free_ char *again = add_tree(f, "a", "text", NULL);
	assert_string_equal(again, a);
	assert_clean(f->s);
}

static void test_root_is_kept(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_tree(f, "a", "text", NULL), *b = add_tree(f, "b", "b", NULL);
	assert_ok(store_root_set(f->s, "mine", b, NULL, err));
	const char *both[] = { a, b };
	assert_refused(store_delete(f->s, both, 2, err), "the root mine keeps it");
	assert_valid(f, a, 1); /* all or nothing */
	assert_valid(f, b, 1);
	assert_clean(f->s);
}

static void test_unregistered_object(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *a = add_tree(f, "a", "text", NULL);
	assert_ok(db_exec(f->s->db, "DELETE FROM path", err));
	const char *paths[] = { a };
	assert_ok(store_delete(f->s, paths, 1, err));
	assert_false(on_disk(f, a));
	const char *bad[] = { STORE_DIR "/../x" };
	assert_refused(store_delete(f->s, bad, 1, err), "..");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_delete),
		store_test(test_root_is_kept),
		store_test(test_unregistered_object),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
