/* Where in a recipe a finding is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lint/lint_impl.h"

static const char recipe[] =
	"-- env = { FIRST = 1 } is in a comment, and so is forge.wheel\n"      /* 1 */
	"local forge = require \"forge\"\n"
	"local title = \"-- no comment\" local MAX_JOBS = 2 -- NAMED here\n"   /* 3 */
	"return forge.wheel {\n"
	"  aliases = { FIRST = \"archs\" },\n"                                 /* 5 */
	"  jobs = { MAX_JOBS = {} },\n"
	"  env = function(v) return {\n"                                       /* 7 */
	"    FIRST_OF_ALL = \"1\",\n"
	"    FIRST = \"1\",\n"                                                 /* 9 */
	"    [\"odd\"] = (MAX_JOBS == 2),\n"
	"  } end,\n"                                                           /* 11 */
	"  patches = { 'patches/x.patch' } }";

static int line(const char *field, const char *word)
{
	return lint_line(SLICE(recipe), field, word);
}

static void test_lines(void **state)
{
	assert_int_equal(line("env", "FIRST"), 9);
	assert_int_equal(line("aliases", "FIRST"), 5);
	assert_int_equal(line("jobs", "MAX_JOBS"), 6);
	assert_int_equal(line("env", "FIRST_OF"), 7);        /* not there: the field's */
	assert_int_equal(line("env", "MAX_JOBS"), 10);
	assert_int_equal(line("patches", "patches/x.patch"), 12);
	assert_int_equal(line(NULL, "MAX_JOBS"), 3);
	assert_int_equal(line("odd", NULL), 10);
	assert_int_equal(line("MAX_JOBS", NULL), 3);         /* == gives nothing a value */
	assert_int_equal(line("patches", "FIRST"), 5);       /* nowhere after the field: anywhere */
	assert_int_equal(line("test", NULL), 4);             /* neither: forge.wheel */
	assert_int_equal(line("test", "NAMED"), 4);          /* a comment does not count */
	assert_int_equal(line(NULL, NULL), 4);
}

static void test_texts_without(void **state)
{
	assert_int_equal(lint_line((struct slice){ NULL, 0 }, "env", "X"), 0);
	assert_int_equal(lint_line(SLICE("-"), "env", "X"), 0);
	assert_int_equal(lint_line(SLICE("x --"), "env", "X"), 0);
	assert_int_equal(lint_line(SLICE("return require \"mine\""), "env", "X"), 0);
	assert_int_equal(lint_line(SLICE("env"), "env", NULL), 0);
	assert_int_equal(lint_line(SLICE("env="), "env", "env="), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_lines), cmocka_unit_test(test_texts_without) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
