#include "fixture.h"

/* Run in place with argv and see what the compiler got. */
static void gets(enum tool tool, char **argv, const char *wanted)
{
	struct bench *b = bench_begin(tool);
	bench_start(b, argv);
	assert_int_equal(bench_wait(b), 7);
	assert_string_equal(bench_text(b, "stdout"), wanted);
	bench_end(b);
}
#define GETS(tool, wanted, ...) gets(tool, (char *[]){ __VA_ARGS__, NULL }, wanted)

static void test_cc_is_handed_on(void **state)
{
	GETS(TOOL_CC, "real-gcc\n-static\na b.o\n\n-o\nx\n", "x86_64-linux-gnu-gcc", "-static", "a b.o", "", "-o", "x");
	GETS(TOOL_CC, "real-gcc\n", "cc");
}

#define FLOOR "-L/toolchain/floor\n"

static void test_the_floor_at_shared_links(void **state)
{
	GETS(TOOL_CC, "real-gcc\n" FLOOR "-shared\na.o\n-o\nx.so\n", "gcc", "-shared", "a.o", "-o", "x.so");
	GETS(TOOL_CXX, "real-g++\n" FLOOR "-L/x\na.cc\n--shared\n", "g++", "-L/x", "a.cc", "--shared");
	GETS(TOOL_CXX, "real-g++\n" FLOOR "-shared\n-x\nc++\na\n", "g++", "-shared", "-x", "c++", "a");
	GETS(TOOL_CXX, "real-g++\na.o\n-o\na\n", "g++", "a.o", "-o", "a");
	static const char *const stops[] = { "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-static" };
	for (size_t i = 0; i < sizeof stops / sizeof *stops; i++) {
		char wanted[100];
		snprintf(wanted, sizeof wanted, "real-g++\n-shared\n%s\na.cc\n", stops[i]);
		GETS(TOOL_CXX, wanted, "g++", "-shared", (char *)stops[i], "a.cc");
	}
}

static void test_nvcc(void **state)
{
	GETS(TOOL_NVCC, "nvcc.real\n-ccbin\n/toolchain/bin/g++\n--version\n", "nvcc", "--version");
}

static void test_many_arguments(void **state)
{
	enum { MANY = 3000 };
	static char *argv[MANY + 2] = { "cc" }, text[MANY][16], wanted[MANY * 16 + 16];
	char *end = wanted + snprintf(wanted, 16, "real-gcc\n");
	for (int i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof text[i], "-%d", i);
		argv[i + 1] = text[i];
		end += snprintf(end, 17, "%s\n", text[i]);
	}
	gets(TOOL_CC, argv, wanted);
}

static void test_no_compiler(void **state)
{
	struct bench *b = bench_begin(TOOL_CC);
	assert_int_equal(unlinkat(b->dir.fd, "real-gcc", 0), 0);
	bench_run(b, "cc", "-c", "a.c");
	assert_int_equal(bench_wait(b), 1);
	assert_non_null(strstr(bench_text(b, "stderr"), "/real-gcc can't be run: No such file or directory\n"));
	bench_end(b);
}

/* The program itself, as built beside the tests, under a name of the bench. */
static void install(const struct bench *b, const char *name)
{
	static char block[1 << 16];
	char self[PATH_MAX] = "";
	assert_true(readlink("/proc/self/exe", self, sizeof self - 1) > 0);
	char *end = strstr(self, "/tests/unit/shim/");
	assert_non_null(end);
	memcpy(end, "/shim", sizeof "/shim");
	int from = open(self, O_RDONLY | O_CLOEXEC), to = openat(b->dir.fd, name, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	assert_true(from >= 0 && to >= 0);
	for (ssize_t n; (n = read(from, block, sizeof block)) > 0;)
		assert_int_equal(write(to, block, (size_t)n), n);
	close(from);
	close(to);
}

static void run_program(struct bench *b, const char *name)
{
	b->pid = fork();
	if (b->pid > 0)
		return;
	bench_redirect(b, "stdout", 1);
	bench_redirect(b, "stderr", 2);
	execl(bench_path(b, name), name, "-v", (char *)NULL);
	_exit(99);
}

/* The file's own name counts, also where it is called through a link by another name. */
static void test_program_finds_nvcc_beside_itself(void **state)
{
	struct bench *b = bench_begin(TOOL_NVCC);
	install(b, "nvcc");
	assert_int_equal(mkdirat(b->dir.fd, "bin", 0700), 0);
	assert_int_equal(symlinkat("../nvcc", b->dir.fd, "bin/c++"), 0);
	static const char *const names[] = { "nvcc", "bin/c++" };
	for (size_t i = 0; i < 2; i++) {
		run_program(b, names[i]);
		assert_int_equal(bench_wait(b), 7);
		assert_string_equal(bench_text(b, "stdout"), "nvcc.real\n-ccbin\n/toolchain/bin/g++\n-v\n");
	}
	bench_end(b);
}

static void test_program_under_no_known_name(void **state)
{
	struct bench *b = bench_begin(TOOL_NVCC);
	install(b, "clang");
	run_program(b, "clang");
	assert_int_equal(bench_wait(b), 1);
	assert_non_null(strstr(bench_text(b, "stderr"), "stands in for cc, c++ and nvcc and does not know the name 'clang'\n"));
	/* a link by a known name says what it is meant as */
	assert_int_equal(symlinkat("clang", b->dir.fd, "nvcc"), 0);
	run_program(b, "nvcc");
	assert_int_equal(bench_wait(b), 7);
	assert_string_equal(bench_text(b, "stdout"), "nvcc.real\n-ccbin\n/toolchain/bin/g++\n-v\n");
	bench_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cc_is_handed_on), cmocka_unit_test(test_the_floor_at_shared_links),
		cmocka_unit_test(test_nvcc), cmocka_unit_test(test_many_arguments), cmocka_unit_test(test_no_compiler),
		cmocka_unit_test(test_program_finds_nvcc_beside_itself),
		cmocka_unit_test(test_program_under_no_known_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
