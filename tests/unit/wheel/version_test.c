/* PEP 440 versions, against the shared vectors. */
#include "support/vectors.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wheel/version.h"

static struct version parse(const char *text)
{
	struct version v;
	_cleanup_err_ struct err err = { 0 };
	if (version_parse(slice_of(text), &v, &err))
		fail_msg("%s", err.msg);
	return v;
}

static int compare(const char *a, const char *b)
{
	_cleanup_version_ struct version x = parse(a), y = parse(b);
	int c = version_compare(&x, &y);
	/* The order must be the same from the other side. */
	assert_int_equal((c > 0) - (c < 0), -((version_compare(&y, &x) > 0) - (version_compare(&y, &x) < 0)));
	return c;
}

static void rising(void **state)
{
	vectors_or_skip("pep440/sorted.tsv");
	struct vectors v = vectors_load("pep440/sorted.tsv");
	for (size_t i = 0; i < v.count; i++)
		for (size_t k = i; k < v.count; k++) {
			const char *a = vectors_text(&v, i, "version"), *b = vectors_text(&v, k, "version");
			int c = compare(a, b);
			if (i == k ? c != 0 : c >= 0)
				fail_msg("%s and %s compare as %d", a, b, c);
		}
	vectors_free(&v);
}

static void equal(void **state)
{
	vectors_or_skip("pep440/equal.tsv");
	struct vectors v = vectors_load("pep440/equal.tsv");
	for (size_t i = 0; i < v.count; i++)
		if (compare(vectors_text(&v, i, "a"), vectors_text(&v, i, "b")) != 0)
			fail_msg("%s is not %s", vectors_text(&v, i, "a"), vectors_text(&v, i, "b"));
	vectors_free(&v);
}

static void invalid(void **state)
{
	vectors_or_skip("pep440/invalid.tsv");
	struct vectors v = vectors_load("pep440/invalid.tsv");
	struct version got;
	for (size_t i = 0; i < v.count; i++) {
		struct vectors_cell text = vectors_cell(&v, i, "input");
		if (version_parse((struct slice){ text.data, text.len }, &got, NULL) == 0)
			fail_msg("\"%s\" was taken as %s", text.data, got.text);
	}
	vectors_free(&v);
}

static void normalised(void **state)
{
	vectors_or_skip("pep440/normalised.tsv");
	struct vectors v = vectors_load("pep440/normalised.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_version_ struct version got = parse(vectors_text(&v, i, "input"));
		assert_string_equal(got.text, vectors_text(&v, i, "normalised"));
		_cleanup_version_ struct version again = parse(got.text);
		assert_string_equal(again.text, got.text);
	}
	vectors_free(&v);
}

/* A part that the table writes "-" where there is none. */
static void check_part(struct slice have, bool there, const struct vectors *v, size_t i, const char *column)
{
	const char *want = vectors_text(v, i, column);
	if (there ? !want || !slice_is(have, want) : want != NULL)
		fail_msg("%s of %s is \"%.*s\"", column, vectors_text(v, i, "input"), (int)have.n, have.p);
}

static bool truth(const struct vectors *v, size_t i, const char *column)
{
	return strcmp(vectors_text(v, i, column), "true") == 0;
}

static void parts(void **state)
{
	vectors_or_skip("pep440/parts.tsv");
	struct vectors v = vectors_load("pep440/parts.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_version_ struct version got = parse(vectors_text(&v, i, "input"));
		_cleanup_free_ char *pre = mem_printf("%s%.*s", got.pre_kind == 'r' ? "rc" : got.pre_kind == 'b' ? "b" : "a",
			(int)got.pre.n, got.pre.p);
		assert_string_equal(got.text, vectors_text(&v, i, "normalised"));
		check_part(got.epoch, true, &v, i, "epoch");
		check_part(got.release, true, &v, i, "release");
		check_part(slice_of(pre), got.pre_kind, &v, i, "pre");
		check_part(got.post, got.has_post, &v, i, "post");
		check_part(got.dev, got.has_dev, &v, i, "dev");
		check_part(got.local, got.local.n, &v, i, "local");
		check_part(version_public(&got), true, &v, i, "public");
		assert_int_equal(version_is_prerelease(&got), truth(&v, i, "is_prerelease"));
		assert_int_equal(got.has_post, truth(&v, i, "is_postrelease"));
		assert_int_equal(got.has_dev, truth(&v, i, "is_devrelease"));
	}
	vectors_free(&v);
}

static void local_labels(void **state)
{
	_cleanup_free_ char *label = NULL;
	assert_int_equal(version_local_parse(SLICE("CU130-Torch2.011"), &label, NULL), 0);
	assert_string_equal(label, "cu130.torch2.11");
	char *none;
	assert_int_equal(version_local_parse(SLICE(""), &none, NULL), -1);
	assert_int_equal(version_local_parse(SLICE("cu130+torch"), &none, NULL), -1);
	assert_int_equal(version_local_parse(SLICE("cu130/../x"), &none, NULL), -1);
	assert_int_equal(version_local_parse(SLICE(".cu130"), &none, NULL), -1);
}

static void long_numbers(void **state)
{
	/* Larger than any machine word, and still in order. */
	assert_true(compare("1.99999999999999999999999999999", "1.100000000000000000000000000000") < 0);
	_cleanup_buf_ struct buf text = BUF_INIT;
	for (int i = 0; i < VERSION_LIMIT; i++)
		buf_str(&text, "1.");
	struct version v;
	assert_int_equal(version_parse((struct slice){ text.data, text.len - 1 }, &v, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rising), cmocka_unit_test(equal), cmocka_unit_test(invalid),
		cmocka_unit_test(normalised), cmocka_unit_test(parts), cmocka_unit_test(local_labels),
		cmocka_unit_test(long_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
