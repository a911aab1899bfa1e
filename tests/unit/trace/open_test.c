/* Compilers of this machine under the tracer: what they read, what they look for, what is odd. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "fixture.h"

static void test_headers(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/sub/a.c", "#include \"h.h\"\n#include \"../x.h\"\n#include <e.h>\n"
		"#if __has_include(\"later.h\")\n#error\n#endif\n#include <stddef.h>\n"
		"__asm__(\".incbin \\\"blob\\\"\");\nint sum = H + X + E;\n");
	bench_file(b, "build/inc/h.h", "#define H 1\n");
	bench_file(b, "build/x.h", "#define X 2\n");
	bench_file(b, "env/e.h", "#define E 3\n");
	bench_file(b, "build/sub/blob", "some bytes");
	const char *command = "gcc -I../gone/far -I../inc -I../../env -c a.c -o ../../out/a.o";
	bench_trace(b, "build/sub", command);
	assert_not_odd(b);
	static const char *const copied[] = { "build/sub/a.c", "build/inc/h.h", "build/x.h", "build/sub/blob" };
	for (size_t i = 0; i < 4; i++) {
		_cleanup_buf_ struct buf copy = BUF_INIT, original = BUF_INIT;
		bench_copy(b, copied[i], &copy);
		bench_slurp(b, copied[i], &original);
		assert_string_equal(copy.data, original.data);
	}
	assert_int_equal(b->trace.files.count, 5);
	assert_null(bench_found(b, "env/e.h")->content.p);
	/* Where there is no folder it tells that once, not each file. */
	assert_true(bench_has(b, &b->trace.missing, "build/gone"));
	assert_true(bench_has(b, &b->trace.missing, "build/sub/h.h"));
	assert_true(bench_has(b, &b->trace.missing, "build/inc/later.h"));
	assert_true(bench_has(b, &b->trace.missing, "env/later.h"));
	assert_true(bench_has(b, &b->trace.missing, "build/inc/stddef.h"));
	for (size_t i = 0; i < b->trace.missing.count; i++)
		assert_null(strstr(b->trace.missing.items[i], "gone/"));
	assert_true(bench_has(b, &b->trace.dirs, "build/inc"));
	assert_true(bench_has(b, &b->trace.dirs, "build/sub")); /* ".." goes through it */
	assert_int_equal(renameat(b->dir.fd, "out/a.o", b->dir.fd, "out/traced.o"), 0);
	assert_int_equal(bench_run(b, false, "build/sub", command), 0);
	assert_same_file(b, "out/traced.o", "out/a.o");
	bench_end(b);
}

struct swapper {
	struct bench *bench;
	atomic_bool stop;
};

static void *swap(void *ctx)
{
	struct swapper *s = ctx;
	for (unsigned i = 0; !atomic_load(&s->stop); i++) {
		static const char *const texts[] = { "1111\n", "2222\n" };
		bench_file(s->bench, "build/new.h", texts[i & 1]);
		renameat(s->bench->dir.fd, "build/new.h", s->bench->dir.fd, "build/inc/h.h");
	}
	return NULL;
}

/* The header changes all the time; what is in the object is what is in the copy. */
static void test_swapped(void **state)
{
	struct bench *b = bench_begin();
	struct swapper s = { .bench = b };
	pthread_t thread;
	bench_file(b, "build/a.c", "int a =\n#include \"h.h\"\n;\n#define X ;\nint b =\n#include \"h.h\"\n;\n"
		"__asm__(\".data\\n.incbin \\\"inc/h.h\\\"\");\n");
	bench_file(b, "build/inc/h.h", "1111\n");
	assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
	for (int i = 0; i < 10; i++) {
		_cleanup_buf_ struct buf copy = BUF_INIT, object = BUF_INIT;
		bench_trace(b, "build", "gcc -S -Iinc a.c -o ../out/a.s");
		bench_copy(b, "build/inc/h.h", &copy);
		bench_slurp(b, "out/a.s", &object);
		_cleanup_free_ char *value = mem_printf(".long\t%.4s\n", copy.data);
		const char *one = strstr(object.data, value);
		assert_non_null(one);
		assert_non_null(strstr(one + 1, value));
		assert_not_odd(b);
		/* The assembler, a process of its own, gets the same, or the log tells. */
		_cleanup_buf_ struct buf again = BUF_INIT;
		assert_int_equal(bench_run(b, true, "build", "as ../out/a.s -o ../out/a.o"), 0);
		bench_slurp(b, "out/a.o", &again);
		bool same = memmem(again.data, again.len, copy.data, 5) != NULL;
		bench_read(b);
		if (!same)
			assert_odd(b, "build/inc/h.h", "changed while it was compiled");
	}
	atomic_store(&s.stop, true);
	pthread_join(thread, NULL);
	bench_end(b);
}

static void test_links_are_odd(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/a.c", "#include \"h.h\"\n");
	bench_file(b, "build/real.h", "int x;\n");
	assert_int_equal(symlinkat("../real.h", b->dir.fd, "build/inc/h.h"), 0);
	bench_trace(b, "build", "gcc -c -Iinc a.c -o ../out/a.o");
	assert_odd(b, "build/inc/h.h", "is reached through a link");
	assert_int_equal(unlinkat(b->dir.fd, "build/inc/h.h", 0), 0);
	assert_int_equal(symlinkat("..", b->dir.fd, "build/inc/up"), 0);
	bench_file(b, "build/b.c", "#include <real.h>\n");
	bench_trace(b, "build", "gcc -c -Iinc/up b.c -o ../out/b.o");
	assert_odd(b, "build/inc/up", "is reached through a link");
	bench_end(b);
}

static void test_precompiled(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/p.h", "static inline int p(void) { return 7; }\n");
	bench_file(b, "build/a.c", "int main(void) { return p(); }\n");
	assert_int_equal(bench_run(b, false, "build", "gcc -x c-header p.h -o p.h.gch"), 0);
	bench_trace(b, "build", "gcc -Winvalid-pch -Werror -include p.h -c a.c -o ../out/a.o");
	assert_not_odd(b);
	assert_non_null(bench_found(b, "build/p.h.gch"));
	assert_null(bench_found(b, "build/p.h"));
	assert_int_equal(bench_run(b, false, "build", "gcc -include p.h -c a.c -o ../out/plain.o"), 0);
	assert_same_file(b, "out/a.o", "out/plain.o");
	bench_end(b);
}

/* A name that is a folder in the first place and a file in the second. */
static void test_folder_named_like_a_header(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/a.c", "#include <thing>\nint x = T;\n");
	bench_file(b, "build/sub/thing", "#define T 4\n");
	assert_int_equal(mkdirat(b->dir.fd, "build/inc/thing", 0755), 0);
	bench_trace(b, "build", "gcc -c -Iinc -Isub a.c -o ../out/a.o");
	assert_not_odd(b);
	assert_true(bench_has(b, &b->trace.dirs, "build/inc/thing"));
	assert_non_null(bench_found(b, "build/sub/thing"));
	bench_end(b);
}

/* A file in the way of a folder: what would be below it is not there. */
static void test_file_in_the_way(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/a.c", "#include <part/h.h>\n#if __has_include(\"a.c/x.h\")\n#error\n#endif\n");
	bench_file(b, "build/inc/part", "");
	assert_int_equal(mkdirat(b->dir.fd, "build/sub/part", 0755), 0);
	bench_file(b, "build/sub/part/h.h", "");
	bench_trace(b, "build", "gcc -c -Iinc -Isub a.c -o ../out/a.o");
	assert_not_odd(b);
	assert_true(bench_has(b, &b->trace.missing, "build/inc/part/h.h"));
	assert_true(bench_has(b, &b->trace.missing, "build/a.c/x.h"));
	bench_end(b);
}

static void test_up_through_nothing(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/a.c", "#if __has_include(\"gone/../x.h\")\n#error\n#endif\n#include \"inc/../x.h\"\n");
	bench_file(b, "build/x.h", "");
	bench_trace(b, "build", "gcc -c a.c -o ../out/a.o");
	assert_not_odd(b);
	assert_true(bench_has(b, &b->trace.missing, "build/gone"));
	assert_true(bench_has(b, &b->trace.dirs, "build/inc"));
	assert_non_null(bench_found(b, "build/x.h"));
	bench_end(b);
}

/* What a result would not show again. */
static void test_what_is_never_the_same(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/a.c", "__asm__(\".incbin \\\"/proc/self/status\\\"\");\n");
	(void)bench_run(b, true, "build", "gcc -c a.c -o ../out/a.o");
	bench_read(b);
	assert_odd(b, "/proc/self/status", "is not the same for every compile");
	bench_file(b, "build/b.c", "#include \"/proc/self/cwd/a.h\"\n");
	bench_file(b, "build/a.h", "");
	bench_trace(b, "build", "gcc -c b.c -o ../out/a.o");
	assert_odd(b, "/proc/self/cwd/a.h.gch", "is not the same for every compile");
	bench_file(b, "build/c.c", "#if __has_include(\"/etc/mtab\")\n#endif\n");
	if (fs_exists("/etc/mtab")) {
		bench_trace(b, "build", "gcc -c c.c -o ../out/a.o");
		assert_odd(b, "/etc/mtab", "is not the same for every compile");
	}
	bench_file(b, "build/d.c", "const char *day = __DATE__;\n");
	bench_trace(b, "build", "gcc -c d.c -o ../out/a.o");
	assert_odd(b, "/", "asks for the time");
	b->extra[0] = mem_dup("SOURCE_DATE_EPOCH=315619200");
	bench_trace(b, "build", "gcc -c d.c -o ../out/a.o");
	assert_not_odd(b);
	_cleanup_free_ char *own = mem_printf("#include \"%s/out/trace/log\"\n", b->dir.path);
	bench_file(b, "build/e.c", own);
	(void)bench_run(b, true, "build", "gcc -c e.c -o ../out/a.o");
	bench_read(b);
	assert_odd(b, "out/trace/log.gch", "is the tracer's own");
	bench_end(b);
}

/* Over a link outside of the roots, and up from there. */
static void test_up_outside(void **state)
{
	struct bench *b = bench_begin();
	assert_int_equal(mkdirat(b->dir.fd, "far", 0755), 0);
	assert_int_equal(symlinkat("../env", b->dir.fd, "far/link"), 0);
	bench_file(b, "build/x.h", "int x;\n");
	_cleanup_free_ char *text = mem_printf("#include \"%s/far/link/../build/x.h\"\n", b->dir.path);
	bench_file(b, "build/a.c", text);
	bench_trace(b, "build", "gcc -c a.c -o ../out/a.o");
	assert_odd(b, "env", "is reached through a link");
	bench_end(b);
}

static void test_writing_is_odd(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/a.c", "int x;\n");
	bench_trace(b, "build", "gcc -S a.c -o a.s");
	assert_odd(b, "build/a.s", "is opened for writing");
	bench_end(b);
}

static void test_pipes_are_odd(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/a.c", "int x;\n");
	assert_int_equal(mkfifoat(b->dir.fd, "build/pipe.h", 0644), 0);
	(void)bench_run(b, true, "build", "timeout 2 gcc -include pipe.h -c a.c -o ../out/a.o");
	bench_read(b);
	assert_odd(b, "build/pipe.h", "is no plain file");
	bench_end(b);
}

static void test_times_are_set(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/a.c", "const char *t = __TIMESTAMP__;\n");
	b->extra[0] = mem_dup(TRACE_ENV_TIME "=315619200");
	b->extra[1] = mem_dup("TZ=UTC");
	bench_trace(b, "build", "gcc -S a.c -o ../out/a.s");
	_cleanup_buf_ struct buf text = BUF_INIT;
	bench_slurp(b, "out/a.s", &text);
	assert_non_null(strstr(text.data, "Wed Jan  2 00:00:00 1980"));
	assert_int_equal(bench_found(b, "build/a.c")->mtime, 315619200);
	mem_free_ptr(&b->extra[0]);
	b->extra[0] = mem_dup("X=Y");
	bench_trace(b, "build", "gcc -S a.c -o ../out/a.s");
	struct stat st;
	assert_int_equal(fstatat(b->dir.fd, "build/a.c", &st, 0), 0);
	assert_int_equal(bench_found(b, "build/a.c")->mtime, st.st_mtim.tv_sec);
	bench_end(b);
}

/* Where it can't tell, nothing is read: the compiler fails, and does not take that for a header that is missing. */
static void test_no_silent_gap(void **state)
{
	struct bench *b = bench_begin();
	bench_file(b, "build/a.c", "#if !__has_include(\"inc/h.h\")\nint gap;\n#endif\n");
	bench_file(b, "build/inc/h.h", "");
	assert_int_equal(mkdirat(b->dir.fd, "out/trace", 0755), 0);
	assert_int_equal(mkdirat(b->dir.fd, "out/trace/log", 0755), 0);
	assert_int_not_equal(bench_run(b, true, "build", "gcc -c a.c -o ../out/a.o"), 0);
	assert_int_equal(fs_remove_tree(b->dir.fd, "out/trace", NULL), 0);
	bench_file(b, "out/trace", "no folder");
	assert_int_not_equal(bench_run(b, true, "build", "gcc -c a.c -o ../out/a.o"), 0);
	assert_non_null(strstr(b->messages.data, "Input/output error"));
	assert_int_equal(unlinkat(b->dir.fd, "out/trace", 0), 0);
	/* No room for the log: a write of a part is none. */
	assert_int_not_equal(bench_run(b, true, "build", "sh -c 'ulimit -f 0; exec gcc -c a.c -o /dev/null'"), 0);
	b->extra[0] = mem_dup(TRACE_ENV_TIME "=soon");
	assert_int_not_equal(bench_run(b, true, "build", "gcc -c a.c -o ../out/a.o"), 0);
	bench_end(b);
}

/* 400 missing folders, each looked into by 20 headers: each is told of once. */
static void test_many_probes(void **state)
{
	struct bench *b = bench_begin();
	_cleanup_buf_ struct buf command = BUF_INIT, source = BUF_INIT;
	buf_str(&command, "gcc -fsyntax-only");
	for (int i = 0; i < 400; i++)
		buf_printf(&command, " -isystem ../build/inc/%d -I../env/d%d", i, i);
	for (int i = 0; i < 400; i++) {
		_cleanup_free_ char *folder = mem_printf("env/d%d", i);
		assert_int_equal(mkdirat(b->dir.fd, folder, 0755), 0);
	}
	for (int i = 0; i < 20; i++)
		buf_printf(&source, "#if __has_include(<deep/down/h%d.h>)\n#error\n#endif\n", i);
	buf_str(&command, " a.c");
	bench_file(b, "build/a.c", source.data);
	bench_trace(b, "build", command.data);
	assert_not_odd(b);
	size_t deep = 0;
	for (size_t i = 0; i < b->trace.missing.count; i++)
		deep += str_ends(b->trace.missing.items[i], "/deep");
	assert_int_equal(deep, 400);
	assert_true(bench_has(b, &b->trace.missing, "build/inc/399"));
	bench_end(b);
}

static void test_nvcc(void **state)
{
	struct bench *b = bench_begin();
	if (!fs_exists("/usr/local/cuda/bin/nvcc")) {
		print_message("skipped: test_nvcc: no nvcc\n");
		bench_end(b);
		skip();
	}
	bench_file(b, "build/k.cu", "#include \"h.h\"\n__global__ void k(int *p) { *p = H; }\n");
	bench_file(b, "build/inc/h.h", "#define H 1\n");
	bench_trace(b, "build", "/usr/local/cuda/bin/nvcc -E -arch=sm_80 -I../gone -Iinc k.cu -o ../out/k.ii");
	assert_not_odd(b);
	assert_non_null(bench_found(b, "build/k.cu"));
	assert_non_null(bench_found(b, "build/inc/h.h"));
	assert_true(bench_has(b, &b->trace.missing, "build/h.h"));
	bench_end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers), cmocka_unit_test(test_swapped), cmocka_unit_test(test_links_are_odd),
		cmocka_unit_test(test_precompiled), cmocka_unit_test(test_folder_named_like_a_header),
		cmocka_unit_test(test_file_in_the_way), cmocka_unit_test(test_up_through_nothing),
		cmocka_unit_test(test_what_is_never_the_same), cmocka_unit_test(test_up_outside),
		cmocka_unit_test(test_writing_is_odd), cmocka_unit_test(test_pipes_are_odd),
		cmocka_unit_test(test_times_are_set), cmocka_unit_test(test_no_silent_gap),
		cmocka_unit_test(test_many_probes), cmocka_unit_test(test_nvcc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
