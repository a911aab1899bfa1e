/* Numbers and paragraphs as people read them. */
#include "support/vectors.h"

#include "cli/cli.h"
#include "cli/display_impl.h"

static void assert_text(char *got, const char *want)
{
	_cleanup_free_ char *text = got;
	assert_string_equal(text, want);
}

static void bytes(void **state)
{
	static const struct { int64_t bytes; const char *text; } cases[] = {
		{ 0, "0 B" }, { 999, "999 B" }, { 1000, "1.0 kB" }, { 9949, "9.9 kB" }, { 9950, "10 kB" },
		{ 999499, "999 kB" }, { 999500, "1.0 MB" }, { 25013490, "25 MB" }, { 2900000000, "2.9 GB" },
		{ INT64_C(5000000000000), "5.0 TB" }, { INT64_MAX, "9223372 TB" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_text(cli_bytes(cases[i].bytes), cases[i].text);
}

static void durations(void **state)
{
	static const struct { int64_t ms; const char *text; } cases[] = {
		{ 0, "0 ms" }, { 999, "999 ms" }, { 1000, "1.0 s" }, { 59949, "59.9 s" }, { 59950, "1 min 00 s" },
		{ 60000, "1 min 00 s" }, { 612499, "10 min 12 s" }, { 3599499, "59 min 59 s" }, { 3599500, "1 h 00 min" },
		{ 7500000, "2 h 05 min" }, { 360000000, "100 h 00 min" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_text(cli_duration(cases[i].ms), cases[i].text);
}

static void wrapping(void **state)
{
	assert_text(cli_wrap("", 4), "");
	assert_text(cli_wrap("two words", 4), "two words");
	assert_text(cli_wrap("a line\nanother", 2), "a line\n  another");
	assert_text(cli_wrap("aaaaaaaaaaaaaaaaaaa bbbbbbbbbb cccccccc d", 60), "aaaaaaaaaaaaaaaaaaa\n"
		"                                                            bbbbbbbbbb cccccccc\n"
		"                                                            d");
	assert_text(cli_wrap("ääääääääääääääääää b", 59), "ääääääääääääääääää b"); /* 79 columns */
	assert_text(cli_wrap("äääääääääääääääääää b", 59), "äääääääääääääääääää\n"
		"                                                           b");
}

static void control_bytes_are_made_harmless(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	display_clean("a\033[2J\tb\r\x7f\xc2\x9b" "c \xc3\xa9 \xe2\x80\xa6", &out);
	assert_string_equal(out.data, "a?[2J b???c \xc3\xa9 \xe2\x80\xa6");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes), cmocka_unit_test(durations), cmocka_unit_test(wrapping),
		cmocka_unit_test(control_bytes_are_made_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
