#include "support/vectors.h"

#include "core/buf.h"
#include "core/mem.h"
#include "lock/requirement.h"

static void check_accepted(const struct vectors *v, size_t i, const struct requirement *r)
{
	const char *extras = vectors_text(v, i, "extras"), *specifier = vectors_text(v, i, "specifier");
	const char *marker = vectors_text(v, i, "marker");
	assert_string_equal(r->name, vectors_text(v, i, "name"));
	assert_string_equal(r->extras, extras ? extras : "");
	assert_string_equal(r->specifier, specifier ? specifier : "");
	if (vectors_text(v, i, "url"))
		assert_string_equal(r->url, vectors_text(v, i, "url"));
	else
		assert_null(r->url);
	/* names of extras in markers are left as they are written; all else has one spelling */
	if (!marker || !strstr(marker, "-connector"))
		assert_string_equal(r->marker, marker ? marker : "");
}

static void test_vectors(void **state)
{
	vectors_or_skip("dist/requirements.tsv");
	struct vectors v = vectors_load("dist/requirements.tsv");
	for (size_t i = 0; i < v.count; i++) {
		struct vectors_cell input = vectors_cell(&v, i, "input");
		_cleanup_requirement_ struct requirement r = { 0 };
		_cleanup_err_ struct err err = { 0 };
		int rc = requirement_parse((struct slice){ input.data, input.len }, &r, &err);
		bool accept = strcmp(vectors_text(&v, i, "expected"), "accept") == 0;
		if ((rc == 0) != accept)
			fail_msg("\"%s\": %s", input.data, rc < 0 ? err.msg : "was accepted");
		if (accept)
			check_accepted(&v, i, &r);
		else
			assert_int_equal(err.code, ERR_INPUT);
	}
	vectors_free(&v);
}

static char *normal(const char *text)
{
	_cleanup_requirement_ struct requirement r = { 0 };
	_cleanup_err_ struct err err = { 0 };
	struct buf out = BUF_INIT;
	if (requirement_parse(slice_of(text), &r, &err) < 0)
		fail_msg("%s", err.msg);
	requirement_write(&r, &out);
	return buf_steal(&out);
}

static void test_one_spelling(void **state)
{
	static const char *const rows[][2] = {
		{ "Torch == 2.11.0", "torch==2.11.0" },
		{ "foo_Bar [b, a]>=1,<2 ; os_name=='posix'", "foo-bar[a,b]<2,>=1; os_name == \"posix\"" },
		{ "foo (>=1)", "foo>=1" },
		{ "foo@https://h/x.zip ;extra=='a'", "foo @ https://h/x.zip ; extra == \"a\"" },
		{ "a;(python_version<'3.9'and extra=='x')or os_name!='nt'",
		  "a; (python_version < \"3.9\" and extra == \"x\") or os_name != \"nt\"" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_free_ char *once = normal(rows[i][0]);
		assert_string_equal(once, rows[i][1]);
		_cleanup_free_ char *twice = normal(once);
		assert_string_equal(twice, once);
	}
}

static void test_pins_and_extras(void **state)
{
	static const struct { const char *text, *pin; bool extra; } rows[] = {
		{ "a==1.2", "1.2", false }, { "a==1.2.*", NULL, false }, { "a===1.2", NULL, false },
		{ "a==1,<2", NULL, false }, { "a", NULL, false }, { "a; extra == 'extra'", NULL, true },
		{ "a==1; os_name == 'extra'", "1", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_requirement_ struct requirement r = { 0 };
		assert_int_equal(requirement_parse(slice_of(rows[i].text), &r, NULL), 0);
		_cleanup_free_ char *pin = requirement_pin(&r);
		assert_true(str_eq(pin, rows[i].pin));
		assert_int_equal(requirement_is_extra(&r), rows[i].extra);
	}
}

static void test_nested_marker(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_requirement_ struct requirement r = { 0 };
	buf_str(&text, "a;");
	for (int i = 0; i < 1000; i++)
		buf_byte(&text, '(');
	assert_int_equal(requirement_parse((struct slice){ text.data, text.len }, &r, &err), -1);
	assert_non_null(strstr(err.msg, "nested"));
}

static void test_lists_are_sorted_and_unique(void **state)
{
	_cleanup_str_list_ struct str_list in = STR_LIST_INIT, out = STR_LIST_INIT;
	str_list_add(&in, "wheel");
	str_list_add(&in, "Torch == 2");
	str_list_add(&in, "torch==2");
	assert_int_equal(requirements_normalise(&in, &out, NULL), 0);
	assert_int_equal(out.count, 2);
	assert_string_equal(out.items[0], "torch==2");
	assert_string_equal(out.items[1], "wheel");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_one_spelling),
		cmocka_unit_test(test_pins_and_extras),
		cmocka_unit_test(test_nested_marker),
		cmocka_unit_test(test_lists_are_sorted_and_unique),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
