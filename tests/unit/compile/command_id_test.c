#include "support/compile_request.h"

static struct hash id_of(const char *line, const char *cwd, const char *env, const char *toolchain)
{
	_cleanup_compile_request_ struct compile_request r;
	_cleanup_compile_command_ struct compile_command c;
	struct hash id;
	request_of(line, cwd, env, &r);
	compile_command_read(&r, &c);
	assert_true(c.kind == COMPILE_CC || c.kind == COMPILE_NVCC);
	compile_command_id(&c, &r, toolchain, &id);
	return id;
}

#define BASE "gcc -O2 -Iinc -c a.c -o b/a.o -MD -MF b/a.d"

static void test_equal(void **state)
{
	static const char *const lines[] = {
		"gcc -O2 -Iinc -c a.c -o other/x.o -MD -MF other/x.d", "gcc -O2 -Iinc -c a.c -o b/a.o -MD",
		"gcc -O2 -Iinc -c a.c -ob/a.o -MD -MT there", "/usr/bin/gcc -O2 -Iinc -c a.c -MD -MQ 'a b'",
	};
	struct hash base = id_of(BASE, "/build/p", NULL, "t");
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct hash id = id_of(lines[i], "/build/p", NULL, "t");
		if (!hash_eq(&id, &base))
			fail_msg("%s is another", lines[i]);
	}
}

static void test_different(void **state)
{
	static const struct { const char *line, *cwd, *env, *toolchain; } rows[] = {
		{ "g++ -O2 -Iinc -c a.c -o b/a.o -MD -MF b/a.d", "/build/p", NULL, "t" },
		{ "gcc -O3 -Iinc -c a.c -o b/a.o -MD -MF b/a.d", "/build/p", NULL, "t" },
		{ "gcc -Iinc -O2 -c a.c -o b/a.o -MD -MF b/a.d", "/build/p", NULL, "t" },
		{ "gcc -O2 -I inc -c a.c -o b/a.o -MD -MF b/a.d", "/build/p", NULL, "t" },
		{ "gcc -O2 -Iinc -c b.c -o b/a.o -MD -MF b/a.d", "/build/p", NULL, "t" },
		{ "gcc -O2 -Iinc -c a.c -o b/a.o", "/build/p", NULL, "t" },
		{ "gcc -O2 -Iinc -c a.c -o b/a.o -MMD -MF b/a.d", "/build/p", NULL, "t" },
		{ "gcc -O2 -Iinc -c a.c -o b/a.o -MD -MP -MF b/a.d", "/build/p", NULL, "t" },
		{ BASE, "/build/q", NULL, "t" },
		{ BASE, "/build/p", "CPATH=/env/include", "t" },
		{ BASE, "/build/p", "SOURCE_DATE_EPOCH=1", "t" },
		{ BASE, "/build/p", NULL, "t2" },
		{ BASE, "/build/p", NULL, "t" },
	};
	enum { COUNT = sizeof rows / sizeof *rows };
	struct hash ids[COUNT];
	for (size_t i = 0; i < COUNT; i++) {
		ids[i] = id_of(rows[i].line, rows[i].cwd, rows[i].env, rows[i].toolchain);
		for (size_t k = 0; k < i; k++)
			if (hash_eq(&ids[i], &ids[k]))
				fail_msg("%zu and %zu are the same", k, i);
	}
}

/* Of the environment only what the compiler gets. */
static void test_environment(void **state)
{
	struct hash one = id_of(BASE, "/build/p", "HOME=/x", "t"), other = id_of(BASE, "/build/p", NULL, "t");
	assert_true(hash_eq(&one, &other));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_equal), cmocka_unit_test(test_different), cmocka_unit_test(test_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
