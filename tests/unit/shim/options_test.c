/* Files of options: their words take their place, or they are left to the compiler. */
#include "fixture.h"

#include <stdio.h>

/* "%" in a file stands for: no file of that name. */
static const struct { enum tool tool; const char *file, *argv[6], *words; } rows[] = {
	{ TOOL_NVCC, "-I/a -isystem=/b\n\t-DX=1\r\n", { "-c", "--options-file", "f", "a.cu" }, "-c|-I/a|-isystem=/b|-DX=1|a.cu" },
	{ TOOL_NVCC, "-I/a", { "-optf", "f" }, "-I/a" },
	{ TOOL_NVCC, "-I/a", { "--options-file=f", "-O3" }, "-I/a|-O3" },
	{ TOOL_NVCC, "-I/a", { "-optf=f", "--options-file", "f" }, "-I/a|-I/a" },
	{ TOOL_NVCC, " \n", { "-optf", "f", "-c" }, "-c" },
	{ TOOL_NVCC, "-I/a", { "@f", "-c" }, "@f|-c" },
	{ TOOL_NVCC, "-I/a", { "-c", "--options-file" }, "-c|--options-file" },
	{ TOOL_NVCC, "-I/a", { "--options-files", "f" }, "--options-files|f" },
	{ TOOL_NVCC, "-I/a", { "-optf", "f,f" }, "-optf|f,f" },
	{ TOOL_NVCC, "%", { "-optf", "f", "-c" }, "-optf|f|-c" },
	{ TOOL_NVCC, "-optf g", { "-optf", "f" }, "-optf|f" },
	{ TOOL_NVCC, "--options-file=g", { "-optf=f" }, "-optf=f" },
	{ TOOL_NVCC, "-isystem \"/a b\" -I\"/c\"/d \"-I/e\"\n-DX=\"\" \"\"", { "-optf", "f", "-c" },
	  "-isystem|/a b|-I/c/d|-I/e|-DX=||-c" },
	{ TOOL_NVCC, "-I/a -DX=\"b", { "-c", "-optf", "f", "-O" }, "-c|-optf|f|-O" },
	{ TOOL_NVCC, "-DX=\"b\n\"", { "-optf", "f" }, "-optf|f" },
	{ TOOL_CC, "\"a b.c\" -c", { "@f" }, "a b.c|-c" },
	{ TOOL_NVCC, "-DX='a'", { "-optf", "f" }, "-optf|f" },
	{ TOOL_NVCC, "-DX=a\\ b", { "-optf", "f" }, "-optf|f" },
	{ TOOL_NVCC, "# -DX", { "-optf", "f" }, "-optf|f" },
	{ TOOL_NVCC, "-DX=$X", { "-optf", "f" }, "-optf|f" },
	{ TOOL_CC, "-I/a -c\nb.c", { "-O2", "@f", "-o", "b.o" }, "-O2|-I/a|-c|b.c|-o|b.o" },
	{ TOOL_CXX, "-I/a", { "@f" }, "-I/a" },
	{ TOOL_CXX, "%", { "@f", "@" }, "@f|@" },
	{ TOOL_CC, "@g", { "@f" }, "@f" },
	{ TOOL_CC, "'a b.c'", { "@f" }, "@f" },
	{ TOOL_CC, "-I/a", { "--options-file", "f", "-optf=f" }, "--options-file|f|-optf=f" },
};

static void in_folder(const struct tempdir *d)
{
	assert_int_equal(fchdir(d->fd), 0);
	unlink("f");
}

static void write_text(const char *name, const char *text, size_t len)
{
	FILE *f = fopen(name, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	assert_int_equal(fclose(f), 0);
}

static void check(enum tool tool, char **argv, const char *words)
{
	char got[300] = "";
	char **expanded = options_expand(tool, argv);
	assert_string_equal(expanded[0], "cc");
	for (size_t i = 1; expanded[i]; i++)
		snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i > 1 ? "|" : "", expanded[i]);
	assert_string_equal(got, words);
}

static void test_words(void **state)
{
	struct tempdir d = tempdir_make();
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char *argv[8] = { (char *)"cc" };
		in_folder(&d);
		if (rows[i].file[0] != '%')
			write_text("f", rows[i].file, strlen(rows[i].file));
		memcpy(argv + 1, rows[i].argv, sizeof rows[i].argv);
		check(rows[i].tool, argv, rows[i].words);
	}
	tempdir_remove(&d);
}

static void test_what_is_no_file_of_words(void **state)
{
	static char large[(256 << 10) + 1];
	struct tempdir d = tempdir_make();
	char *argv[] = { (char *)"cc", (char *)"@f", NULL };
	in_folder(&d);
	assert_int_equal(mkfifo("f", 0600), 0); /* nobody writes to it: it would wait for ever */
	check(TOOL_CC, argv, "@f");
	in_folder(&d);
	assert_int_equal(mkdir("f", 0700), 0);
	check(TOOL_CC, argv, "@f");
	assert_int_equal(rmdir("f"), 0);
	write_text("f", "-DX\0-DY", 7);
	check(TOOL_CC, argv, "@f");
	memset(large, ' ', sizeof large);
	memcpy(large, "-DX", 3);
	write_text("f", large, sizeof large);
	check(TOOL_CC, argv, "@f");
	write_text("f", large, sizeof large - 2);
	check(TOOL_CC, argv, "-DX");
	tempdir_remove(&d);
}

/* What is asked, and what is run in place, is the command that came of it. */
static void test_it_is_asked_for(void **state)
{
	struct bench *b = bench_begin(TOOL_CXX);
	bench_write(b, "f", "-I/a b.cc", 0600);
	bench_listen(b);
	bench_run(b, "c++", "-c", "@f");
	int fd = bench_accept(b);
	assert_non_null(memmem(b->request, b->request_len, "4\0c++\0-c\0-I/a\0b.cc\0", 19));
	bench_send(fd, PROTO_RUN, "", 0, -1);
	close(fd);
	assert_int_equal(bench_wait(b), 7);
	assert_string_equal(bench_text(b, "stdout"), "real-g++\n-c\n-I/a\nb.cc\ninside\n");
	bench_end(b);
}

/* A link that says so in a file is one of a shared object. */
static void test_a_link_by_a_file(void **state)
{
	struct bench *b = bench_begin(TOOL_CC);
	bench_write(b, "f", "-shared a.o", 0600);
	bench_run(b, "cc", "@f");
	assert_int_equal(bench_wait(b), 7);
	assert_string_equal(bench_text(b, "stdout"), "real-gcc\n-L/toolchain/floor\n-shared\na.o\n");
	bench_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_what_is_no_file_of_words),
		cmocka_unit_test(test_it_is_asked_for),
		cmocka_unit_test(test_a_link_by_a_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
