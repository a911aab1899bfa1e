#include "support/vectors.h"

#include "core/json.h"

static void writing_is_sorted_and_compact(void **state)
{
	_cleanup_json_ struct json *j = json_new_obj();
	_cleanup_buf_ struct buf out = BUF_INIT;
	json_set_str(j, "b", "x\"y");
	json_set_int(j, "a", -3);
	json_set(j, "c", json_new_arr());
	json_push(json_get(j, "c"), json_new_bool(true));
	json_set_str(j, "none", NULL);
	json_write(j, 0, &out);
	assert_string_equal(out.data, "{\"a\":-3,\"b\":\"x\\\"y\",\"c\":[true]}");
}

static void getters_give_the_fallback_for_another_type(void **state)
{
	_cleanup_json_ struct json *j = json_parse(SLICE("{\"n\":5,\"s\":\"t\",\"z\":\"a\\u0000b\"}"), 100, NULL);
	assert_non_null(j);
	assert_int_equal(json_get_int(j, "n", 0), 5);
	assert_int_equal(json_get_int(j, "s", 9), 9);
	assert_null(json_get_str(j, "n"));
	assert_null(json_get_str(j, "z")); /* a NUL inside: not a C string */
	assert_null(json_get_str(NULL, "n"));
	assert_int_equal(json_kind(json_get(j, "missing")), JSON_NONE);
	assert_int_equal(json_count(json_get(j, "missing")), 0);
}

static void bad(const char *text, size_t limit, const char *says)
{
	_cleanup_err_ struct err err = { 0 };
	assert_null(json_parse(slice_of(text), limit, &err));
	assert_int_equal(err.code, ERR_INPUT);
	assert_non_null(strstr(err.msg, says));
}

static void malformed_text_is_refused_with_its_place(void **state)
{
	bad("", 100, "not JSON");
	bad("{\"a\":1,\n \"a\":2}", 100, "line 2");
	bad("{} x", 100, "not JSON");
	bad("[1,2", 100, "line 1");
	bad("\"\xff\"", 100, "not JSON");
	bad("[1,2,3,4,5]", 5, "at most 5");
	char deep[300];
	memset(deep, '[', 150);
	memset(deep + 150, ']', 149);
	deep[299] = '\0';
	bad(deep, 1000, "nested");
}

static void brackets_in_strings_are_not_depth(void **state)
{
	char text[203];
	memset(text, '[', sizeof text);
	text[0] = text[201] = '"';
	text[202] = '\0';
	struct json *j = json_parse(slice_of(text), 1000, NULL);
	assert_non_null(j);
	json_free(j);
}

static void text_that_is_not_utf8_is_shown_not_refused(void **state)
{
	_cleanup_json_ struct json *j = json_new_str("a\xff");
	assert_string_equal(json_str(j), "a?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writing_is_sorted_and_compact),
		cmocka_unit_test(getters_give_the_fallback_for_another_type),
		cmocka_unit_test(malformed_text_is_refused_with_its_place),
		cmocka_unit_test(brackets_in_strings_are_not_depth),
		cmocka_unit_test(text_that_is_not_utf8_is_shown_not_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
