#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>

#include "core/table.h"

static void test_many(void **state)
{
	_cleanup_table_ struct table t = TABLE_INIT(int);
	char key[32];
	assert_null(table_find(&t, "0"));
	int *first = table_put(&t, "");
	*first = -1;
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof key, "/some/path/%d", i);
		int *value = table_put(&t, key);
		assert_int_equal(*value, 0);
		*value = i;
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(key, sizeof key, "/some/path/%d", i);
		assert_int_equal(*(int *)table_find(&t, key), i);
		assert_ptr_equal(table_put(&t, key), table_find(&t, key));
	}
	assert_ptr_equal(table_find(&t, ""), first); /* it stayed where it was */
	assert_int_equal(*first, -1);
	assert_int_equal(t.count, 1001);
	assert_null(table_find(&t, "/some/path/1000"));
	table_free(&t);
	assert_null(table_find(&t, ""));
	*(int *)table_put(&t, "again") = 2;
	assert_int_equal(*(int *)table_find(&t, "again"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_many) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
