#include "fixture.h"

/* The texts of a request, after its head. */
static const char *next(const char **at)
{
	const char *text = *at;
	*at += strlen(text) + 1;
	return text;
}

static void test_request(void **state)
{
	struct bench *b = bench_begin(TOOL_CXX);
	clearenv();
	setenv("HOME", "/nobody", 1);
	setenv("CPATH", "", 1);
	setenv("NVCC_APPEND_FLAGS", "-lineinfo", 1);
	setenv("CPATHS", "not one of them", 1);
	b->setting = "SOURCE_DATE_EPOCH=315619200";
	bench_listen(b);
	bench_run(b, "g++", "-c", "", "a b.cc");
	int fd = bench_accept(b);
	assert_memory_equal(b->request, "FRGC\1\0\0\0", 8);
	static const char *const after_cwd[] = { "4", "g++", "-c", "", "a b.cc", "3", "CPATH=",
		"SOURCE_DATE_EPOCH=315619200", "NVCC_APPEND_FLAGS=-lineinfo" };
	const char *at = b->request + PROTO_HEAD;
	assert_string_equal(next(&at), "c++");
	assert_string_equal(next(&at), b->cwd);
	for (size_t i = 0; i < sizeof after_cwd / sizeof *after_cwd; i++)
		assert_string_equal(next(&at), after_cwd[i]);
	assert_ptr_equal(at, b->request + b->request_len);
	bench_send_exit(fd, 0);
	assert_int_equal(bench_wait(b), 0);
	close(fd);
	setenv("PATH", "/usr/bin:/bin", 1);
	bench_end(b);
}

static void test_tool_names(void **state)
{
	static const struct { enum tool tool; const char *name; } tools[] = {
		{ TOOL_CC, "cc" }, { TOOL_CXX, "c++" }, { TOOL_NVCC, "nvcc" } };
	for (size_t i = 0; i < 3; i++) {
		struct bench *b = bench_begin(tools[i].tool);
		bench_listen(b);
		bench_run(b, "x", "-c", "a.c");
		int fd = bench_accept(b);
		assert_string_equal(b->request + PROTO_HEAD, tools[i].name);
		bench_send_exit(fd, 0);
		assert_int_equal(bench_wait(b), 0);
		close(fd);
		bench_end(b);
	}
}

static void test_no_service(void **state)
{
	struct bench *b = bench_begin(TOOL_CC);
	bench_run(b, "cc", "-c", "a.c");
	assert_int_equal(bench_wait(b), 7);
	assert_string_equal(bench_text(b, "stdout"), "real-gcc\n-c\na.c\n");
	assert_string_equal(bench_text(b, "stderr"), "");
	bench_end(b);
}

static void test_service_is_gone(void **state)
{
	struct bench *b = bench_begin(TOOL_CC);
	bench_listen(b);
	close(b->listener);
	b->listener = -1;
	bench_run(b, "cc", "-c", "a.c");
	assert_int_equal(bench_wait(b), 1);
	assert_string_equal(bench_text(b, "stdout"), "");
	const char *text = bench_text(b, "stderr");
	assert_true(starts_with(text, "forge: the compile service is gone; nobody listens at "));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
	bench_end(b);
}

/* What names nothing to work on, and what runs inside of a compiler that forge knows of, is not asked for. */
static void test_not_asked(void **state)
{
	struct bench *b = bench_begin(TOOL_CC);
	bench_listen(b);
	bench_run(b, "cc", "--version", "-v");
	assert_int_equal(bench_wait(b), 7);
	assert_string_equal(bench_text(b, "stdout"), "real-gcc\n--version\n-v\n");
	b->setting = PROTO_INSIDE "=1";
	bench_run(b, "cc", "-c", "a.c");
	assert_int_equal(bench_wait(b), 7);
	assert_string_equal(bench_text(b, "stdout"), "real-gcc\n-c\na.c\ninside\n");
	assert_false(bench_was_asked(b));
	bench_end(b);
}

static void test_stdin_is_asked_for(void **state)
{
	struct bench *b = bench_begin(TOOL_CC);
	bench_listen(b);
	bench_run(b, "cc", "-xc", "-");
	int fd = bench_accept(b);
	bench_send_exit(fd, 0);
	assert_int_equal(bench_wait(b), 0);
	close(fd);
	bench_end(b);
}

static void remove_folder(void)
{
	if (mkdir("gone", 0700) < 0 || chdir("gone") < 0 || rmdir("../gone") < 0)
		_exit(99);
}

/* Fill the request up to its limit, and by one byte over it. */
static void test_too_long(void **state)
{
	enum { PARTS = 16 };
	struct bench *b = bench_begin(TOOL_CC);
	clearenv();
	char *argv[PARTS + 2] = { "cc" }, *part[PARTS];
	/* head, "cc", cwd, "17", argv[0], and "0" */
	size_t fixed = PROTO_HEAD + 3 + strlen(b->cwd) + 1 + 3 + 3 + 2, left = PROTO_REQUEST_MAX - fixed;
	for (size_t i = 0; i < PARTS; i++) {
		size_t n = i + 1 < PARTS ? PROTO_REQUEST_MAX / PARTS : left;
		part[i] = malloc(n + 1);
		memset(part[i], 'a', n);
		part[i][n - 1] = part[i][n] = 0;
		argv[i + 1] = part[i];
		left -= n;
	}
	bench_listen(b);
	bench_start(b, argv);
	int fd = bench_accept(b);
	assert_int_equal(b->request_len, PROTO_REQUEST_MAX);
	bench_send_exit(fd, 0);
	assert_int_equal(bench_wait(b), 0);
	close(fd);
	part[PARTS - 1][strlen(part[PARTS - 1])] = 'a';
	b->setting = "HOME=/";
	bench_write(b, "real-gcc", "#!/bin/sh\nexit 7\n", 0755);
	bench_start(b, argv);
	assert_int_equal(bench_wait(b), 7);
	assert_false(bench_was_asked(b));
	for (size_t i = 0; i < PARTS; i++)
		free(part[i]);
	setenv("PATH", "/usr/bin:/bin", 1);
	bench_end(b);
}

static void test_too_many(void **state)
{
	static char *argv[PROTO_ARGC_MAX + 2];
	struct bench *b = bench_begin(TOOL_CC);
	for (size_t i = 0; i < PROTO_ARGC_MAX; i++)
		argv[i] = "a";
	bench_listen(b);
	bench_start(b, argv);
	int fd = bench_accept(b);
	bench_send_exit(fd, 0);
	assert_int_equal(bench_wait(b), 0);
	close(fd);
	argv[PROTO_ARGC_MAX] = "a";
	bench_write(b, "real-gcc", "#!/bin/sh\nexit 7\n", 0755);
	bench_start(b, argv);
	assert_int_equal(bench_wait(b), 7);
	assert_false(bench_was_asked(b));
	bench_end(b);
}

/* Without a working folder there is nothing to ask for; the compiler itself may manage. */
static void test_working_folder_is_gone(void **state)
{
	struct bench *b = bench_begin(TOOL_CC);
	bench_listen(b);
	pid_t pid = fork();
	if (pid == 0) {
		int connection, status;
		if (fchdir(b->dir.fd) < 0)
			_exit(99);
		remove_folder();
		_exit(ask(&b->shim, (char *[]){ "cc", "-c", "a.c", NULL }, &connection, &status) == ASKED_NOBODY ? 0 : 1);
	}
	b->pid = pid;
	assert_int_equal(bench_wait(b), 0);
	assert_false(bench_was_asked(b));
	bench_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_request), cmocka_unit_test(test_tool_names), cmocka_unit_test(test_no_service),
		cmocka_unit_test(test_service_is_gone), cmocka_unit_test(test_not_asked),
		cmocka_unit_test(test_stdin_is_asked_for), cmocka_unit_test(test_too_long), cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_working_folder_is_gone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
