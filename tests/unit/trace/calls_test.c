/* Programs see the same with the tracer and without; and what they do together fits. */
#include <stdio.h>

#include "fixture.h"

static void fill(struct bench *b)
{
	bench_file(b, "build/f", "content of f\n");
	assert_int_equal(mkdirat(b->dir.fd, "build/d", 0755), 0);
	bench_file(b, "build/d/g", "content of g\n");
	bench_file(b, "env/e", "content of e\n");
	bench_file(b, "outside", "content of outside\n");
}

static char *build_guest(struct bench *b)
{
	char here[4096];
	assert_non_null(getcwd(here, sizeof here));
	_cleanup_free_ char *command = mem_printf("gcc -O2 -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE -w "
		"%s/tests/support/trace_guest.c -o guest", here);
	if (bench_run(b, false, ".", command) != 0)
		fail_msg("%s", b->messages.data);
	return mem_printf("./guest %s", b->dir.path);
}

static void test_same_answers(void **state)
{
	struct bench *b = bench_begin();
	fill(b);
	_cleanup_free_ char *guest = build_guest(b);
	assert_int_equal(bench_run(b, false, ".", guest), 0);
	_cleanup_free_ char *plain = mem_dup(b->messages.data);
	bench_trace(b, ".", guest);
	if (strcmp(plain, b->messages.data) != 0) {
		size_t i = 0;
		while (plain[i] == b->messages.data[i])
			i++;
		while (i > 0 && plain[i - 1] != '\n')
			i--;
		fail_msg("plain: %.160s\n--- traced: %.160s", plain + i, b->messages.data + i);
	}
	assert_true(strlen(plain) > 4000);
	assert_non_null(b->trace.odd); /* it lists folders, and writes */
	assert_non_null(bench_found(b, "build/f"));
	assert_non_null(bench_found(b, "build/d/g"));
	assert_non_null(bench_found(b, "env/e"));
	assert_true(bench_has(b, &b->trace.missing, "build/no"));
	assert_true(bench_has(b, &b->trace.missing, "build/f/below"));
	assert_false(bench_has(b, &b->trace.missing, "build/no/deeper"));
	bench_end(b);
}

static void test_only_asked(void **state)
{
	struct bench *b = bench_begin();
	fill(b);
	bench_trace(b, "build", "sh -c '[ -s f ] && [ -s d/g ]'");
	assert_not_odd(b);
	assert_true(bench_asked(b, "build/f"));
	assert_int_equal(b->trace.files.count, 0);
	assert_int_equal(b->trace.asked.items[1].size, strlen("content of f\n"));
	bench_end(b);
}

static void test_listing_is_odd(void **state)
{
	struct bench *b = bench_begin();
	fill(b);
	bench_trace(b, ".", "sh -c 'echo build/*'");
	assert_odd(b, "build", "is opened as a folder");
	bench_end(b);
}

/* Many processes at once over the same files: records that don't mix. */
static void test_processes(void **state)
{
	struct bench *b = bench_begin();
	_cleanup_buf_ struct buf names = BUF_INIT, script = BUF_INIT;
	for (int i = 0; i < 40; i++) {
		_cleanup_free_ char *name = mem_printf("build/inc/%d", i);
		bench_file(b, name, name);
		buf_printf(&names, " inc/%d", i);
	}
	for (int i = 0; i < 8; i++)
		buf_printf(&script, "cat %s >../out/%d & ", names.data, i);
	_cleanup_free_ char *command = mem_printf("sh -c '%s wait'", script.data);
	bench_trace(b, "build", command);
	assert_not_odd(b);
	assert_int_equal(b->trace.files.count, 40);
	for (int i = 0; i < 40; i++) {
		_cleanup_free_ char *name = mem_printf("build/inc/%d", i);
		_cleanup_buf_ struct buf copy = BUF_INIT;
		bench_copy(b, name, &copy);
		assert_string_equal(copy.data, name);
	}
	for (int i = 1; i < 8; i++) {
		_cleanup_free_ char *name = mem_printf("out/%d", i);
		assert_same_file(b, "out/0", name);
	}
	bench_end(b);
}

static void test_not_traced(void **state)
{
	struct bench *b = bench_begin();
	fill(b);
	_cleanup_free_ char *preload = bench_path(b, "trace.so");
	b->extra[0] = mem_printf("LD_PRELOAD=%s", preload);
	assert_int_equal(bench_run(b, false, "build", "cat f"), 0);
	assert_string_equal(b->messages.data, "content of f\n");
	assert_int_equal(faccessat(b->dir.fd, "out/trace", F_OK, 0), -1);
	bench_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_answers), cmocka_unit_test(test_only_asked),
		cmocka_unit_test(test_listing_is_odd), cmocka_unit_test(test_processes), cmocka_unit_test(test_not_traced),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
