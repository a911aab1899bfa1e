/* Names of projects, wheels and source archives, against the shared vectors. */
#include "support/vectors.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wheel/name.h"
#include "wheel/tag.h"

static void project_names(void **state)
{
	vectors_or_skip("names/project-names.tsv");
	struct vectors v = vectors_load("names/project-names.tsv");
	for (size_t i = 0; i < v.count; i++) {
		struct vectors_cell name = vectors_cell(&v, i, "name");
		bool want = strcmp(vectors_text(&v, i, "valid"), "accept") == 0;
		_cleanup_free_ char *normal = wheel_normalise_name(name.data);
		if (wheel_name_valid((struct slice){ name.data, name.len }) != want)
			fail_msg("\"%s\" must be %s", name.data, vectors_text(&v, i, "valid"));
		assert_string_equal(normal, vectors_text(&v, i, "normalised"));
		bool is_normal = want && strcmp(normal, name.data) == 0;
		assert_int_equal(is_normal, strcmp(vectors_text(&v, i, "is_normalised"), "true") == 0);
	}
	vectors_free(&v);
}

static void check_wheel_name(const struct vectors *v, size_t i)
{
	const char *file = vectors_text(v, i, "filename"), *build = vectors_text(v, i, "build");
	_cleanup_err_ struct err err = { 0 };
	_cleanup_wheel_name_ struct wheel_name n = { 0 };
	_cleanup_str_list_ struct str_list tags = STR_LIST_INIT;
	bool got = wheel_name_parse(file, &n, &err) == 0;
	if (got != (strcmp(vectors_text(v, i, "expected"), "accept") == 0))
		fail_msg("%s must be %s", file, vectors_text(v, i, "expected"));
	if (!got)
		return;
	assert_string_equal(n.project, vectors_text(v, i, "name"));
	assert_string_equal(n.version, vectors_text(v, i, "version"));
	assert_true(str_eq(n.build, build));
	tag_expand(n.python, n.abi, n.platform, &tags);
	_cleanup_buf_ struct buf all = BUF_INIT;
	for (size_t k = 0; k < tags.count; k++)
		buf_printf(&all, "%s%s", k ? " " : "", tags.items[k]);
	assert_string_equal(all.data, vectors_text(v, i, "tags"));
}

static void wheel_names(void **state)
{
	vectors_or_skip("names/wheel-names.tsv");
	struct vectors v = vectors_load("names/wheel-names.tsv");
	for (size_t i = 0; i < v.count; i++)
		check_wheel_name(&v, i);
	vectors_free(&v);
}

static void sdist_names(void **state)
{
	vectors_or_skip("names/sdist-names.tsv");
	struct vectors v = vectors_load("names/sdist-names.tsv");
	for (size_t i = 0; i < v.count; i++) {
		const char *file = vectors_text(&v, i, "filename");
		_cleanup_free_ char *name = NULL, *version = NULL;
		bool got = sdist_name_parse(file, &name, &version, NULL) == 0;
		if (got != (strcmp(vectors_text(&v, i, "expected"), "accept") == 0))
			fail_msg("%s must be %s", file, vectors_text(&v, i, "expected"));
		assert_true(str_eq(name, vectors_text(&v, i, "name")));
		assert_true(str_eq(version, vectors_text(&v, i, "version")));
	}
	vectors_free(&v);
}

static void upload_names(void **state)
{
	vectors_or_skip("names/upload-names.tsv");
	struct vectors v = vectors_load("names/upload-names.tsv");
	for (size_t i = 0; i < v.count; i++) {
		const char *file = vectors_text(&v, i, "filename");
		_cleanup_err_ struct err err = { 0 };
		bool got = wheel_upload_check(vectors_text(&v, i, "project"), vectors_text(&v, i, "version"), file,
			&err) == 0;
		if (got != (strcmp(vectors_text(&v, i, "expected"), "accept") == 0))
			fail_msg("%s must be %s (%s)", file, vectors_text(&v, i, "expected"), err.msg);
	}
	vectors_free(&v);
}

static void formats(void **state)
{
	_cleanup_wheel_name_ struct wheel_name n = { 0 };
	assert_int_equal(wheel_name_parse("Flash.Attn-2.08.3-7-CP313-cp313-linux_x86_64.whl", &n, NULL), 0);
	_cleanup_free_ char *file = wheel_name_format(&n);
	assert_string_equal(file, "flash_attn-2.8.3-7-cp313-cp313-linux_x86_64.whl");
}

static void limits(void **state)
{
	struct wheel_name n;
	_cleanup_buf_ struct buf long_name = BUF_INIT, many = BUF_INIT;
	for (int i = 0; i < 300; i++)
		buf_byte(&long_name, 'a');
	buf_str(&long_name, "-1.0-py3-none-any.whl");
	assert_int_equal(wheel_name_parse(long_name.data, &n, NULL), -1);
	/* The tags of a name expand to a product: too many alternatives are refused. */
	buf_str(&many, "x-1.0-a");
	for (int i = 0; i < 40; i++)
		buf_str(&many, ".a");
	buf_str(&many, "-none-any.whl");
	assert_int_equal(wheel_name_parse(many.data, &n, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(project_names), cmocka_unit_test(wheel_names), cmocka_unit_test(sdist_names),
		cmocka_unit_test(upload_names), cmocka_unit_test(formats), cmocka_unit_test(limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
