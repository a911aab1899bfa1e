#include "support/vectors.h"

#include "compile/command.h"
#include "compile/request.h"
#include "core/buf.h"
#include "shim/proto.h"

/* A request of these NUL-separated texts (all of the literal, its own NUL included). */
#define TEXTS(literal) literal, sizeof(literal)

static void make(struct buf *out, const char *texts, size_t len)
{
	unsigned char head[PROTO_HEAD];
	memcpy(head, PROTO_MAGIC, 4);
	proto_put_u32(head + 4, PROTO_VERSION);
	proto_put_u32(head + 8, (uint32_t)(PROTO_HEAD + len));
	buf_clear(out);
	buf_add(out, head, sizeof head);
	buf_add(out, texts, len);
}

static int read_made(struct buf *b, const char *texts, size_t len, struct compile_request *r, struct err *err)
{
	make(b, texts, len);
	return compile_request_read((const uint8_t *)b->data, b->len, r, err);
}

static void test_good(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_compile_request_ struct compile_request r;
	assert_int_equal(read_made(&b, TEXTS("c++\0/build/a\0" "3\0g++\0-c\0\0" "2\0LANG=C\0CPATH="), &r, NULL), 0);
	assert_int_equal(r.tool, COMPILE_TOOL_CXX);
	assert_string_equal(r.cwd, "/build/a");
	assert_int_equal(r.argv.count, 3);
	assert_string_equal(r.argv.items[0], "g++");
	assert_string_equal(r.argv.items[2], "");
	assert_string_equal(compile_request_env(&r, "LANG"), "C");
	assert_string_equal(compile_request_env(&r, "CPATH"), "");
	assert_null(compile_request_env(&r, "LAN"));
	assert_int_equal(compile_request_length((const uint8_t *)b.data, NULL), b.len);
}

static void test_bad(void **state)
{
	static const struct { const char *texts; size_t len; } rows[] = {
		{ TEXTS("") }, { TEXTS("cc") }, { TEXTS("cc\0/b") }, { TEXTS("cc\0/b\0" "1") }, { TEXTS("cc\0/b\0" "1\0cc") },
		{ TEXTS("ld\0/b\0" "1\0cc\0" "0") },             /* no such tool */
		{ TEXTS("cc\0b\0" "1\0cc\0" "0") },              /* the folder is relative, */
		{ TEXTS("cc\0/b/../c\0" "1\0cc\0" "0") },        /* not clean, */
		{ TEXTS("cc\0/b/\0" "1\0cc\0" "0") }, { TEXTS("cc\0//b\0" "1\0cc\0" "0") },
		{ TEXTS("cc\0\0" "1\0cc\0" "0") },               /* missing */
		{ TEXTS("cc\0/b\0" "0\0" "0") },                 /* no argv[0] */
		{ TEXTS("cc\0/b\0" "01\0cc\0" "0") }, { TEXTS("cc\0/b\0" "+1\0cc\0" "0") }, { TEXTS("cc\0/b\0" "-1\0cc\0" "0") },
		{ TEXTS("cc\0/b\0" "1x\0cc\0" "0") }, { TEXTS("cc\0/b\0" "2\0cc\0" "0") },
		{ TEXTS("cc\0/b\0" "16385\0cc\0" "0") }, { TEXTS("cc\0/b\0" "4294967297\0cc\0" "0") },
		{ TEXTS("cc\0/b\0" "1\0cc\0" "65") }, { TEXTS("cc\0/b\0" "1\0cc\0" "1") },
		{ TEXTS("cc\0/b\0" "1\0cc\0" "1\0LANG") }, { TEXTS("cc\0/b\0" "1\0cc\0" "1\0=C") },
		{ TEXTS("cc\0/b\0" "1\0cc\0" "2\0A=1\0A=2") },   /* twice */
		{ TEXTS("cc\0/b\0" "1\0cc\0" "0\0more") },       /* bytes behind the end */
		{ "cc\0/b\0" "1\0cc\0" "0", 11 },                /* no NUL at the end */
	};
	_cleanup_buf_ struct buf b = BUF_INIT;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct compile_request r;
		if (read_made(&b, rows[i].texts, rows[i].len, &r, &err) == 0)
			fail_msg("row %zu was taken", i);
		assert_int_equal(err.code, ERR_INPUT);
		assert_null(r.cwd);
		assert_int_equal(r.argv.count + r.env.count, 0);
	}
}

static void test_head(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	make(&b, TEXTS("cc\0/b\0" "1\0cc\0" "0"));
	uint8_t *head = (uint8_t *)b.data;
	struct compile_request r;
	assert_int_equal(compile_request_read(head, b.len - 1, &r, NULL), -1);
	assert_int_equal(compile_request_read(head, 11, &r, NULL), -1);
	assert_int_equal(compile_request_read(head, b.len, &r, NULL), 0);
	compile_request_free(&r);
	const uint32_t lengths[] = { 0, PROTO_HEAD, PROTO_REQUEST_MAX + 1, UINT32_MAX };
	for (size_t i = 0; i < 4; i++) {
		proto_put_u32(head + 8, lengths[i]);
		assert_int_equal(compile_request_length(head, NULL), 0);
	}
	proto_put_u32(head + 8, PROTO_REQUEST_MAX);
	assert_int_equal(compile_request_length(head, NULL), PROTO_REQUEST_MAX);
	proto_put_u32(head + 4, PROTO_VERSION + 1);
	assert_int_equal(compile_request_length(head, NULL), 0);
	proto_put_u32(head + 4, PROTO_VERSION);
	head[0] ^= 1;
	assert_int_equal(compile_request_length(head, NULL), 0);
}

/* By what word a record knows a command that is run in place. */
static void test_likely_source(void **state)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	_cleanup_compile_request_ struct compile_request r, none;
	assert_int_equal(read_made(&b, TEXTS("nvcc\0/build\0" "6\0nvcc\0-c\0-odd.cu\0x/a.cu\0b.c\0-t1\0" "0"), &r, NULL), 0);
	assert_string_equal(compile_command_likely(&r), "x/a.cu");
	assert_int_equal(read_made(&b, TEXTS("cc\0/build\0" "4\0cc\0-c\0a.f90\0-O2\0" "0"), &none, NULL), 0);
	assert_null(compile_command_likely(&none));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_likely_source), cmocka_unit_test(test_good), cmocka_unit_test(test_bad), cmocka_unit_test(test_head) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
