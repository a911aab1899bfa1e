#include "support/vectors.h"

#include "core/mem.h"
#include "lock/uvout.h"

#define H1 "1111111111111111111111111111111111111111111111111111111111111111"
#define H2 "abcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcdefabcd"

static void test_pins(void **state)
{
	static const char text[] =
		"# a comment\n\n"
		"typing_extensions==4.16.0 \\\n"
		"    --hash=sha256:" H1 " \\\n"
		"    --hash=sha256:" H2 "\n"
		"torch==2.11.0+cu130 ; sys_platform == 'linux' --hash=sha256:" H2 "\r\n"
		"last==1 --hash=sha256:" H1;
	_cleanup_err_ struct err err = { 0 };
	_cleanup_uvpins_ struct uvpins pins = { { NULL, 0, 0 } };
	if (uvout_parse(SLICE(text), &pins, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(pins.list.count, 3);
	assert_string_equal(pins.list.items[0].name, "typing-extensions");
	assert_string_equal(pins.list.items[0].version, "4.16.0");
	assert_int_equal(pins.list.items[0].hashes.count, 2);
	assert_string_equal(pins.list.items[0].hashes.items[1], H2);
	assert_string_equal(pins.list.items[1].version, "2.11.0+cu130");
	assert_string_equal(pins.list.items[1].hashes.items[0], H2);
	assert_string_equal(pins.list.items[2].name, "last");
}

static void test_nothing_is_no_pin(void **state)
{
	_cleanup_uvpins_ struct uvpins pins = { { NULL, 0, 0 } };
	assert_int_equal(uvout_parse(SLICE("\n# nothing\n"), &pins, NULL), 0);
	assert_int_equal(pins.list.count, 0);
}

static void test_refused(void **state)
{
	static const char *const rows[][2] = {
		{ "a==1\n", "line 1: a 1 has no hash" },
		{ "\na>=1 --hash=sha256:" H1, "line 2: a is not pinned" },
		{ "a==1.* --hash=sha256:" H1, "line 1: a is not pinned" },
		{ "a==1,==2 --hash=sha256:" H1, "line 1: a is not pinned" },
		{ "a @ https://h/a.whl --hash=sha256:" H1, "line 1: a is not pinned" },
		{ "--index-url https://h/simple", "line 1: requirement" },
		{ "-e .", "line 1: requirement" },
		{ "a==1 --hash=md5:00", "is not a sha256 hash" },
		{ "a==1 --hash=sha256:00", "is not a sha256 hash" },
		{ "a==1 --hash=sha256:" H1 "0", "is not a sha256 hash" },
		{ "a==1 --hash=sha256:" H1 " junk", "is not a sha256 hash" },
		{ "a==1 --hash=sha256:g" H1, "is not a sha256 hash" },
		{ "a==1 \\\n\\\n --hash=sha512:0", "line 3: \"--hash=sha512:0\"" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_uvpins_ struct uvpins pins = { { NULL, 0, 0 } };
		assert_int_equal(uvout_parse(slice_of(rows[i][0]), &pins, &err), -1);
		if (!strstr(err.msg, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pins),
		cmocka_unit_test(test_nothing_is_no_pin),
		cmocka_unit_test(test_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
