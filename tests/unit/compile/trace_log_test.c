#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "compile/trace_log.h"

#define LOG(text) ((struct slice){ text, sizeof(text) - 1 })

static struct trace read_log(struct slice log)
{
	struct trace t;
	struct err err = { 0 };
	if (trace_log_read(log, &t, &err) < 0)
		fail_msg("%s", err.msg);
	return t;
}

static void test_lists(void **state)
{
	struct trace t = read_log(LOG("m/build/z\0" "c/build/b.h\0" "7\0" "99\0" "1\0cd/f\n" "d/build/inc\0" "s/build/b.h\0" "7\0" "99\0"
		"c/build/a.c\0" "0\0" "-5\0" "m/build/z\0" "m/build/c\0" "s/build/only\0" "3\0" "4\0"
		"f/env/e\0" "1\0" "1\0" "f/env/e\0" "1\0" "1\0" "d/build/inc\0" "c/build/b.h\0" "7\0" "99\0" "1\0cd/f\n"));
	assert_null(t.odd);
	assert_int_equal(t.files.count, 3);
	assert_string_equal(t.files.items[0].path, "/build/a.c");
	assert_non_null(t.files.items[0].content.p);
	assert_int_equal(t.files.items[0].content.n, 0);
	assert_int_equal(t.files.items[0].mtime, -5);
	assert_int_equal(t.files.items[1].size, 7);
	assert_memory_equal(t.files.items[1].content.p, "1\0cd/f\n", 7);
	assert_null(t.files.items[2].content.p);
	assert_int_equal(t.asked.count, 1);
	assert_string_equal(t.asked.items[0].path, "/build/only");
	assert_int_equal(t.missing.count, 2);
	assert_string_equal(t.missing.items[0], "/build/c");
	assert_int_equal(t.dirs.count, 1);
	trace_free(&t);
}

static void assert_odd(struct slice log, const char *why)
{
	struct trace t = read_log(log);
	assert_non_null(t.odd);
	assert_string_equal(t.odd, why);
	trace_free(&t);
}

static void test_odd(void **state)
{
	assert_odd(LOG("x/build/a\0" "is a\tlink\0" "x/build/b\0" "later\0"), "/build/a is a?link");
	static const char changed[] = "/build/a changed while it was compiled";
	assert_odd(LOG("m/build/a\0" "c/build/a\0" "1\0" "1\0X"), changed);
	assert_odd(LOG("d/build/a\0" "s/build/a\0" "1\0" "1\0"), changed);
	assert_odd(LOG("s/build/a\0" "1\0" "1\0" "c/build/a\0" "2\0" "1\0XX"), changed);
	assert_odd(LOG("s/build/a\0" "1\0" "1\0" "s/build/a\0" "1\0" "2\0"), changed);
	assert_odd(LOG("c/build/a\0" "1\0" "1\0X" "c/build/a\0" "1\0" "1\0Y"), changed);
	assert_odd(LOG("m/build/d\0" "m/build/d-x\0" "d/build/d/e\0"), "/build/d/e changed while it was compiled");
	assert_odd(LOG("c/build/d\0" "1\0" "1\0X" "d/build/d/e\0"), "/build/d/e changed while it was compiled");
	assert_odd(LOG("f/build/a\0" "1\0" "1\0" "c/build/a\0" "1\0" "1\0X"), changed);
}

/* Below a file nothing can be. */
static void test_not_odd(void **state)
{
	struct trace t = read_log(LOG("c/build/a\0" "1\0" "1\0X" "m/build/a/b\0"));
	assert_null(t.odd);
	trace_free(&t);
}

static void test_refused(void **state)
{
	static const struct slice logs[] = {
		{ "", 0 }, { "q/build/a", 10 }, { "m/build/a", 9 }, { "mbuild/a", 9 }, { "m/build//a", 11 }, { "m/build/./a", 12 },
		{ "m/build/..", 11 }, { "m/", 3 }, { "m/build/a/", 11 }, { "c/build/a\0" "9\0" "1\0less", 19 },
		{ "f/build/a\0" "1", 12 }, { "s/build/a\0x\0" "1", 15 }, { "s/build/a\0" "1\0-", 14 },
		{ "s/build/a\0" "99999999999999999999\0" "1", 33 }, { "x/build/a", 10 }, { "\0", 1 },
	};
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
		struct trace t;
		struct err err = { 0 };
		if (trace_log_read(logs[i], &t, &err) == 0)
			fail_msg("log %zu was read", i);
		assert_int_equal(err.code, ERR_INPUT);
		assert_int_equal(t.files.count + t.missing.count, 0);
		err_clear(&err);
		trace_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists), cmocka_unit_test(test_odd), cmocka_unit_test(test_not_odd),
		cmocka_unit_test(test_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
