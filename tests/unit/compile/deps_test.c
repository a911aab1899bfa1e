#include "support/compile_request.h"

static void check(enum compile_deps form, const char *target, const char *made, const char *want)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	_cleanup_err_ struct err err = { 0 };
	struct compile_command c = { .deps = form, .deps_target = (char *)target };
	if (compile_deps_write(&c, slice_of(made), &out, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(out.data, want);
}

/* Lines as gcc 12 breaks them: none longer than 73 columns but for a name that is longer itself. */
static void test_make(void **state)
{
	static const char made[] = "forge-object: a.c /usr/include/stdc-predef.h /usr/include/stdio.h \\\n"
		" /usr/include/x86_64-linux-gnu/bits/libc-header-start.h inc/a\\ b.h\n/usr/include/stdio.h:\n\ninc/a\\ b.h:\n";
	check(COMPILE_DEPS_MAKE, "a.o", made, "a.o: a.c /usr/include/stdc-predef.h /usr/include/stdio.h \\\n"
		" /usr/include/x86_64-linux-gnu/bits/libc-header-start.h inc/a\\ b.h\n/usr/include/stdio.h:\n\ninc/a\\ b.h:\n");
	check(COMPILE_DEPS_MAKE, "build/temp.linux-x86_64/a.o", made, "build/temp.linux-x86_64/a.o: a.c /usr/include/stdc-predef.h \\\n"
		" /usr/include/stdio.h \\\n /usr/include/x86_64-linux-gnu/bits/libc-header-start.h inc/a\\ b.h\n"
		"/usr/include/stdio.h:\n\ninc/a\\ b.h:\n");
	check(COMPILE_DEPS_MAKE, "a.o", "forge-object: a.c\n", "a.o: a.c\n");
	/* as long as a line may get, and one more (the blank before a name does not count) */
	char name[80];
	memset(name, 'n', sizeof name);
	name[68] = '\0';
	_cleanup_free_ char *fits = mem_printf("forge-object: %s\n", name);
	_cleanup_free_ char *on_line = mem_printf("a.o: %s\n", name), *broken = mem_printf("ab.o: \\\n %s\n", name);
	check(COMPILE_DEPS_MAKE, "a.o", fits, on_line);
	check(COMPILE_DEPS_MAKE, "ab.o", fits, broken);
}

static void test_nvcc(void **state)
{
	check(COMPILE_DEPS_NVCC, "b/s.o", "forge-object : s.cu \\\n    /usr/include/stdio.h \\\n\n", "b/s.o : s.cu \\\n    /usr/include/stdio.h \\\n\n");
}

static void test_bad(void **state)
{
	static const char *const made[] = { "", "\n", "a.o: a.c\n", "forge-object", "forge-object a.c\n", "forge-objects: a.c\n", "forge-object:a.c" };
	for (size_t i = 0; i < sizeof made / sizeof *made; i++) {
		for (enum compile_deps form = COMPILE_DEPS_MAKE; form <= COMPILE_DEPS_NVCC; form++) {
			_cleanup_buf_ struct buf out = BUF_INIT;
			_cleanup_err_ struct err err = { 0 };
			struct compile_command c = { .deps = form, .deps_target = (char *)"a.o" };
			assert_int_equal(compile_deps_write(&c, slice_of(made[i]), &out, &err), -1);
			assert_int_equal(err.code, ERR_INPUT);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_make), cmocka_unit_test(test_nvcc), cmocka_unit_test(test_bad) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
