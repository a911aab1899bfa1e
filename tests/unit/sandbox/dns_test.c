/* The name server that knows no names: src/sandbox/dns.c (RFC 1035). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "core/fs.h"
#include "core/mem.h"
#include "sandbox/dns.h"

#include "fuzz/dns_fuzz.c"

struct asked {
	uint8_t answer[DNS_PACKET_CAP];
	char name[DNS_NAME_CAP];
	size_t len;
	int rcode;
};

static struct asked ask(const char *file)
{
	struct asked a = { .rcode = -1 };
	_cleanup_buf_ struct buf query = BUF_INIT;
	struct err err = { 0 };
	_cleanup_free_ char *path = fs_join("tests/fuzz/corpus/dns", file);
	if (fs_read_file(AT_FDCWD, path, 4096, &query, &err) < 0)
		fail_msg("%s", err.msg);
	a.len = dns_answer((const uint8_t *)query.data, query.len, a.answer, a.name);
	if (a.len > 0)
		a.rcode = a.answer[3] & 15;
	return a;
}

static void test_answers(void **state)
{
	static const struct { const char *file; int rcode; const char *name; } cases[] = {
		{ "query-a", 3, "example.invalid" }, { "query-edns", 3, "example.invalid" }, { "reverse", 3, "" },
		{ "query-aaaa-localhost", 0, "" }, { "compressed", 1, "" }, { "cut-in-label", 1, "" },
		{ "cut-in-type", 1, "" }, { "too-long", 1, "" }, { "two-questions", 1, "" }, { "answer", -1, "" },
		{ "notify", 4, "" }, { "root", 3, "" }, { "odd-bytes", 3, "a?b??.c?d" }, { "empty", -1, "" },
		{ "short", -1, "" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct asked a = ask(cases[i].file);
		if (a.rcode != cases[i].rcode || strcmp(a.name, cases[i].name) != 0)
			fail_msg("%s: %d \"%s\"", cases[i].file, a.rcode, a.name);
	}
}

static void test_longest_name(void **state)
{
	struct asked a = ask("longest");
	assert_int_equal(a.rcode, 3);
	assert_int_equal(strlen(a.name), 253);
}

/* ::1, as one record that names the question. */
static void test_localhost_address(void **state)
{
	static const uint8_t tail[] = { 0xc0, 12, 0, 28, 0, 1, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1 };
	struct asked a = ask("query-aaaa-localhost");
	assert_int_equal(a.len, 12 + 11 + 4 + sizeof tail);
	assert_memory_equal(a.answer, "\x12\x34\x85\x80\0\1\0\1\0\0\0\0", 12);
	assert_memory_equal(a.answer + a.len - sizeof tail, tail, sizeof tail);
}

/* Every packet of the corpus, at every length, in memory of just its size (for the sanitizers). */
static void test_corpus(void **state)
{
	struct err err = { 0 };
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_close_ int fd = fs_open_dir("tests/fuzz/corpus/dns", &err);
	assert_int_equal(fs_list(fd, &names, &err), 0);
	assert_true(names.count >= 16);
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_buf_ struct buf packet = BUF_INIT;
		assert_int_equal(fs_read_file(fd, names.items[i], 4096, &packet, &err), 0);
		for (size_t len = 0; len <= packet.len; len++) {
			_cleanup_free_ uint8_t *exact = mem_alloc(len + !len);
			memcpy(exact, packet.data ? packet.data : "", len);
			LLVMFuzzerTestOneInput(exact, len);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers), cmocka_unit_test(test_longest_name),
		cmocka_unit_test(test_localhost_address), cmocka_unit_test(test_corpus),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
