#include "support/compile_request.h"

/* What build systems really call, and what becomes of it. */
static void test_runs(void **state)
{
	static const struct { const char *line, *object, *depfile, *target, *compile; } rows[] = {
		/* setuptools */
		{ "gcc -Wno-unused-result -Wsign-compare -DNDEBUG -g -fwrapv -O3 -Wall -fPIC -I/usr/include/python3.11 "
		  "-c src/a.c -o build/temp.linux-x86_64-cpython-311/src/a.o",
		  "/build/p/build/temp.linux-x86_64-cpython-311/src/a.o", NULL, NULL,
		  "/usr/bin/gcc-12 -Wno-unused-result -Wsign-compare -DNDEBUG -g -fwrapv -O3 -Wall -fPIC "
		  "-I/usr/include/python3.11 -c src/a.c -o /out/object" },
		/* torch's ninja */
		{ "c++ -MMD -MF /build/b/a.o.d -fPIC -isystem /env/site-packages/torch/include -c /build/p/a.cpp -o /build/b/a.o "
		  "-O3 -std=c++17 -DTORCH_EXTENSION_NAME=a",
		  "/build/b/a.o", "/build/b/a.o.d", "/build/b/a.o",
		  "/usr/bin/g++-12 -MMD -fPIC -isystem /env/site-packages/torch/include -c /build/p/a.cpp -O3 -std=c++17 "
		  "-DTORCH_EXTENSION_NAME=a -o /out/object -MF /out/.deps -MT forge-object" },
		/* CMake */
		{ "/toolchain/bin/c++ -Dx_EXPORTS '-DV=\"1 2\"' -isystem inc -fvisibility=hidden -MD -MT CMakeFiles/x.dir/a.cc.o -MF "
		  "CMakeFiles/x.dir/a.cc.o.d -o CMakeFiles/x.dir/a.cc.o -c /build/p/a.cc",
		  "/build/p/CMakeFiles/x.dir/a.cc.o", "/build/p/CMakeFiles/x.dir/a.cc.o.d", "CMakeFiles/x.dir/a.cc.o",
		  "/usr/bin/g++-12 -Dx_EXPORTS -DV=\"1 2\" -isystem inc -fvisibility=hidden -MD -c /build/p/a.cc -o /out/object "
		  "-MF /out/.deps -MT forge-object" },
		/* meson */
		{ "cc -Ix.p -I. -I.. -fdiagnostics-color=always -D_FILE_OFFSET_BITS=64 -Wall -Winvalid-pch -std=c11 -O2 -g -MD -MQ "
		  "'x.p/a$b c#.o' -MF x.p/a.c.o.d -o x.p/a.c.o -c ../a.c",
		  "/build/p/x.p/a.c.o", "/build/p/x.p/a.c.o.d", "x.p/a$$b\\ c\\#.o",
		  "/usr/bin/gcc-12 -Ix.p -I. -I.. -fdiagnostics-color=always -D_FILE_OFFSET_BITS=64 -Wall -Winvalid-pch -std=c11 -O2 "
		  "-g -MD -c ../a.c -o /out/object -MF /out/.deps -MT forge-object" },
		/* OpenCV by CMake */
		{ "cc -fsigned-char -W -Wall -fomit-frame-pointer -msse -msse2 -msse4.1 -mavx -mno-sse4a -fsanitize-recover -O3 -o a.o -c a.c",
		  "/build/p/a.o", NULL, NULL,
		  "/usr/bin/gcc-12 -fsigned-char -W -Wall -fomit-frame-pointer -msse -msse2 -msse4.1 -mavx -mno-sse4a -fsanitize-recover -O3 "
		  "-c a.c -o /out/object" },
		/* names that follow from the source's and the object's */
		{ "gcc -c s/a.b.c -MD", "/build/p/a.b.o", "/build/p/a.b.d", "a.b.o",
		  "/usr/bin/gcc-12 -c s/a.b.c -MD -o /out/object -MF /out/.deps -MT forge-object" },
		{ "gcc -c a.c -MD -onoext -xc", NULL, NULL, NULL, NULL },
		{ "gcc -xc -c a -MD -MP -od.x/noext", "/build/p/d.x/noext", "/build/p/d.x/noext.d", "d.x/noext",
		  "/usr/bin/gcc-12 -xc -c a -MD -MP -o /out/object -MF /out/.deps -MT forge-object" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_compile_command_ struct compile_command c;
		understand(rows[i].line, "/build/p", "PATH=/env/bin:/toolchain/bin:/usr/bin:/bin", &c);
		if (!rows[i].object) {
			assert_int_equal(c.kind, COMPILE_IN_PLACE);
			continue;
		}
		if (c.why)
			fail_msg("%s: %s", rows[i].line, c.why);
		assert_int_equal(c.kind, COMPILE_CC);
		_cleanup_free_ char *compile = joined(&c.compile);
		assert_string_equal(c.object, rows[i].object);
		assert_true(str_eq(c.depfile, rows[i].depfile));
		assert_true(str_eq(c.deps_target, rows[i].target));
		assert_string_equal(compile, rows[i].compile);
		assert_int_equal(c.preprocess.count, 0);
		assert_null(c.compile.items[c.compile.count]);
		assert_string_equal(c.out_object, "/out/object");
		assert_true(str_eq(c.out_deps, rows[i].depfile ? "/out/.deps" : NULL));
	}
}

/* A world whose gcc is another. */
static void test_another_gcc(void **state)
{
	static const char *const lines[][2] = { { "gcc -c a.c", "/usr/bin/gcc-11 -c a.c -o /out/object" },
		{ "g++-11 -c a.cc", "/usr/bin/g++-11 -c a.cc -o /out/object" } };
	for (size_t i = 0; i < 2; i++) {
		_cleanup_compile_request_ struct compile_request r;
		_cleanup_compile_command_ struct compile_command c;
		request_of(lines[i][0], "/build", NULL, &r);
		r.gcc = "11";
		compile_command_read(&r, &c);
		_cleanup_free_ char *compile = joined(&c.compile);
		assert_string_equal(compile, lines[i][1]);
	}
}

static void test_in_place(void **state)
{
	static const char *const rows[][2] = {
		{ "gcc a.o b.o -shared -o x.so", "a.o is no C" }, { "gcc a.c -o a", "it links" }, { "gcc -E a.c", "only preprocesses" },
		{ "gcc -S a.c", "assembler" }, { "gcc -M a.c", "dependencies" }, { "gcc -MM a.c", "dependencies" },
		{ "gcc --version", "version" }, { "gcc -v", "steps" }, { "gcc -dumpversion", "version" }, { "gcc", "no source" },
		{ "gcc -print-file-name=x", "asks" }, { "gcc -c", "no source" },
		{ "gcc -c -xc -", "standard input" }, { "gcc -c a.c b.c", "several" }, { "gcc -c a.S", "no C" }, { "gcc -c a.s", "no C" },
		{ "gcc -c a.i", "no C" }, { "gcc -c a.h", "no C" }, { "gcc -c -x assembler a.c", "-x assembler" },
		{ "gcc -c -x none a.c", "-x none" }, { "gcc -c a.c -x c++", "behind" }, { "gcc -c a.c a.o", "several" },
		{ "gcc -c @args", "file of options" }, { "gcc -c a.c @args", "file of options" },
		{ "gcc -c a.c -save-temps", "temporary" }, { "gcc -c a.c -save-temps=obj", "temporary" },
		{ "gcc -c a.c -fprofile-arcs", "profile" }, { "gcc -c a.c -fprofile-use=x", "profile" }, { "gcc -c a.c --coverage", "coverage" },
		{ "gcc -c a.c -fplugin=x.so", "plugin" }, { "gcc -c a.c -specs=x", "specs" }, { "gcc -c a.c -wrapper x", "another program" },
		{ "gcc -c a.c -flto", "random" }, { "gcc -c a.c -flto=auto", "random" }, 
		{ "gcc -c a.c -gsplit-dwarf", "second file" }, { "gcc -c a.c -fdump-tree-all", "second file" },
		{ "gcc -c a.c -fstack-usage", "second file" }, { "g++ -c a.cc -fmodules-ts", "modules" },
		{ "gcc -c a.c -Wa,-adhln=x", "assembler" }, { "gcc -c a.c -Wp,-MD,x", "preprocessor" },
		{ "gcc -c a.c -Wp,-DA,-MD,x", "preprocessor" }, { "gcc -c a.c -Xassembler x", "assembler" },
		{ "gcc -c a.c -Bx", "searched elsewhere" }, { "gcc -c a.c --sysroot=/x", "root" }, { "gcc -c a.c -isysroot /x", "root" },
		{ "gcc -c a.c -MD -MG", "generated" },
		{ "gcc -c a.c -o -", "file" }, { "gcc -c a.c -o /dev/null", "file" }, { "gcc -c a.c -o x/", "file" },
		{ "gcc -c a.c -o a.o -o b.o", "twice" }, { "gcc -c a.c -MD -MT a -MT b", "twice" },
		{ "gcc -c a.c -MF x", "without asking" }, { "gcc -c a.c -MD -MF -", "file" }, { "gcc -c a.c -MD -MF /dev/stdout", "file" },
		{ "gcc -c /tmp/a.c", "/tmp/a.c" }, { "gcc -c ../../tmp/a.c", "not in" }, { "gcc -c a.c -I/tmp/x", "/tmp/x" },
		{ "gcc -c a.c -I /dev/shm", "/dev/shm" }, { "gcc -c a.c -isystem /forge/store/x", "/forge/store/x" },
		{ "gcc -c a.c -include /proc/self/environ", "/proc" }, { "gcc -c a.c -iquote../../out", "not in" },
		{ "gcc -c a.c -I=x", "odd path" }, { "gcc -c a.c -I-", "odd path" }, { "gcc -c a.c -I ''", "odd path" },
		{ "gcc -c 'a\"b.c'", "odd name" }, { "gcc -c a.c -o", "-o" }, { "gcc -c a.c -I", "-I" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_compile_command_ struct compile_command c;
		understand(rows[i][0], "/build/p", NULL, &c);
		if (c.kind != COMPILE_IN_PLACE)
			fail_msg("%s is not run in place", rows[i][0]);
		if (!c.why || !strstr(c.why, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], c.why);
	}
}

static void test_native(void **state)
{
	static const char *const rows[] = {
		"gcc -c a.c -march=native", "gcc -mtune=native -c a.c", "gcc -march=native -E -v -", "gcc -mcpu=native a.o -o x",
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_compile_command_ struct compile_command c;
		understand(rows[i], "/build/p", NULL, &c);
		assert_int_equal(c.kind, COMPILE_REFUSED);
		assert_non_null(strstr(c.why, "native depends on the machine"));
	}
	static const char *const fine[] = { "gcc -c a.c -D-march=native", "gcc -c a.c -MD -MT -march=native", "gcc -c -march=x86-64-v3 a.c" };
	for (size_t i = 0; i < sizeof fine / sizeof *fine; i++) {
		_cleanup_compile_command_ struct compile_command c;
		understand(fine[i], "/build/p", NULL, &c);
		assert_int_equal(c.kind, COMPILE_CC);
	}
}

/* Whatever option is added that no table has, the command is run in place. */
static void test_unknown(void **state)
{
	static const char *const options[] = {
		"-fnew-thing", "-fno-new-thing", "-mnew-thing", "-new", "--new-thing=1", "-gnew", "-O9", "-iprefix x", "-fuse-thing=a",
		"--include x.h", "-dD", "-P", "-C", "-H", "-aux-info x", "-fopt-info=x", "-ftime-report", "-fself-test", "-Q", "-X",
	};
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		for (int end = 0; end < 2; end++) {
			_cleanup_free_ char *line = end ? mem_printf("gcc -O2 -c a.c -o a.o %s", options[i]) :
				mem_printf("gcc %s -O2 -c a.c -o a.o", options[i]);
			_cleanup_compile_command_ struct compile_command c;
			understand(line, "/build", NULL, &c);
			if (c.kind != COMPILE_IN_PLACE)
				fail_msg("%s is not run in place", line);
			assert_non_null(strstr(c.why, "forge does not know the option"));
		}
	}
}

/* The exact command, but for the names of its outputs. */
static char *id_of(const char *line, const char *cwd, const char *env)
{
	_cleanup_compile_request_ struct compile_request r = { 0 };
	_cleanup_compile_command_ struct compile_command c;
	struct hash id;
	request_of(line, cwd, env, &r);
	compile_command_read(&r, &c);
	if (c.why)
		fail_msg("%s: %s", line, c.why);
	compile_command_id(&c, &r, "toolchain", &id);
	return hash_hex(&id);
}

static void check_ids(const char *base, const char *other, bool same)
{
	_cleanup_free_ char *a = id_of(base, "/build", NULL), *b = id_of(other, "/build", NULL);
	if (same != (strcmp(a, b) == 0))
		fail_msg("%s and %s: %s | %s", base, other, a, b);
}

static void test_id(void **state)
{
	static const char base[] = "gcc -O2 -c a.c -o a.o";
	static const char *const others[] = {
		"gcc -O3 -c a.c", "gcc -O2 -fPIC -c a.c", "gcc -O2 -c b.c", "gcc -O2 -c ./a.c", "g++ -O2 -c a.c", "gcc -O2 -x c++ -c a.c",
		"gcc -O2 -Wall -c a.c", "gcc -O2 -g -c a.c", "gcc -O2 -MD -c a.c", "gcc -O2 -MMD -c a.c", "gcc -O2 -MD -MP -c a.c",
		"gcc -O2 -O2 -c a.c", "gcc -O2 -lx -c a.c", "gcc -O2 -DX=1 -c a.c", "gcc -O2 -I. -c a.c",
	};
	check_ids(base, "gcc -O2 -c a.c -o other/place.o", true);
	check_ids(base, "x86_64-linux-gnu-gcc -O2 -c a.c", true);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		check_ids(base, others[i], false);
	check_ids("gcc -MD -c a.c -o 3.11/a.o", "gcc -MD -MF x -MT y -c a.c -o 3.13/a.o", true);
	check_ids("gcc -O1 -O2 -c a.c", "gcc -O2 -O1 -c a.c", false);
}

static void test_folder(void **state)
{
	_cleanup_free_ char *a = id_of("gcc -c /build/a.c", "/build/a", NULL), *b = id_of("gcc -c /build/a.c", "/build/b", NULL);
	assert_string_not_equal(a, b);
	_cleanup_free_ char *p = id_of("gcc -g -c /build/a.c", "/build/a", "PWD=/build/link");
	_cleanup_free_ char *q = id_of("gcc -g -c /build/a.c", "/build/a", "PWD=/build/a");
	assert_string_not_equal(p, q);
	_cleanup_compile_command_ struct compile_command c;
	understand("gcc -c /build/a.c", "/tmp/x", NULL, &c);
	assert_int_equal(c.kind, COMPILE_IN_PLACE);
	assert_non_null(strstr(c.why, "working folder"));
}

static void test_environment(void **state)
{
	static const struct { const char *env; bool runs, other; } rows[] = {
		{ "SOURCE_DATE_EPOCH=1", true, true }, { "CPATH=/usr/include/x:/build/y", true, true },
		{ "LANG=de_DE.UTF-8", true, true }, { "LC_ALL=C", true, true }, { "GCC_COLORS=x", true, true },
		{ "CPATH=/tmp/x", false, false }, { "CPATH=x", false, false }, { "CPATH=", false, false }, { "GCC_EXEC_PREFIX=/x", false, false },
		{ "COMPILER_PATH=/x", false, false }, { "DEPENDENCIES_OUTPUT=x", false, false }, { "LD_PRELOAD=/build/x.so", false, false },
		{ "LD_LIBRARY_PATH=/cuda/lib", false, false }, { "NVCC_APPEND_FLAGS=-G", true, false }, { "TMPDIR=/build/tmp", true, false },
		{ "PATH=/env/bin:/usr/bin:/build/bin", true, false }, { "PATH=/build/bin:/usr/bin", false, false },
		{ "PATH=:/usr/bin", false, false }, { "PATH=/tmp/x:/usr/bin", false, false }, { "PATH=/usr/../build:/usr/bin", false, false },
	};
	_cleanup_free_ char *plain = id_of("gcc -c a.c", "/build", NULL);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_compile_command_ struct compile_command c;
		understand("gcc -c a.c", "/build", rows[i].env, &c);
		if (rows[i].runs != (c.kind == COMPILE_CC))
			fail_msg("%s: %s", rows[i].env, c.why ? c.why : "runs");
		if (!rows[i].runs)
			continue;
		_cleanup_free_ char *id = id_of("gcc -c a.c", "/build", rows[i].env), *env = joined(&c.env);
		if (rows[i].other != (strcmp(id, plain) != 0))
			fail_msg("%s", rows[i].env);
		assert_non_null(strstr(env, "PATH=/toolchain/bin:/cuda/bin:/usr/bin:/bin"));
		assert_null(strstr(env, "/build/tmp"));
	}
}

/* What a build may have in its words does not get to a terminal as it is. */
static void test_why(void **state)
{
	_cleanup_compile_command_ struct compile_command c;
	understand("gcc -c a.c -\x1b[2J\n", "/build", NULL, &c);
	assert_string_equal(c.why, "forge does not know the option -?[2J?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs), cmocka_unit_test(test_another_gcc), cmocka_unit_test(test_in_place), cmocka_unit_test(test_native), cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_id), cmocka_unit_test(test_folder), cmocka_unit_test(test_environment), cmocka_unit_test(test_why),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
