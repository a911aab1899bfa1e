#include "support/vectors.h"

#include <stdlib.h>

#include "core/mem.h"
#include "lock/sources.h"

#define SHA "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define SUM(name) " " SHA " 7 " name "\n"
#define STANZA(name, version, sums, more) \
	"Package: " name "\nBinary: x,\n y\nVersion: " version "\nFiles:\n 00 7 " name "_1.orig.tar.xz\nChecksums-Sha256:\n" sums \
	more "Directory: pool/main/" name "\n\n"

static const char sources[] =
	"\n" STANZA("py", "1:3.11.2-6+deb12u6", SUM("py_3.11.2-6+deb12u6.dsc") SUM("py_3.11.2.orig.tar.xz.asc")
		SUM("py_3.11.2.orig-docs.tar.xz") SUM("py_3.11.2.orig.tar.xz") SUM("py_3.11.2-6.debian.tar.xz"), "")
	STANZA("py", "1:3.11.10-1", SUM("py_3.11.10.orig.tar.gz"), "Package-List:\n x deb\n")
	STANZA("py", "1:3.12.0-1", SUM("py_3.12.0.orig.tar.xz"), "Extra-Source-Only: yes\n")
	STANZA("py-more", "9-1", SUM("py_9.orig.tar.xz"), "")
	STANZA("native", "5", SUM("native_5.tar.xz"), "")
	STANZA("native", "4-1", SUM("native_4.orig.tar.xz"), "")
	STANZA("other", "1-1", SUM("other_2.orig.tar.xz"), "")
	STANZA("no-hex", "1-1", " 0123 7 no-hex_1.orig.tar.xz\n", "")
	STANZA("no-size", "1-1", " " SHA " x no-size_1.orig.tar.xz\n", "")
	STANZA("long-size", "1-1", " " SHA " 1111111111111111111 long-size_1.orig.tar.xz\n", "")
	STANZA("no-sums", "1-1", "", "Checksums-Sha1:\n 00 7 no-sums_1.orig.tar.xz\n")
	STANZA("odd", "-1", SUM("odd_1.orig.tar.xz"), "")
	STANZA("odder", "1/../2-1", SUM("odder_1/../2.orig.tar.xz"), "")
	"Package: no-version\nDirectory: pool/x\nChecksums-Sha256:\n" SUM("no-version_1.orig.tar.xz") "\n"
	"Package: no-folder\nVersion: 1-1\nChecksums-Sha256:\n" SUM("no-folder_1.orig.tar.xz") "\n"
	"Package: odd-folder\nVersion: 1-1\nDirectory: pool/\xff\nChecksums-Sha256:\n" SUM("odd-folder_1.orig.tar.xz") "\n"
	"Package: last\nVersion: 2~rc1-1\nDirectory: pool/l\nChecksums-Sha256:\n" SUM("last_2~rc1.orig.tar.bz2");

static void check(const char *name, const char *version, const char *path)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_json_ struct json *found = sources_find(SLICE(sources), name, &err);
	if (!found)
		fail_msg("%s", err.msg);
	assert_string_equal(json_get_str(found, "source"), name);
	assert_string_equal(json_get_str(found, "version"), version);
	assert_string_equal(json_get_str(found, "path"), path);
	assert_string_equal(json_get_str(found, "sha256"), SHA);
	assert_int_equal(json_get_int(found, "size", -1), 7);
}

static void test_newest_tarball_of_upstream(void **state)
{
	check("py", "1:3.11.10-1", "pool/main/py/py_3.11.10.orig.tar.gz");
	check("last", "2~rc1-1", "pool/l/last_2~rc1.orig.tar.bz2"); /* the text's last line need not end */
}

static void test_tarball_among_others(void **state)
{
	const char *second = strstr(sources, "Package: py\nBinary: x,\n y\nVersion: 1:3.11.10-1");
	_cleanup_json_ struct json *found =
		sources_find((struct slice){ sources, (size_t)(second - sources) }, "py", NULL);
	assert_string_equal(json_get_str(found, "path"), "pool/main/py/py_3.11.2.orig.tar.xz");
}

static void test_what_does_not_serve(void **state)
{
	static const char *const rows[][2] = {
		{ "python", "there is no source package \"python\"" },
		{ "y", "there is no source package" },
		{ "native", "the source package native 5 is Debian's own" },
		{ "other", "other 1-1 gives no sha256 of other_1.orig.tar.xz" },
		{ "no-hex", "no-hex 1-1 gives no sha256 of" },
		{ "no-size", "no-size 1-1 gives no sha256 of" },
		{ "long-size", "long-size 1-1 gives no sha256 of" },
		{ "no-sums", "no-sums 1-1 gives no sha256 of" },
		{ "odd", "odd has a stanza without a Version" },
		{ "odder", "odder has a stanza without a Version" },
		{ "no-version", "no-version has a stanza without a Version" },
		{ "odd-folder", "odd-folder 1-1 has no Directory" },
		{ "no-folder", "no-folder 1-1 has no Directory" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		assert_null(sources_find(SLICE(sources), rows[i][0], &err));
		assert_int_equal(err.code, ERR_INPUT);
		if (!strstr(err.msg, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], err.msg);
	}
}

/* Cut off anywhere: no byte behind the end is read, and what is found has a whole hash. */
static void test_cut_off(void **state)
{
	size_t with = (size_t)(strstr(sources, "Package: py-more") - sources);
	for (size_t n = 0; n < with; n++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_free_ char *text = mem_dup_n(sources, n);
		_cleanup_json_ struct json *found = sources_find((struct slice){ text, n }, "py", &err);
		assert_true(found || err.code == ERR_INPUT);
		if (found)
			assert_string_equal(json_get_str(found, "sha256"), SHA);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest_tarball_of_upstream),
		cmocka_unit_test(test_tarball_among_others),
		cmocka_unit_test(test_what_does_not_serve),
		cmocka_unit_test(test_cut_off),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
