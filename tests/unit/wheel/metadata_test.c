/* METADATA and WHEEL. */
#include "support/vectors.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wheel/metadata.h"

static const char folded[] =
	"Metadata-Version: 2.1\r\n"
	"Name: fancy\r\n"
	"version:  1.0 \r\n"
	"Description: first line\r\n"
	"        Version: of the description\r\n"
	"Classifier: A\n"
	"Classifier: B\n"
	"\n"
	"Version: of the body\n";

static void reads(void **state)
{
	struct slice text = slice_of(folded), value;
	assert_int_equal(metadata_check(text, NULL), 0);
	assert_true(metadata_get(text, "VERSION", 0, &value));
	assert_true(slice_is(value, "1.0"));
	assert_false(metadata_get(text, "Version", 1, &value)); /* neither a continuation nor the body counts */
	assert_true(metadata_get(text, "Classifier", 1, &value));
	assert_true(slice_is(value, "B"));
	_cleanup_free_ char *name = metadata_one(text, "Name", NULL);
	assert_string_equal(name, "fancy");
	assert_null(metadata_one(text, "Classifier", NULL));
	assert_null(metadata_one(text, "Summary", NULL));
}

static void sets(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	metadata_set(slice_of(folded), "Version", "1.0+cu130", &out);
	const char *at = strstr(folded, "1.0 \r\n");
	size_t before = (size_t)(at - folded);
	assert_memory_equal(out.data, folded, before);
	assert_memory_equal(out.data + before, "1.0+cu130", 9);
	assert_string_equal(out.data + before + 9, at + 3);
}

static void keeps_every_byte(void **state)
{
	vectors_or_skip("dist/everything.metadata");
	size_t len;
	_cleanup_free_ char *text = vectors_slurp(vectors_path("dist/everything.metadata"), &len);
	struct slice all = { text, len };
	_cleanup_buf_ struct buf out = BUF_INIT, back = BUF_INIT;
	assert_int_equal(metadata_check(all, NULL), 0);
	_cleanup_free_ char *version = metadata_one(all, "Version", NULL);
	metadata_set(all, "Version", "9.9+x", &out);
	assert_true(out.len == len - strlen(version) + 5);
	metadata_set((struct slice){ out.data, out.len }, "Version", version, &back);
	assert_int_equal(back.len, len);
	assert_memory_equal(back.data, text, len);
}

static void refuses(void **state)
{
	static const struct slice bad[] = {
		SLICE("Name: a\nno field\n"), SLICE(" begins with a continuation\n"), SLICE(": no name\n"),
		SLICE("Na me: a\n"), SLICE("Name: a\0b\n"), SLICE("Name: \xff\n"),
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_int_equal(metadata_check(bad[i], NULL), -1);
}

static void purelib(void **state)
{
	vectors_or_skip("dist/wheel-purelib.tsv");
	struct vectors v = vectors_load("dist/wheel-purelib.tsv");
	for (size_t i = 0; i < v.count; i++)
		assert_int_equal(metadata_is_pure(slice_of(vectors_text(&v, i, "WHEEL_text"))),
			strcmp(vectors_text(&v, i, "root_is_purelib"), "true") == 0);
	vectors_free(&v);
}

static void writes_wheel(void **state)
{
	static const char before[] = "Wheel-Version: 1.0\nTag: py2-none-any\nBuild: 3\nGenerator: bdist_wheel (0.30.0)\n"
		"Tag: py3-none-any\nRoot-Is-Purelib: false";
	_cleanup_str_list_ struct str_list tags = STR_LIST_INIT;
	_cleanup_buf_ struct buf out = BUF_INIT;
	str_list_add(&tags, "py2-none-linux_x86_64");
	str_list_add(&tags, "py3-none-linux_x86_64");
	metadata_write_wheel(slice_of(before), &tags, "1", &out);
	assert_string_equal(out.data, "Wheel-Version: 1.0\nGenerator: bdist_wheel (0.30.0)\nRoot-Is-Purelib: false\n"
		"Tag: py2-none-linux_x86_64\nTag: py3-none-linux_x86_64\nBuild: 1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads), cmocka_unit_test(sets), cmocka_unit_test(keeps_every_byte),
		cmocka_unit_test(refuses), cmocka_unit_test(purelib), cmocka_unit_test(writes_wheel),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
