#include "fixture.h"

static const struct shim shim = { .tool = TOOL_NVCC, .ccbin = "/toolchain/bin/g++" };

/* What nvcc gets, with a blank between; the seed's digits are left out of it and put into *seed. */
static char *line(char **argv, char seed[64])
{
	static char text[2048];
	struct args args = { 0 };
	char *end = text;
	text[0] = seed[0] = 0;
	nvcc_args(&shim, argv, &args);
	for (size_t i = 0; i < args.count; i++) {
		bool made = starts_with(args.items[i], "-frandom-seed=forge-");
		if (made)
			snprintf(seed, 64, "%s", args.items[i]);
		end += snprintf(end, sizeof text - (size_t)(end - text), "%s%s", i ? " " : "",
			made ? "SEED" : args.items[i]);
	}
	free(args.items);
	return text;
}
#define NVCC(...) (char *[]){ "nvcc", __VA_ARGS__, NULL }
#define LINE(...) line(NVCC(__VA_ARGS__), (char[64]){ 0 })

static void test_what_is_added(void **state)
{
	assert_string_equal(LINE("-c", "a.cu", "-o", "a.o"),
		"-ccbin /toolchain/bin/g++ -objtemp SEED -c a.cu -o a.o");
	assert_string_equal(LINE("--version"), "-ccbin /toolchain/bin/g++ --version");
	/* a link: nothing is compiled */
	assert_string_equal(LINE("a.o", "-shared", "-o", "a.so"), "-ccbin /toolchain/bin/g++ a.o -shared -o a.so");
	assert_string_equal(LINE("-x", "cu", "-c", "kernel.inc"),
		"-ccbin /toolchain/bin/g++ -objtemp SEED -x cu -c kernel.inc");
	static const char *const sources[] = { "a.cu", "a.c", "a.cc", "a.cpp", "a.cxx", "a.ptx" };
	for (size_t i = 0; i < 6; i++)
		assert_non_null(strstr(LINE("-c", (char *)sources[i]), "-objtemp SEED"));
}

static void test_what_is_given_stays(void **state)
{
	static const char *const ccbin[] = { "-ccbin=/usr/bin/g++", "--compiler-bindir=/usr/bin/g++" };
	for (size_t i = 0; i < 2; i++)
		assert_true(starts_with(LINE((char *)ccbin[i], "-c", "a.cu"), "-objtemp SEED "));
	assert_string_equal(LINE("-ccbin", "g++", "-c", "a.cu"), "-objtemp SEED -ccbin g++ -c a.cu");
	assert_string_equal(LINE("--compiler-bindir", "g++", "-c", "a.cu"),
		"-objtemp SEED --compiler-bindir g++ -c a.cu");
	assert_string_equal(LINE("-objtemp", "-c", "a.cu"), "-ccbin /toolchain/bin/g++ SEED -objtemp -c a.cu");
	assert_string_equal(LINE("--objdir-as-tempdir", "-c", "a.cu"),
		"-ccbin /toolchain/bin/g++ SEED --objdir-as-tempdir -c a.cu");
	static const char *const seeds[] = { "-frandom-seed=7", "--frandom-seed=7" };
	for (size_t i = 0; i < 2; i++)
		assert_null(strstr(LINE((char *)seeds[i], "-c", "a.cu"), "SEED"));
	assert_null(strstr(LINE("-frandom-seed", "7", "-c", "a.cu"), "SEED"));
}

static void same(char **argv, bool wanted)
{
	char base[64], seed[64];
	line(NVCC("-O2", "-gencode", "arch=compute_80,code=sm_80", "-c", "/build/src/a.cu", "-o", "a.o"), base);
	char *text = line(argv, seed);
	assert_string_not_equal(seed, "");
	if ((strcmp(base, seed) == 0) != wanted)
		fail_msg("%s: %s, and the base %s", text, seed, base);
}
#define REST "-c", "/build/src/a.cu", "-o", "a.o"
#define BASE "-O2", "-gencode", "arch=compute_80,code=sm_80", REST
#define SAME(...) same(NVCC(__VA_ARGS__), true)
#define OTHER(...) same(NVCC(__VA_ARGS__), false)

/* Places and what is printed, kept or done in parallel leave the seed as it is. */
static void test_seeds_that_agree(void **state)
{
	SAME(BASE);
	SAME("-O2", "-gencode", "arch=compute_80,code=sm_80", "-c", "/build/src/a.cu", "-o", "/x/cpython-311/a.o");
	SAME("-O2", "-gencode", "arch=compute_80,code=sm_80", "-gencode=arch=compute_90,code=sm_90", REST);
	SAME("-O2", "-arch=sm_90a", REST);
	SAME("-O2", "-gencode", "arch=compute_80,code=sm_80", "-c", "/build/src/a.cu", "--output-file=/out/a.o");
	SAME("-I/usr/include/python3.13", BASE);
	SAME("-I", "/usr/include/python3.11", BASE);
	SAME("-isystem", "/env/x", "--include-path=/y", BASE);
	SAME("--threads", "4", BASE);
	SAME("--threads=4", "-t", "2", "--split-compile=0", BASE);
	SAME("-t16", BASE);
	SAME("-MD", "-MF", "a.d", "--generate-dependencies-with-compile", "--dependency-output", "a.d", BASE);
	SAME("-objtemp", BASE);
	SAME("--dryrun", "-v", "-keep", "--keep-dir", "/tmp", BASE);
	SAME("-O2", "-gencode", "arch=compute_80,code=sm_80", "-c", "/build/./x/..//src/a.cu", "-o", "a.o");
}

static void test_seeds_that_differ(void **state)
{
	OTHER(REST);
	OTHER("-O3", "-gencode", "arch=compute_80,code=sm_80", REST);
	OTHER("-DX", BASE);
	OTHER("-rdc=true", BASE);
	OTHER("-O2", "-gencode", "arch=compute_80,code=sm_80", "-dc", "/build/src/a.cu", "-o", "a.o");
	OTHER("-O2", "-gencode", "arch=compute_80,code=sm_80", "-c", "/build/src/b.cu", "-o", "a.o");
	OTHER("-O2", "-gencode", "arch=compute_80,code=sm_80", "-c", "/build/src/sub/a.cu", "-o", "a.o");
	/* where one argument ends matters */
	OTHER("-O", "2", "-gencode", "arch=compute_80,code=sm_80", REST);
}

/* Flags come from the environment too. */
static void test_seed_sees_the_environment(void **state)
{
	static const char *const names[] = { "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS" };
	char none[64], with[2][64], after[64];
	line(NVCC("-c", "a.cu"), none);
	for (size_t i = 0; i < 2; i++) {
		setenv(names[i], "-DX", 1);
		line(NVCC("-c", "a.cu"), with[i]);
		unsetenv(names[i]);
		assert_string_not_equal(with[i], none);
	}
	assert_string_not_equal(with[0], with[1]);
	line(NVCC("-c", "a.cu"), after);
	assert_string_equal(after, none);
}

/* setup.py and ninja name one source from folders of their own: the absolute path counts. */
static void test_seed_of_a_relative_source(void **state)
{
	struct bench *b = bench_begin(TOOL_NVCC);
	char seeds[3][64];
	int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(b->dir.fd, "temp-cpython-313", 0700), 0);
	assert_int_equal(fchdir(b->dir.fd), 0);
	line(NVCC("-c", "src/a.cu"), seeds[0]);
	assert_int_equal(chdir("temp-cpython-313"), 0);
	line(NVCC("-c", "../src/a.cu"), seeds[1]);
	line(NVCC("-c", (char *)bench_path(b, "src/a.cu")), seeds[2]);
	assert_int_equal(fchdir(here), 0);
	close(here);
	assert_string_equal(seeds[0], seeds[1]);
	assert_string_equal(seeds[0], seeds[2]);
	bench_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_added), cmocka_unit_test(test_what_is_given_stays),
		cmocka_unit_test(test_seeds_that_agree),
		cmocka_unit_test(test_seeds_that_differ), cmocka_unit_test(test_seed_sees_the_environment),
		cmocka_unit_test(test_seed_of_a_relative_source),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
