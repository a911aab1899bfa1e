/* Errors, memory, buffers, slices, lists: core/err.c mem.c arena.c buf.c str.c. */
#include "support/vectors.h"

#include <errno.h>

#include "core/arena.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

static void errors_gather_context_once_a_layer(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	errno = ENOENT;
	assert_int_equal(err_sys(&err, "can't open %s", "a"), -1);
	assert_int_equal(err.code, ERR_SYS);
	assert_int_equal(err.sys, ENOENT);
	err_add(&err, "recipe %d", 7);
	assert_string_equal(err.msg, "recipe 7: can't open a: No such file or directory");
	assert_int_equal(err.sys, ENOENT);
	assert_int_equal(err_set(&err, ERR_HASH, "other"), -1);
	assert_string_equal(err.msg, "other");
	assert_int_equal(err.sys, 0);
	assert_int_equal(err_set(NULL, ERR_FAIL, "nobody listens"), -1);
}

static void errors_map_to_exit_statuses(void **state)
{
	assert_int_equal(err_exit_status(ERR_NONE), 0);
	assert_int_equal(err_exit_status(ERR_SYS), 1);
	assert_int_equal(err_exit_status(ERR_USAGE), 2);
	assert_int_equal(err_exit_status(ERR_BUILD), 100);
	assert_int_equal(err_exit_status(ERR_TIMEOUT), 101);
	assert_int_equal(err_exit_status(ERR_HASH), 102);
	assert_int_equal(err_exit_status(ERR_REPRO), 104);
	assert_int_equal(err_exit_status(ERR_INTR), 130);
}

static void an_error_moves(void **state)
{
	_cleanup_err_ struct err to = { 0 }, from = { 0 };
	err_set(&to, ERR_FAIL, "old");
	err_set(&from, ERR_BUILD, "new");
	assert_int_equal(err_move(&to, &from), -1);
	assert_string_equal(to.msg, "new");
	assert_int_equal(from.code, ERR_NONE);
	assert_null(from.msg);
}

static void buffers_grow_and_end_in_nul(void **state)
{
	struct buf b = BUF_INIT;
	for (int i = 0; i < 1000; i++)
		buf_printf(&b, "%d,", i);
	assert_int_equal(strlen(b.data), b.len);
	buf_add(&b, "\0x", 2);
	assert_int_equal(b.data[b.len], '\0');
	buf_clear(&b);
	assert_int_equal(b.len, 0);
	char *text = buf_steal(&b);
	assert_string_equal(text, "");
	free(text);
	char *empty = buf_steal(&b);
	assert_string_equal(empty, "");
	free(empty);
}

static void arenas_align_and_count(void **state)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	size_t total = 0;
	for (size_t n = 1; n < 200000; n = n * 3 + 1) {
		char *p = arena_alloc(&a, n);
		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xff, n);
		total += n;
	}
	assert_int_equal(a.used, total);
	assert_string_equal(arena_printf(&a, "%s-%d", "x", 5), "x-5");
	assert_string_equal(arena_dup_n(&a, "abc", 2), "ab");
}

static void slices_cut_and_compare(void **state)
{
	struct slice head, rest;
	assert_true(slice_cut(SLICE("a=b=c"), '=', &head, &rest));
	assert_true(slice_is(head, "a") && slice_is(rest, "b=c"));
	assert_false(slice_cut(SLICE("abc"), '=', &head, &rest));
	assert_true(slice_is(head, "abc") && rest.n == 0);
	assert_true(slice_cmp(SLICE("a"), SLICE("ab")) < 0);
	assert_true(slice_cmp(SLICE("b"), SLICE("ab")) > 0);
	assert_int_equal(slice_cmp(SLICE("ab"), SLICE("ab")), 0);
	assert_true(slice_is(slice_trim(SLICE(" \t x y\n")), "x y"));
	assert_true(str_starts("forge", "for") && !str_starts("fo", "for"));
	assert_true(str_ends("a.whl", ".whl") && !str_ends("whl", ".whl"));
	assert_true(str_eq(NULL, NULL) && !str_eq(NULL, "") && str_eq("a", "a"));
}

static void the_nearest_name_is_a_likely_slip(void **state)
{
	static const char *const fields[] = { "patches", "packages", "python", "env" };
	assert_string_equal(str_nearest("patchs", fields, 4), "patches");
	assert_string_equal(str_nearest("PACKAGE", fields, 4), "packages");
	assert_null(str_nearest("zzzzzzz", fields, 4));
	char huge[500];
	memset(huge, 'a', sizeof huge - 1);
	huge[sizeof huge - 1] = '\0';
	assert_null(str_nearest(huge, fields, 4));
}

static void lists_sort_and_drop_doubles(void **state)
{
	_cleanup_str_list_ struct str_list l = STR_LIST_INIT;
	static const char *const words[] = { "b", "a", "c", "a", "B" };
	for (size_t i = 0; i < 5; i++)
		str_list_add(&l, words[i]);
	str_list_sort(&l);
	str_list_uniq(&l);
	assert_int_equal(l.count, 4);
	assert_string_equal(l.items[0], "B");
	assert_string_equal(l.items[3], "c");
	assert_true(str_list_has(&l, "a") && !str_list_has(&l, "d"));
	LIST(int) numbers = { 0 };
	for (int i = 0; i < 100; i++)
		*list_push(&numbers) = i;
	assert_int_equal(numbers.items[99], 99);
	list_free(&numbers);
	assert_null(numbers.items);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_gather_context_once_a_layer), cmocka_unit_test(errors_map_to_exit_statuses),
		cmocka_unit_test(an_error_moves), cmocka_unit_test(buffers_grow_and_end_in_nul),
		cmocka_unit_test(arenas_align_and_count), cmocka_unit_test(slices_cut_and_compare),
		cmocka_unit_test(the_nearest_name_is_a_likely_slip), cmocka_unit_test(lists_sort_and_drop_doubles),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
