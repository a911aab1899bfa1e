#include "support/compile_request.h"

#define ENV "PATH=/env/bin:/toolchain/bin:/cuda/bin:/usr/bin:/bin"

/* A kernel of flash-attn, as torch's ninja has it compiled: quotes within quotes and all. */
static const char flash[] =
	"nvcc --generate-dependencies-with-compile --dependency-output %s/f.o.d -I/build/fa/csrc -I/env/site-packages/torch/include "
	"-I/usr/include/python%s -c /build/fa/csrc/f.cu -o %s/f.o -D__CUDA_NO_HALF_OPERATORS__ --expt-relaxed-constexpr "
	"--compiler-options \"'-fPIC'\" -O3 -std=c++17 -U__CUDA_NO_HALF_OPERATORS__ --expt-extended-lambda --use_fast_math "
	"-gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=[sm_90,compute_90] --threads 4 -DTORCH_EXTENSION_NAME=f";

static void test_flash(void **state)
{
	_cleanup_free_ char *line = mem_printf(flash, "/build/b", "3.11", "/build/b");
	_cleanup_compile_command_ struct compile_command c;
	understand(line, "/build/b", ENV, &c);
	if (c.why)
		fail_msg("%s", c.why);
	assert_int_equal(c.kind, COMPILE_NVCC);
	assert_string_equal(c.object, "/build/b/f.o");
	assert_string_equal(c.depfile, "/build/b/f.o.d");
	assert_string_equal(c.deps_target, "/build/b/f.o");
	assert_int_equal(c.deps, COMPILE_DEPS_NVCC);
	assert_string_equal(c.out_object, "/out/f.o");
	_cleanup_free_ char *compile = joined(&c.compile), *preprocess = joined(&c.preprocess);
	assert_string_equal(compile, "/cuda/bin/nvcc --generate-dependencies-with-compile -I/build/fa/csrc "
		"-I/env/site-packages/torch/include -I/usr/include/python3.11 -c /build/fa/csrc/f.cu -D__CUDA_NO_HALF_OPERATORS__ "
		"--expt-relaxed-constexpr --compiler-options '-fPIC' -O3 -std=c++17 -U__CUDA_NO_HALF_OPERATORS__ "
		"--expt-extended-lambda --use_fast_math -gencode arch=compute_80,code=sm_80 "
		"-gencode=arch=compute_90,code=[sm_90,compute_90] -DTORCH_EXTENSION_NAME=f -o /out/f.o -MF /out/.deps -MT forge-object");
	assert_string_equal(c.preprocess.items[0], "/bin/sh");
	assert_null(strstr(preprocess, "--threads"));
	assert_true(str_ends(preprocess, " -o /out/f.o -MF /out/.deps -MT forge-object"));
}

static char *key_of(const char *line, const char *cwd)
{
	_cleanup_compile_command_ struct compile_command c;
	understand(line, cwd, ENV, &c);
	if (c.why)
		fail_msg("%s: %s", line, c.why);
	return joined(&c.key);
}

/* Another Python has other folders of objects and of headers, and the same keys. */
static void test_pythons(void **state)
{
	_cleanup_free_ char *a = mem_printf(flash, "/build/311", "3.11", "/build/311");
	_cleanup_free_ char *b = mem_printf(flash, "/build/313", "3.13", "/build/313");
	_cleanup_free_ char *key_a = key_of(a, "/build/311"), *key_b = key_of(b, "/build/313");
	assert_string_equal(key_a, key_b);
}

static void test_key(void **state)
{
	static const char *const same[] = {
		"nvcc -c a.cu -o x/a.o", "nvcc -c a.cu --threads 8 -DX -Iinc", "nvcc -t 4 -c a.cu -o a.o -L/usr/lib -l cudart",
		"nvcc -t16 -c a.cu",
	};
	static const char *const others[] = {
		"nvcc -dc a.cu", "nvcc -rdc=true -c a.cu", "nvcc -c b.cu", "nvcc -c a.cu -o b.o", "nvcc -c a.cu -lineinfo",
		"nvcc -arch=sm_90 -c a.cu", "nvcc -gencode arch=compute_80,code=sm_80 -c a.cu", "nvcc -Xptxas -O1 -c a.cu",
		"nvcc -Xcompiler -fPIC -c a.cu", "nvcc --use_fast_math -c a.cu", "nvcc -MD -c a.cu", "nvcc -MMD -c a.cu", "nvcc -O1 -c a.cu",
		"nvcc -Xfatbin -compress-all -c a.cu", "nvcc -split-compile 2 -c a.cu",
	};
	_cleanup_free_ char *base = key_of("nvcc -c a.cu", "/build");
	for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
		_cleanup_free_ char *key = key_of(same[i], "/build");
		assert_string_equal(key, base);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		_cleanup_free_ char *key = key_of(others[i], "/build");
		if (strcmp(key, base) == 0)
			fail_msg("%s has the plain command's key", others[i]);
	}
}

/* With -lineinfo relative names get the working folder into the object. */
static void test_folder(void **state)
{
	static const struct { const char *line; bool same; } rows[] = {
		{ "nvcc -c /build/a.cu", true }, { "nvcc -lineinfo -I/build/x -c /build/a.cu", true },
		{ "nvcc -lineinfo -c a.cu", false }, { "nvcc -lineinfo -I x -c /build/a.cu", false },
		{ "nvcc -lineinfo -I/build/x,y -c /build/a.cu", false }, { "nvcc -lineinfo -Xcompiler -Ix -c /build/a.cu", false },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_free_ char *a = key_of(rows[i].line, "/build/a"), *b = key_of(rows[i].line, "/build/b");
		if (rows[i].same != (strcmp(a, b) == 0))
			fail_msg("%s", rows[i].line);
	}
}

/* The host's debug information has the object's folder, as the command names it, and the working folder. */
static void test_debug(void **state)
{
	static const struct { const char *line, *map; } rows[] = {
		{ "nvcc -g -c a.cu -o x/y/a.o", " -Xcompiler=-fdebug-prefix-map=/out/=x/y/ " },
		{ "nvcc --debug -c a.cu -o /build/x/a.o", " -Xcompiler=-fdebug-prefix-map=/out/=/build/x/ " },
		{ "nvcc -Xcompiler -O1,-ggdb -c a.cu -o ./a.o", " -Xcompiler=-fdebug-prefix-map=/out/=./ " },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_compile_command_ struct compile_command c;
		understand(rows[i].line, "/build", NULL, &c);
		if (c.why)
			fail_msg("%s: %s", rows[i].line, c.why);
		_cleanup_free_ char *compile = joined(&c.compile), *preprocess = joined(&c.preprocess);
		assert_non_null(strstr(compile, rows[i].map));
		assert_non_null(strstr(preprocess, rows[i].map));
	}
	_cleanup_free_ char *x = key_of("nvcc -g -c a.cu -o x/a.o", "/build"), *y = key_of("nvcc -g -c a.cu -o y/a.o", "/build");
	_cleanup_free_ char *z = key_of("nvcc -g -c a.cu -o x/a.o", "/build/z"), *plain = key_of("nvcc -c a.cu -o x/a.o", "/build");
	assert_string_not_equal(x, y);
	assert_string_not_equal(x, z);
	assert_null(strstr(plain, "folder"));
}

static void check_place(const char *line, const char *env, const char *why)
{
	_cleanup_compile_command_ struct compile_command c;
	understand(line, "/build", env, &c);
	if (c.kind != COMPILE_IN_PLACE)
		fail_msg("%s is not run in place", line);
	if (!strstr(c.why, why))
		fail_msg("%s: %s", line, c.why);
}

static void test_in_place(void **state)
{
	static const char *const rows[][2] = {
		{ "nvcc a.cu", "links" }, { "nvcc -c", "no source" }, { "nvcc --version", "version" }, { "nvcc -E a.cu", "preprocesses" },
		{ "nvcc -M a.cu", "dependencies" }, { "nvcc -cubin a.cu", "no object" }, { "nvcc --ptx a.cu", "no object" },
		{ "nvcc -fatbin a.cu", "no object" }, { "nvcc -dlink a.o -o b.o", "" }, { "nvcc -lib a.o -o b.a", "" },
		{ "nvcc -c a.cu b.cu", "several" }, { "nvcc -c a.cpp", "no CUDA" }, { "nvcc -c a.c", "no CUDA" }, { "nvcc -c a.ptx", "no CUDA" },
		{ "nvcc -x c++ -c a.cu", "no CUDA" }, { "nvcc -c a.cu -x cu", "behind" }, { "nvcc -c a.cu -G", "temporary" },
		{ "nvcc -c a.cu -Xcompiler -fdebug-prefix-map=a=b", "other names for folders" },
		{ "nvcc -g -c a.cu -o a.o", "has no folder" }, { "nvcc -g -c a.cu", "has no folder" },
		{ "nvcc -g -c a.cu -o x,y/a.o", "folder has an odd name" }, { "nvcc -g -c a.cu -o 'x y/a.o'", "shell" }, { "nvcc -c a.cu -keep", "temporary" }, { "nvcc -c a.cu --save-temps", "temporary" },
		{ "nvcc -c a.cu --options-file x", "file of options" }, { "nvcc -c a.cu -optf x", "file of options" },
		{ "nvcc -c @x", "file of options" }, { "nvcc -c a.cu -time x", "second file" }, { "nvcc -c a.cu -dryrun", "steps" },
		{ "nvcc -c a.cu --new-option", "does not know" }, { "nvcc -c a.cu -fPIC", "does not know" }, { "nvcc -c a.cu -lto", "does not know" },
		{ "nvcc -c a.cu -ldir /x", "does not know" }, { "nvcc -c a.cu -target-dir x", "does not know" },
		{ "nvcc -c a.cu -Xcompiler -fnew", "does not know" }, { "nvcc -c a.cu -Xcompiler -save-temps", "host compiler's option" },
		{ "nvcc -c a.cu -Xcompiler x.o", "does not know" }, { "nvcc -c a.cu -Xcompiler -include,x", "does not know" },
		{ "nvcc -c a.cu -Xcompiler -I/tmp/x", "/tmp/x" }, { "nvcc -c a.cu -Xptxas --output-file,x", "does not know" },
		{ "nvcc -c a.cu -Xfatbin --create=x", "does not know" }, { "nvcc -c a.cu -Xcudafe --gen_c_file_name=x", "does not know" },
		{ "nvcc -forward-unknown-to-host-compiler -c a.cu -fnew", "does not know" },
		{ "nvcc -forward-unknown-to-host-compiler -c a.cu -flto", "host compiler's option" },
		{ "nvcc -ccbin /build/g++ -c a.cu", "not the world's" }, { "nvcc -ccbin /usr/bin/../../build/g++ -c a.cu", "odd path" },
		{ "nvcc -c /tmp/a.cu", "/tmp" }, { "nvcc -c a.cu -I/tmp", "/tmp" }, { "nvcc -c a.cu -I/usr,/tmp/x", "/tmp/x" },
		{ "nvcc -c a.cu -o .deps", "odd name" }, { "nvcc -c a.cu -o x/dryrun", "odd name" }, { "nvcc -c a.cu -o 'a;b.o'", "shell" },
		{ "nvcc -c a.cu -oa.o", "does not know" }, { "nvcc -c a.cu -t1x", "does not know" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_place(rows[i][0], NULL, rows[i][1]);
	static const char *const variables[] = {
		"NVCC_CCBIN", "CUDAFE_FLAGS", "PTXAS_FLAGS", "CICC_FLAGS", "NVVMIR_LIBRARY_DIR",
	};
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		_cleanup_free_ char *env = mem_printf("%s=x", variables[i]);
		check_place("nvcc -c a.cu", env, "is set");
	}
}

/* As CMake's FindCUDA has it, of OpenCV's. */
static void test_find_cuda(void **state)
{
	_cleanup_compile_command_ struct compile_command c;
	understand("nvcc /build/src/row_filter.cu -c -o /build/x/cuda_compile_1.dir/src/cuda/./cuda_compile_1_generated_row_filter.cu.o "
		"-ccbin /toolchain/bin/cc -m64 -D_USE_MATH_DEFINES -D__OPENCV_BUILD=1 -Xcompiler ',\"-fsigned-char\",\"-W\",\"-Wall\","
		"\"-Wreturn-type\",\"-Wnon-virtual-dtor\",\"-Waddress\",\"-Wsequence-point\",\"-Wformat-security\",\"-Winit-self\","
		"\"-Wuninitialized\",\"-Wno-comment\",\"-Wno-strict-overflow\",\"-fdiagnostics-show-option\",\"-pthread\","
		"\"-fomit-frame-pointer\",\"-ffunction-sections\",\"-fdata-sections\",\"-msse3\",\"-fvisibility=hidden\",\"-O3\","
		"\"-DNDEBUG\",\"-DNDEBUG\"' -gencode arch=compute_80,code=sm_80 -D_FORCE_INLINES -Xcompiler=-fPIC --std=c++17 -DNVCC "
		"-I/cuda/include -I/build/src/modules/core/include", "/build", NULL, &c);
	if (c.kind != COMPILE_NVCC)
		fail_msg("%s", c.why);
}

/* The preprocess run has the shell run steps with these words in them: none may be able to do more there. */
static void test_shell(void **state)
{
	static const char *const bad[] = {
		"'-D`x`'", "-D$x", "'-DA=$(x)'", "-D\\x", "'-DA=a\nb'", "-U`x`", "-I$x", "'-Ia b'", "-I`x`", "'-Ia;b'", "-isystem `x`",
		"-Xcompiler ',\"-W`x`\"'", "-Xcompiler '\"-W\",\"-DA=1 -DB\"'", "-Xcompiler '\"-W,-O3\",-O2'",
		"-Xptxas `x`", "-Xcompiler -D`x`", "-Xcompiler \"-DA='x'\"", "-gencode arch=`x`", "-arch=sm_80;x", "-std=c++17;x",
		"-frandom-seed=`x`", "-include `x`", "-maxrregcount '3 4'", "-diag-suppress=1|x", "-ccbin /usr/bin/`x`", "-MT '`x`'",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		_cleanup_free_ char *line = mem_printf("nvcc -c a.cu %s", bad[i]);
		_cleanup_compile_command_ struct compile_command c;
		understand(line, "/build", NULL, &c);
		if (c.kind != COMPILE_IN_PLACE)
			fail_msg("%s is not run in place", line);
	}
	static const char *const good[] = {
		"'-DV=\"1.2\"'", "'-DA=f(x;y|z&w) <>*?#'", "-gencode arch=compute_90,code=[sm_90,compute_90]", "-Xcompiler \"'-fPIC'\"",
		"-Xcompiler '-Wall -Wextra'", "-Xcompiler -fPIC,-O2", "-forward-unknown-to-host-compiler -fPIC",
		"-Xcompiler ',\"-fsigned-char\",\"-W\",\"-O3\"' -Xcompiler=-fPIC", "-Xcompiler '\"-W\",\"-O3\"'",
	};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		_cleanup_free_ char *line = mem_printf("nvcc -c a.cu %s", good[i]);
		_cleanup_compile_command_ struct compile_command c;
		understand(line, "/build", NULL, &c);
		if (c.kind != COMPILE_NVCC)
			fail_msg("%s: %s", line, c.why);
	}
	check_place("nvcc -c 'a b.cu'", NULL, "shell");
	check_place("nvcc -c '$x.cu'", NULL, "shell");
}

static void test_native(void **state)
{
	static const char *const rows[] = {
		"nvcc -arch=native -c a.cu", "nvcc -arch native a.cu", "nvcc --gpu-architecture=native -c a.cu", "nvcc -code=native -c a.cu",
		"nvcc -gencode arch=native,code=native -c a.cu", "nvcc -Xcompiler -march=native -c a.cu",
		"nvcc -Xcompiler '-O2 -mtune=native' -c a.cu", "nvcc -forward-unknown-to-host-compiler -march=native -c a.cu",
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_compile_command_ struct compile_command c;
		understand(rows[i], "/build", NULL, &c);
		if (c.kind != COMPILE_REFUSED)
			fail_msg("%s: %s", rows[i], c.why);
	}
}

/* With one variable, blanks and quotes and all. */
static void understand_with(const char *line, const char *variable, struct compile_command *c)
{
	_cleanup_compile_request_ struct compile_request r;
	request_of(line, "/build", NULL, &r);
	str_list_add(&r.env, variable);
	compile_command_read(&r, c);
}

/* What nvcc reads besides its arguments goes to the runs as it is, and into keys. */
static void test_flags_of_the_environment(void **state)
{
	static const char *const good[] = {
		"NVCC_APPEND_FLAGS=-DX=1 -Xcompiler -O3 --use_fast_math", "NVCC_PREPEND_FLAGS= -lineinfo\t-I /usr/include/x ",
		"NVCC_APPEND_FLAGS=", "NVCC_APPEND_FLAGS=-gencode arch=compute_80,code=[sm_80,compute_80] -L/usr/lib",
	};
	static const char *const bad[][2] = {
		{ "NVCC_APPEND_FLAGS=-c", "NVCC_APPEND_FLAGS has -c" }, { "NVCC_PREPEND_FLAGS=-O2 -o x", "NVCC_PREPEND_FLAGS has -o" },
		{ "NVCC_APPEND_FLAGS=--threads 4", "has --threads" }, { "NVCC_APPEND_FLAGS=-MD", "has -MD" }, { "NVCC_APPEND_FLAGS=b.cu", "has b.cu" },
		{ "NVCC_APPEND_FLAGS=-x cu", "has -x" }, { "NVCC_APPEND_FLAGS=-ccbin gcc", "has -ccbin" }, { "NVCC_APPEND_FLAGS=-D", "has -D" },
		{ "NVCC_APPEND_FLAGS='-DX=1'", "has quotes" }, { "NVCC_APPEND_FLAGS=-DX=\"1\"", "has quotes" }, { "NVCC_APPEND_FLAGS=-DX\\ y", "has quotes" },
		{ "NVCC_APPEND_FLAGS=-I/tmp/x", "/tmp/x" }, { "NVCC_APPEND_FLAGS=-DX=$(x)", "shell" }, { "NVCC_APPEND_FLAGS=--new", "has --new" },
		{ "NVCC_APPEND_FLAGS=--options-file x", "has --options-file" },
	};
	_cleanup_free_ char *plain = key_of("nvcc -c a.cu", "/build");
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		_cleanup_compile_command_ struct compile_command c;
		understand_with("nvcc -c a.cu", good[i], &c);
		_cleanup_free_ char *key = joined(&c.key), *env = joined(&c.env), *words = joined(&c.compile);
		if (c.kind != COMPILE_NVCC || strcmp(key, plain) == 0 || !strstr(env, good[i]) || strstr(words, "-O3") || strstr(words, "-lineinfo"))
			fail_msg("%s: %s", good[i], c.why ? c.why : words);
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		_cleanup_compile_command_ struct compile_command c;
		understand_with("nvcc -c a.cu", bad[i][0], &c);
		if (c.kind != COMPILE_IN_PLACE || !strstr(c.why, bad[i][1]))
			fail_msg("%s: %s", bad[i][0], c.why ? c.why : "not in place");
	}
	_cleanup_compile_command_ struct compile_command c;
	understand_with("nvcc -c a.cu", "NVCC_APPEND_FLAGS=-arch=native", &c);
	assert_int_equal(c.kind, COMPILE_REFUSED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flash), cmocka_unit_test(test_pythons), cmocka_unit_test(test_key), cmocka_unit_test(test_folder),
		cmocka_unit_test(test_debug),
		cmocka_unit_test(test_in_place), cmocka_unit_test(test_find_cuda), cmocka_unit_test(test_shell), cmocka_unit_test(test_native),
		cmocka_unit_test(test_flags_of_the_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
