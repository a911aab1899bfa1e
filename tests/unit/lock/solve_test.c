#include "support/vectors.h"
#include "support/tempdir.h"

#include "core/fs.h"
#include "lock/solve.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define PACKAGE(name, version, more) \
	"Package: " name "\nVersion: " version "\nArchitecture: amd64\n" more \
	"Filename: pool/" name ".deb\nSize: 5\nSHA256: " SHA "\n\n"

static const char packages[] =
	PACKAGE("app", "1:2.0-1", "Depends: lib (>= 2), tool | other-tool\nRecommends: extra\n")
	PACKAGE("extra", "1", "")
	PACKAGE("lib", "1.9", "")
	PACKAGE("lib", "2.0~rc1-1", "")
	PACKAGE("lib", "2.1-1", "Pre-Depends: base:any\n")
	PACKAGE("base", "1", "Multi-Arch: allowed\n")
	PACKAGE("tool", "3", "Provides: virtual\n")
	PACKAGE("foe", "1", "Conflicts: tool\n")
	PACKAGE("needs-virtual", "1", "Depends: virtual\n")
	PACKAGE("needs-nothing-there", "1", "Depends: absent (>= 1)\n")
	"Package: bare\nVersion: 1\nArchitecture: amd64\n\n"
	"Package: sizeless\nVersion: 1\nArchitecture: all\nFilename: pool/s.deb\nSHA256: " SHA "\n\n"
	"Package: foreign\nVersion: 1\nArchitecture: arm64\nFilename: pool/f.deb\nSize: 5\nSHA256: " SHA "\n\n";

static struct json *ask(const char *first, const char *second, bool deps, struct err *err)
{
	struct tempdir dir = tempdir_make();
	_cleanup_str_list_ struct str_list files = STR_LIST_INIT, wanted = STR_LIST_INIT;
	assert_int_equal(fs_write_file(dir.fd, "Packages", packages, sizeof packages - 1, 0644, NULL), 0);
	str_list_take(&files, fs_join(dir.path, "Packages"));
	str_list_add(&wanted, first);
	if (second)
		str_list_add(&wanted, second);
	struct json *out = solve_debian(&files, &wanted, deps, err);
	tempdir_remove(&dir);
	return out;
}

static struct json *solve(const char *first, const char *second, struct err *err)
{
	return ask(first, second, true, err);
}

static void test_closure(void **state)
{
	static const char *const expected[][2] = { { "app", "1:2.0-1" }, { "base", "1" }, { "lib", "2.1-1" }, { "tool", "3" } };
	_cleanup_err_ struct err err = { 0 };
	_cleanup_json_ struct json *got = solve("app", NULL, &err);
	if (!got)
		fail_msg("%s", err.msg);
	assert_int_equal(json_count(got), 4);
	for (size_t i = 0; i < 4; i++) {
		const struct json *p = json_at(got, i);
		assert_string_equal(json_get_str(p, "package"), expected[i][0]);
		assert_string_equal(json_get_str(p, "version"), expected[i][1]);
		assert_string_equal(json_get_str(p, "sha256"), SHA);
		assert_int_equal(json_get_int(p, "size", 0), 5);
	}
	assert_string_equal(json_get_str(json_at(got, 0), "path"), "pool/app.deb");
}

static void test_virtual(void **state)
{
	_cleanup_json_ struct json *got = solve("needs-virtual", NULL, NULL);
	assert_int_equal(json_count(got), 2);
}

/* What is named, the newest of each; nothing of what it needs, or can't be beside. */
static void test_alone(void **state)
{
	static const char *const expected[][2] = { { "lib", "2.1-1" }, { "needs-nothing-there", "1" } };
	_cleanup_err_ struct err err = { 0 };
	_cleanup_json_ struct json *got = ask("lib", "needs-nothing-there", false, &err);
	if (!got)
		fail_msg("%s", err.msg);
	assert_int_equal(json_count(got), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(json_get_str(json_at(got, i), "package"), expected[i][0]);
		assert_string_equal(json_get_str(json_at(got, i), "version"), expected[i][1]);
		assert_int_equal(json_get_int(json_at(got, i), "size", 0), 5);
	}
	static const char *const refused[][2] = { { "tol", "there is no package \"tol\"" }, { "virtual", "there is no package" },
		{ "foreign", "there is no package \"foreign\"" }, { "sizeless", "lacks its Size" }, { "bare", "lacks its SHA256" } };
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		_cleanup_err_ struct err why = { 0 };
		_cleanup_json_ struct json *none = ask("lib", refused[i][0], false, &why);
		if (none || !strstr(why.msg, refused[i][1]))
			fail_msg("%s: %s", refused[i][0], none ? "was found" : why.msg);
	}
}

static void test_refused(void **state)
{
	static const char *const rows[][3] = {
		{ "tol", NULL, "there is no package \"tol\"" },
		{ "needs-virtaul", NULL, "is \"needs-virtual\" meant?" },
		{ "virtual", NULL, "there is no package \"virtual\"" },
		{ "needs-nothing-there", NULL, "don't go together: nothing provides absent" },
		{ "tool", "foe", "don't go together" },
		{ "foreign", NULL, "don't go together" },
		{ "sizeless", NULL, "package sizeless lacks its Size" },
		{ "bare", NULL, "package bare lacks its SHA256 or Filename" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_json_ struct json *got = solve(rows[i][0], rows[i][1], &err);
		if (got || !strstr(err.msg, rows[i][2]))
			fail_msg("%s: %s", rows[i][0], got ? "was solved" : err.msg);
	}
}

/* To dpkg "1.0" is "1.0-0", to libsolv it comes before every "1.0-…": no archive has both of one package. */
static bool only_one_has_a_revision(const char *a, const char *b)
{
	a += strncmp(a, "0:", 2) == 0 ? 2 : 0;
	b += strncmp(b, "0:", 2) == 0 ? 2 : 0;
	const char *longer = strlen(a) > strlen(b) ? a : b, *shorter = longer == a ? b : a;
	return strncmp(longer, shorter, strlen(shorter)) == 0 && longer[strlen(shorter)] == '-';
}

static void test_versions(void **state)
{
	vectors_or_skip("deb/version-compare.tsv");
	struct vectors v = vectors_load("deb/version-compare.tsv");
	size_t left_out = 0;
	for (size_t i = 0; i < v.count; i++) {
		const char *a = vectors_text(&v, i, "a"), *b = vectors_text(&v, i, "b");
		if (only_one_has_a_revision(a, b)) {
			left_out++;
			continue;
		}
		int wanted = atoi(vectors_text(&v, i, "a_cmp_b")), got, reverse;
		assert_int_equal(solve_compare(a, b, &got, NULL), 0);
		assert_int_equal(solve_compare(b, a, &reverse, NULL), 0);
		if ((got > 0) - (got < 0) != wanted || (reverse > 0) - (reverse < 0) != -wanted)
			fail_msg("%s against %s: %d, reverse %d, not %d", a, b, got, reverse, wanted);
	}
	assert_true(left_out < 10);
	vectors_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_closure),
		cmocka_unit_test(test_virtual),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_versions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
