/* aterm_read.c, aterm_write.c and the strict drv_read of check.c. */
#include "unit/drv/help.h"

#include "drv/aterm.h"

static size_t number(const struct vectors *v, size_t row, const char *column)
{
	const char *text = vectors_text(v, row, column);
	return text ? (size_t)atoi(text) : 0;
}

static void check_counts(const struct vectors *v, size_t row, const struct drv *d)
{
	assert_int_equal(d->output_count, number(v, row, "outputs"));
	assert_int_equal(d->input_count, number(v, row, "input_drvs"));
	assert_int_equal(d->src_count, number(v, row, "input_srcs"));
	assert_int_equal(d->arg_count, number(v, row, "args"));
	assert_int_equal(d->env_count, number(v, row, "env"));
}

/*
 * Two accepted rows are beyond what forge takes: dynamic derivations (Nix 2.8
 * has none), and a derivation that is not in its canonical form.
 */
static bool beyond(const struct vectors *v, size_t row)
{
	return strcmp(vectors_text(v, row, "form"), "xp-dyn-drv") == 0;
}

static void check_case(const struct vectors *v, size_t row)
{
	const char *file = vectors_text(v, row, "file"), *expected = vectors_text(v, row, "expected");
	_cleanup_arena_ struct arena a = ARENA_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT, again = BUF_INIT;
	_cleanup_err_ struct err err = { 0 };
	if (!expected)
		return;
	buf_printf(&path, "nix/%s", file);
	struct slice text = slurp(vectors_path(path.data), &a);
	struct drv *d = aterm_read(text, "name", &a, &err);
	/* The path of a fixed output is a matter of drv_read, not of the syntax. */
	bool syntax_ok = (strcmp(expected, "accept") == 0 && !beyond(v, row)) || strstr(file, "bad-ca-fixed-path");
	if (!d != !syntax_ok)
		fail_msg("%s: %s", file, d ? "accepted" : err.msg);
	if (!d)
		return;
	check_counts(v, row, d);
	drv_write(d, &again);
	/* aterm_read keeps the order: even the one that Nix would sort comes back as it was. */
	assert_slice(text, &again);
}

static void test_cases(void **state)
{
	vectors_or_skip("nix/drv-cases.tsv");
	struct vectors v = vectors_load("nix/drv-cases.tsv");
	for (size_t i = 0; i < v.count; i++)
		check_case(&v, i);
	vectors_free(&v);
}

/* What Nix wrote for /forge/store is read strictly, and its path is the one Nix gave it. */
static void test_measured(void **state)
{
	vectors_or_skip("nix/drv-cases.tsv");
	struct vectors v = vectors_load("nix/drv-cases.tsv");
	size_t count = 0;
	for (size_t i = 0; i < v.count; i++) {
		const char *file = vectors_text(&v, i, "file");
		if (!str_starts(file, "measured/drv/"))
			continue;
		_cleanup_arena_ struct arena a = ARENA_INIT;
		_cleanup_buf_ struct buf path = BUF_INIT, again = BUF_INIT, computed = BUF_INIT;
		buf_printf(&path, "nix/%s", file);
		const char *base = file + strlen("measured/drv/"), *name = base + STORE_PATH_DIGEST + 1;
		struct slice text = slurp(vectors_path(path.data), &a);
		struct drv *d = NULL;
		assert_ok((d = drv_read(text, arena_dup_n(&a, name, strlen(name) - 4), &a, err)) ? 0 : -1);
		drv_write(d, &again);
		assert_slice(text, &again);
		drv_path(d, &computed);
		assert_string_equal(store_path_base(computed.data), base);
		count++;
	}
	assert_int_equal(count, 14);
	vectors_free(&v);
}

#define HEAD "Derive([(\"out\",\"\",\"r:sha256\",\"\")],[],[],\"x86_64-linux\",\"/bin/sh\","

static void refuse(const char *text, const char *why)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	assert_null_with(drv_read(slice_of(text), "name", &a, err), why);
}

static void test_refused(void **state)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	assert_ok(drv_read(SLICE(HEAD "[],[])"), "name", &a, err) ? 0 : -1);
	refuse("", "'Derive(' expected");
	refuse(HEAD "[],[]", "')' expected");
	refuse(HEAD "[],[]) ", "something after the end");
	refuse(HEAD "[\"a\",],[])", "'\"' expected");
	refuse(HEAD "[,],[])", "'\"' expected");
	refuse(HEAD "[\"a\" \"b\"],[])", "',' expected");
	refuse(HEAD "[\"a", "unterminated");
	refuse(HEAD "[\"a\\", "unterminated");
	refuse(HEAD "[\"\\a\"],[])", "canonical");
	refuse(HEAD "[\"\n\"],[])", "canonical");
	refuse(HEAD "[],[(\"b\",\"\"),(\"a\",\"\")])", "canonical");
	refuse(HEAD "[],[(\"a\",\"\"),(\"a\",\"\")])", "same variable twice");
	assert_null_with(drv_read(SLICE(HEAD "[\"a\0b\"],[])"), "name", &a, err), "NUL");
	assert_null_with(drv_read(SLICE(HEAD "[\"a\\\0b\"],[])"), "name", &a, err), "NUL");
	assert_null_with(drv_read((struct slice){ HEAD, DRV_TEXT_MAX + 1 }, "name", &a, err), "more than");
	assert_null_with(drv_read(SLICE(HEAD "[],[])"), "na/me", &a, err), "0x2f");
}

static void refuse_output(const char *output, const char *why)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	buf_printf(&text, "Derive([%s],[],[],\"x86_64-linux\",\"/bin/sh\",[],[])", output);
	refuse(text.data, why);
}

#define HEX "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
#define FLAT_PATH STORE_DIR "/qjrvn1swbdbhpvq99myrvz2lslwyvf1b-archive.tar.gz"

static void test_refused_outputs(void **state)
{
	refuse_output("", "has to have an output");
	refuse_output("(\"out\",\"\",\"md5\",\"\")", "something else than sha256");
	refuse_output("(\"out\",\"\",\"text:sha256\",\"\")", "something else than sha256");
	refuse_output("(\"out\",\"\",\"\",\"" HEX "\")", "without an algorithm");
	refuse_output("(\"out\",\"" FLAT_PATH "\",\"sha256\",\"\")", "floating output with a path");
	refuse_output("(\"out\",\"\",\"sha256\",\"" HEX "\")", "without a path");
	refuse_output("(\"out\",\"" FLAT_PATH "\",\"sha256\",\"zz\")", "");
	refuse_output("(\"out\",\"/etc/passwd\",\"\",\"\")", "not a store path");
	refuse_output("(\"bin\",\"" FLAT_PATH "\",\"sha256\",\"" HEX "\")", "called 'out'");
	refuse_output("(\"out\",\"" FLAT_PATH "\",\"sha256\",\"" HEX "\")", "its hash gives");
	refuse_output("(\"a\",\"\",\"r:sha256\",\"\"),(\"b\",\"\",\"\",\"\")", "of one kind");
	refuse_output("(\"a\",\"\",\"r:sha256\",\"\"),(\"b\",\"\",\"sha256\",\"\")", "of one kind");
	refuse_output("(\"a\",\"\",\"r:sha256\",\"\"),(\"a\",\"\",\"r:sha256\",\"\")", "same output twice");
	refuse_output("(\"b\",\"\",\"r:sha256\",\"\"),(\"a\",\"\",\"r:sha256\",\"\")", "canonical");
	refuse_output("(\"drv\",\"\",\"r:sha256\",\"\")", "named 'drv'");
	refuse_output("(\"\",\"\",\"r:sha256\",\"\")", "empty");
	_cleanup_arena_ struct arena a = ARENA_INIT;
	const char *fixed = "Derive([(\"out\",\"" FLAT_PATH "\",\"sha256\",\"" HEX "\")],[],[],\"s\",\"b\",[],[])";
	assert_ok(drv_read(slice_of(fixed), "archive.tar.gz", &a, err) ? 0 : -1);
	assert_null_with(drv_read(slice_of(fixed), "other", &a, err), "its hash gives");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases), cmocka_unit_test(test_measured), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_refused_outputs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
