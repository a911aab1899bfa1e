#include "unit/store/fixture.h"

static void test_batch(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *src = add_tree(f, "src", "text", NULL);
	_cleanup_str_list_ struct str_list none = STR_LIST_INIT, refs = STR_LIST_INIT;
	struct hash h;
	hash_of("first", 5, &h);
	_cleanup_buf_ struct buf first = BUF_INIT, second = BUF_INIT;
	store_path_text(&h, "first.drv", &none, &first);
	/* Unsorted and double, as a caller may collect them. */
	str_list_add(&refs, src);
	str_list_add(&refs, first.data);
	str_list_add(&refs, src);
	struct store_text texts[] = {
		{ "second.drv", SLICE("second"), &refs },
		{ "first.drv", SLICE("first"), NULL },
	};
	assert_ok(store_add_texts(f->s, texts, 2, err));
	assert_valid(f, first.data, 1);
	str_list_sort(&refs);
	str_list_uniq(&refs);
	hash_of("second", 6, &h);
	store_path_text(&h, "second.drv", &refs, &second);
	struct store_info info;
	assert_int_equal(store_query(f->s, second.data, &info, NULL), 1);
	assert_int_equal(info.refs.count, 2);
	assert_true(str_starts(info.ca, "text:sha256:"));
	store_info_free(&info);
	assert_clean(f->s);
	assert_int_equal(count_tmp(f->s), 0);
	/* Nothing new: nothing is written, so that a store that can only be read will do. */
	fixture_reopen(f, STORE_READ);
	assert_ok(store_add_texts(f->s, texts, 2, err));
}

static void test_refuses(void **state)
{
	struct fixture *f = *state;
	_cleanup_str_list_ struct str_list refs = STR_LIST_INIT;
	str_list_add(&refs, STORE_DIR "/dc04vv14dak1c1r48qa0m23vr9jy8sm0-missing");
	struct store_text bad_ref = { "a.drv", SLICE("a"), &refs }, bad_name = { "a/b", SLICE("a"), NULL };
	assert_refused(store_add_texts(f->s, &bad_ref, 1, err), "which is not in the store");
	assert_refused(store_add_texts(f->s, &bad_name, 1, err), "a/b");
	assert_int_equal(count_tmp(f->s), 0);
}

/* The same text twice in one batch. */
static void test_twice_in_batch(void **state)
{
	struct fixture *f = *state;
	struct store_text texts[] = { { "a.drv", SLICE("a"), NULL }, { "a.drv", SLICE("a"), NULL } };
	assert_ok(store_add_texts(f->s, texts, 2, err));
	assert_clean(f->s);
	assert_int_equal(count_tmp(f->s), 0);
}

/* Looking up in one go: what comes meanwhile is seen behind it, and one go does not stand in another. */
static void test_look(void **state)
{
	struct fixture *f = *state;
	struct store *other = open_or_fail(f->store_folder, STORE_READ);
	_cleanup_free_ char *before = add_tree(f, "before", "a", NULL);
	assert_ok(store_look_begin(other, err));
	assert_int_equal(store_valid(other, before, NULL), 1);
	_cleanup_free_ char *after = add_tree(f, "after", "b", NULL);
	assert_int_equal(store_valid(other, after, NULL), 0);
	assert_ok(store_look_end(other, err));
	assert_int_equal(store_valid(other, after, NULL), 1);
	store_close(other);
	assert_ok(store_look_begin(f->s, err));
	assert_refused(store_look_begin(f->s, err), "within a transaction");
	assert_valid(f, after, 1);
	assert_ok(store_look_end(f->s, err));
	assert_int_equal(f->s->holds.depth, 0);
	free(add_tree(f, "last", "c", NULL));
	assert_clean(f->s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_batch),
		store_test(test_refuses),
		store_test(test_twice_in_batch),
		store_test(test_look),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
