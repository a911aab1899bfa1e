#include "unit/store/fixture.h"

static const char missing[] = STORE_DIR "/dc04vv14dak1c1r48qa0m23vr9jy8sm0-missing";

static void test_add_and_query(void **state)
{
	struct fixture *f = *state;
	_cleanup_str_list_ struct str_list refs = STR_LIST_INIT;
	_cleanup_free_ char *a = add_tree(f, "a", "text", NULL);
	str_list_add(&refs, a);
	_cleanup_free_ char *b = add_tree(f, "b", a, &refs);
	str_list_add(&refs, b);
	_cleanup_free_ char *text = mem_printf("%s", b);
	_cleanup_free_ char *c = add_tree(f, "c", text, &refs);
	assert_valid(f, a, 1);
	assert_valid(f, missing, 0);

	struct store_info info;
	assert_int_equal(store_query(f->s, b, &info, NULL), 1);
	assert_string_equal(info.path, b);
	assert_int_equal(info.refs.count, 1);
	assert_string_equal(info.refs.items[0], a);
	assert_true(str_starts(info.ca, "fixed:r:sha256:"));
	assert_null(info.deriver);
	assert_true(info.registered > 1700000000 && info.nar_size > 100);
	store_info_free(&info);
	assert_int_equal(store_query(f->s, missing, &info, NULL), 0);

	_cleanup_str_list_ struct str_list closure = STR_LIST_INIT;
	assert_ok(store_closure(f->s, c, &closure, err));
	assert_int_equal(closure.count, 3);
	assert_true(str_list_has(&closure, a) && str_list_has(&closure, b) && str_list_has(&closure, c));
	assert_true(strcmp(closure.items[0], closure.items[1]) < 0 && strcmp(closure.items[1], closure.items[2]) < 0);
	assert_refused(store_closure(f->s, missing, &closure, err), "is not in the store");
	assert_refused(store_valid(f->s, "/usr/bin", err), "/usr/bin");
	assert_refused(store_valid(f->s, missing + sizeof STORE_DIR, err), "not a whole store path");
	assert_clean(f->s);
	assert_int_equal(count_tmp(f->s), 0);
}

static void test_immutable(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *path = add_tree(f, "a", "text", NULL);
	struct stat st;
	assert_int_equal(fstatat(f->s->objects_fd, store_path_base(path), &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode & 07777, 0555);
	assert_int_equal(st.st_mtim.tv_sec, 1);
}

static void test_there_already(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *path = add_tree(f, "a", "text", NULL);
	struct stat before, after;
	assert_int_equal(fstatat(f->s->objects_fd, store_path_base(path), &before, 0), 0);
	_cleanup_free_ char *again = add_tree(f, "a", "text", NULL);
	assert_string_equal(path, again);
	assert_int_equal(fstatat(f->s->objects_fd, store_path_base(path), &after, 0), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	assert_int_equal(count_tmp(f->s), 0);
}

static void test_batch_in_any_order(void **state)
{
	struct fixture *f = *state;
	struct store_prepared items[2];
	prepare_tree(f, "a", "text", NULL, &items[1]);
	_cleanup_str_list_ struct str_list refs = STR_LIST_INIT;
	str_list_add(&refs, items[1].path);
	prepare_tree(f, "b", items[1].path, &refs, &items[0]);
	items[0].deriver = mem_dup(missing);
	assert_ok(store_commit(f->s, items, 2, err));
	struct store_info info;
	assert_int_equal(store_query(f->s, items[0].path, &info, NULL), 1);
	assert_string_equal(info.refs.items[0], items[1].path);
	assert_string_equal(info.deriver, missing);
	store_info_free(&info);
	store_prepared_free(&items[0]);
	store_prepared_free(&items[1]);
}

static void test_missing_reference(void **state)
{
	struct fixture *f = *state;
	_cleanup_str_list_ struct str_list refs = STR_LIST_INIT;
	str_list_add(&refs, missing);
	struct store_prepared p;
	prepare_tree(f, "a", missing, &refs, &p);
	assert_refused(store_commit(f->s, &p, 1, err), "refers to /forge/store/dc04vv14dak1c1r48qa0m23vr9jy8sm0-missing, "
		"which is not in the store");
	assert_valid(f, p.path, 0);
	assert_int_equal(count_tmp(f->s), 0);
	assert_int_equal(faccessat(f->s->objects_fd, store_path_base(p.path), F_OK, 0), -1);
	store_prepared_free(&p);
}

/* What a crash between the renames and the transaction leaves: an object without a row. */
static ino_t leave_unregistered(struct fixture *f, const char *path)
{
	_cleanup_free_ char *sql = mem_printf("DELETE FROM path WHERE base = '%s'", store_path_base(path));
	assert_ok(db_exec(f->s->db, sql, err));
	assert_valid(f, path, 0);
	assert_ok(unseal_root(f->s->objects_fd, store_path_base(path), err)); /* nor sealed yet */
	struct stat st;
	assert_int_equal(fstatat(f->s->objects_fd, store_path_base(path), &st, 0), 0);
	return st.st_ino;
}

static void test_adopts(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *path = add_tree(f, "a", "text", NULL);
	ino_t was = leave_unregistered(f, path);
	assert_clean(f->s);
	_cleanup_free_ char *again = add_tree(f, "a", "text", NULL);
	struct stat st;
	assert_int_equal(fstatat(f->s->objects_fd, store_path_base(again), &st, 0), 0);
	assert_int_equal(st.st_ino, was);
	assert_int_equal(st.st_mode & 07777, 0555);
	assert_valid(f, path, 1);
	assert_clean(f->s);
}

static void test_replaces_what_is_wrong(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *path = add_tree(f, "a", "text", NULL);
	ino_t was = leave_unregistered(f, path);
	_cleanup_free_ char *file = mem_printf("%s/data", store_path_base(path));
	assert_int_equal(fchmodat(f->s->objects_fd, file, 0644, 0), 0);
	put_file(f->s->objects_fd, file, "other", 0444);
	_cleanup_free_ char *again = add_tree(f, "a", "text", NULL);
	struct stat st;
	assert_int_equal(fstatat(f->s->objects_fd, store_path_base(again), &st, 0), 0);
	assert_int_not_equal(st.st_ino, was);
	assert_clean(f->s);
	assert_int_equal(count_tmp(f->s), 0);
}

/* Someone removed an object by hand: adding it again heals. */
static void test_row_without_object(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *path = add_tree(f, "a", "text", NULL);
	assert_ok(fs_remove_tree(f->s->objects_fd, store_path_base(path), err));
	assert_int_equal(store_verify(f->s, false, NULL, NULL, NULL), 1);
	_cleanup_free_ char *again = add_tree(f, "a", "text", NULL);
	assert_clean(f->s);
}

static void test_add_path(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(mkdirat(f->fd, "mine", 0750), 0);
	put_file(f->fd, "mine/a", "text", 0640);
	put_file(f->fd, "wheel", "bytes", 0640);
	_cleanup_free_ char *path = NULL, *flat = NULL;
	assert_ok(store_add_path(f->s, f->fd, "mine", "source", DRV_NAR, &path, err));
	assert_ok(store_add_path(f->s, f->fd, "wheel", "w.whl", DRV_FLAT, &flat, err));
	struct stat st;
	assert_int_equal(fstatat(f->fd, "mine/a", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_true(st.st_mtim.tv_sec > 1);
	assert_valid(f, path, 1);
	assert_valid(f, flat, 1);
	_cleanup_free_ char *none = NULL;
	assert_refused(store_add_path(f->s, f->fd, "absent", "x", DRV_NAR, &none, err), "absent: can't find it");
	assert_refused(store_add_path(f->s, f->fd, "mine", "x", DRV_FLAT, &none, err), "has to be one file");
	assert_int_equal(count_tmp(f->s), 0);
	assert_clean(f->s);
}

static void test_read_only_store_is_told(void **state)
{
	struct fixture *f = *state;
	fixture_reopen(f, STORE_READ);
	struct store_prepared p = { 0 };
	assert_refused(store_commit(f->s, &p, 1, err), "opened for reading only");
	assert_refused(store_realisation_add(f->s, "x", missing, err), "opened for reading only");
	assert_refused(store_root_set(f->s, "x", missing, NULL, err), "opened for reading only");
	assert_refused(store_delete(f->s, NULL, 0, err), "opened for reading only");
	assert_refused(store_lock(f->s, "x", true, NULL, err), "opened for reading only");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_add_and_query),
		store_test(test_immutable),
		store_test(test_there_already),
		store_test(test_batch_in_any_order),
		store_test(test_missing_reference),
		store_test(test_adopts),
		store_test(test_replaces_what_is_wrong),
		store_test(test_row_without_object),
		store_test(test_add_path),
		store_test(test_read_only_store_is_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
