#include "support/vectors.h"

#include "archive/name.h"
#include "core/mem.h"

static void test_clean(void **state)
{
	const struct { const char *raw, *clean; bool slash; } good[] = {
		{ "a", "a", false }, { "a/b", "a/b", false }, { "./a", "a", false }, { "a//b", "a/b", false },
		{ "a/./b", "a/b", false }, { "a/", "a", true }, { ".", "", false }, { "./", "", true },
		{ ".../..a", ".../..a", false }, { "a\\b", "a\\b", false }, { "\xe9", "\xe9", false },
	};
	_cleanup_buf_ struct buf b = BUF_INIT;
	bool slash;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		_cleanup_err_ struct err err = { 0 };
		assert_int_equal(name_clean(slice_of(good[i].raw), &b, &slash, &err), 0);
		assert_string_equal(b.data, good[i].clean);
		assert_int_equal(slash, good[i].slash);
	}
	const char *const bad[] = { "", "/", "/a", "..", "../a", "a/..", "a/../b", "a/../" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		_cleanup_err_ struct err err = { 0 };
		if (name_clean(slice_of(bad[i]), &b, &slash, &err) == 0)
			fail_msg("%s was taken as %s", bad[i], b.data);
		assert_int_equal(err.code, ERR_INPUT);
	}
	assert_int_equal(name_clean(SLICE("a\0b"), &b, &slash, NULL), -1);
	char long_name[258];
	memset(long_name, 'n', sizeof long_name);
	assert_int_equal(name_clean((struct slice){ long_name, 255 }, &b, &slash, NULL), 0);
	assert_int_equal(name_clean((struct slice){ long_name, 256 }, &b, &slash, NULL), -1);
}

static void test_targets(void **state)
{
	const struct { const char *name, *target; bool good; } rows[] = {
		{ "a", "b", true }, { "a", "./b", true }, { "a", "b/c", true }, { "d/a", "../b", true },
		{ "d/e/a", "../../b", true }, { "d/a", "..", true }, { "a", ".", true }, { "d/e/a", ".././../b", true },
		{ "a", "", false }, { "a", "/b", false }, { "a", "..", false }, { "a", "../b", false },
		{ "d/a", "../../b", false }, { "d/a", "b/../../c", false }, { "d/a", "b/..", false },
		{ "d/e/a", "../b/../..", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		if (rows[i].good != (name_check_target(rows[i].name, rows[i].target, &err) == 0))
			fail_msg("%s -> %s: %s", rows[i].name, rows[i].target, err.msg ? err.msg : "accepted");
	}
}

/* The rows of is-within ask whether a path stays in a folder; a link in that folder is judged the same. */
static void test_is_within(void **state)
{
	vectors_or_skip("extract/is-within.tsv");
	struct vectors v = vectors_load("extract/is-within.tsv");
	size_t judged = 0;
	for (size_t i = 0; i < v.count; i++) {
		const char *folder = vectors_text(&v, i, "directory"), *target = vectors_text(&v, i, "target");
		size_t n = strlen(folder);
		bool inside = strcmp(vectors_text(&v, i, "inside"), "yes") == 0;
		_cleanup_buf_ struct buf b = BUF_INIT;
		bool slash;
		if (folder[n - 1] != '/' || strncmp(folder, target, n) != 0)
			continue; /* two whole paths: forge never compares those */
		judged++;
		/* Stricter than within: no ".." at all, be it harmless or not. */
		bool taken = name_clean(slice_of(target + n), &b, &slash, NULL) == 0;
		assert_int_equal(taken, inside && !strstr(target, ".."));
	}
	assert_true(judged >= 3);
	vectors_free(&v);
}

static void test_utf8(void **state)
{
	const char *const good[] = { "", "a", "caf\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf" };
	const char *const bad[] = { "\xe9", "\xc0\xaf", "\xc1\x81", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf0\x80\x80\x80",
		"\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xc3", "\xe2\x82", "\x80", "\xc3z" };
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(name_is_utf8(slice_of(good[i])));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(name_is_utf8(slice_of(bad[i])));
	assert_true(name_has_control(SLICE("a\0")));
	assert_true(name_has_control(SLICE("\x7f")));
	assert_false(name_has_control(SLICE("caf\xc3\xa9 ~")));
}

static void test_show(void **state)
{
	_cleanup_free_ char *a = name_show("a\n\x1b[31m\\b\xe9 caf\xc3\xa9");
	assert_string_equal(a, "a\\x0a\\x1b[31m\\x5cb\\xe9 caf\xc3\xa9");
	char text[500];
	memset(text, 'n', sizeof text);
	text[sizeof text - 1] = '\0';
	_cleanup_free_ char *b = name_show(text);
	assert_int_equal(strlen(b), 123);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_clean), cmocka_unit_test(test_targets), cmocka_unit_test(test_is_within),
		cmocka_unit_test(test_utf8), cmocka_unit_test(test_show),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
