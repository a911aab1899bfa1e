#include "support/vectors.h"

#include "lock/release.h"

#define HASH "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define TEXT \
	"Origin: Debian\nSuite: stable\nCodename: trixie\nAcquire-By-Hash: yes\n" \
	"Valid-Until: Sat, 19 Sep 2026 08:10:59 UTC\nMD5Sum:\n 00 5 main/Packages\nSHA256:\n " \
	HASH "        12 main/Packages\n " HASH " 7 main/Packages.xz\n 00 7 bad\n " HASH " x7 worse\nSHA512:\n " HASH " 9 other\n"

#define END 1789805459 /* of TEXT's Valid-Until */

static void test_suite_and_date(void **state)
{
	static const struct { const char *text, *suite, *says; int64_t now; } rows[] = {
		{ TEXT, "trixie", NULL, END }, { TEXT, "stable", NULL, 0 },
		{ TEXT, "bookworm", "that of \"trixie\" (\"stable\"), not of \"bookworm\"", 0 },
		{ TEXT, "trixie", "was valid until Sat, 19 Sep 2026 08:10:59 UTC", END + 1 },
		{ "Codename: a\nValid-Until: soon\n", "a", "that is no date: \"soon\"", 0 },
		{ "Codename: a\nValid-Until: Sat, 19 Foo 2026 08:10:59 UTC\n", "a", "that is no date", 0 },
		{ "Codename: a\nValid-Until: Sat, 19 Sep 2026 08:10:59 CET\n", "a", "that is no date", 0 },
		{ "Codename: a\n", "a", NULL, INT64_MAX },
		{ "", "a", "not of \"a\"", 0 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		int rc = release_check(slice_of(rows[i].text), rows[i].suite, rows[i].now, &err);
		if ((rc == 0) != !rows[i].says || (rc < 0 && !strstr(err.msg, rows[i].says)))
			fail_msg("row %zu: %s", i, rc < 0 ? err.msg : "was accepted");
	}
}

static void test_files(void **state)
{
	struct release_file file;
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(release_file(SLICE(TEXT), "main/Packages", &file, &err), 1);
	assert_int_equal(file.size, 12);
	assert_int_equal(file.sha256.bytes[1], 0x23);
	assert_int_equal(release_file(SLICE(TEXT), "main/Packages.xz", &file, &err), 1);
	assert_int_equal(file.size, 7);
	assert_int_equal(release_file(SLICE(TEXT), "main/Pack", &file, &err), 0);
	assert_int_equal(release_file(SLICE(TEXT), "other", &file, &err), 0); /* SHA512 only */
	assert_int_equal(release_file(SLICE(TEXT), "bad", &file, &err), -1);
	assert_int_equal(release_file(SLICE(TEXT), "worse", &file, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_suite_and_date),
		cmocka_unit_test(test_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
