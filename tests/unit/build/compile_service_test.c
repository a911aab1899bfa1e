/* The compile service: src/build/compile_service.c, _action.c, _run.c, _files.c, _result.c, _queue.c, _client.c. */
#include "unit/build/compile_fixture.h"

static void test_miss_and_hit(void **state)
{
	struct bench *b = *state;
	struct answer *first = compile(b, "-c", "a.c", "-o", "a.o");
	assert_object(first);
	assert_string_equal(first->path[0], "/build/w/a.o");
	assert_int_equal(first->mode[0], 0666);
	assert_int_equal(first->files, 1);
	struct answer *second = compile(b, "-c", "a.c", "-o", "elsewhere/b.o");
	assert_object(second);
	assert_string_equal(second->path[0], "/build/w/elsewhere/b.o");
	assert_string_equal(second->text[0], first->text[0]); /* which holds what no other compile has */
	assert_string_equal(notes(b), "w/a.c=hit w/a.c=miss ");
	assert_int_equal(b->told_total, 2);
	assert_int_equal(b->told_done, 2);
	assert_int_equal(b->told_hits, 1);
	forget(first);
	forget(second);
}

/* What was compiled outlives the pool. */
static void test_another_run(void **state)
{
	struct bench *b = *state;
	struct answer *first = compile(b, "-c", "a.c", "-o", "a.o");
	bench_stop(b);
	bench_start(b, 1, 1 << 20);
	struct answer *second = compile(b, "-c", "a.c", "-o", "a.o");
	assert_object(second);
	assert_string_equal(second->text[0], first->text[0]);
	assert_int_equal(store_verify(b->s, true, NULL, NULL, NULL), 0);
	forget(first);
	forget(second);
}

static void test_what_is_in_the_key(void **state)
{
	struct bench *b = *state;
	struct answer *all[6];
	put(b, "build/w/h.h", "1\n", 0644);
	put(b, "build/w/a.c", "//!include h.h\n", 0644);
	all[0] = compile(b, "-c", "a.c", "-o", "a.o");
	all[1] = compile(b, "-c", "-O2", "a.c", "-o", "a.o");
	put(b, "build/w/h.h", "2\n", 0644);
	all[2] = compile(b, "-c", "a.c", "-o", "a.o");
	bench_stop(b);
	b->view.toolchain = "another";
	bench_start(b, 4, 1ull << 40);
	all[3] = compile(b, "-c", "a.c", "-o", "a.o");
	put(b, "build/w/b.c", "//!include h.h\n", 0644);
	all[4] = compile(b, "-c", "b.c", "-o", "a.o");
	for (size_t i = 0; i < 5; i++) {
		assert_object(all[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(all[i]->text[0], all[k]->text[0]);
	}
	put(b, "build/w/h.h", "1\n", 0644);
	bench_stop(b);
	b->view.toolchain = "busybox";
	bench_start(b, 4, 1ull << 40);
	all[5] = compile(b, "-c", "a.c", "-o", "a.o");
	assert_string_equal(all[5]->text[0], all[0]->text[0]);
	for (size_t i = 0; i < 6; i++)
		forget(all[i]);
}

static void test_messages_and_dependencies(void **state)
{
	struct bench *b = *state;
	put(b, "build/w/a.c", "//!say\n", 0644);
	for (int i = 0; i < 2; i++) {
		struct answer *a = compile(b, "-c", "a.c", "-MD", "-MF", "x/a.d", "-o", i ? "two.o" : "one.o");
		assert_object(a);
		assert_string_equal(a->out, "said\n");
		assert_string_equal(a->messages, "warned\n");
		assert_int_equal(a->files, 2);
		assert_string_equal(a->path[1], "/build/w/x/a.d");
		assert_string_equal(a->text[1], i ? "two.o: a.c\n" : "one.o: a.c\n");
		forget(a);
	}
	assert_string_equal(notes(b), "w/a.c=hit w/a.c=miss ");
}

/* Not a compile: at once; one that is not understood: in the queue; one that can't be right: refused. */
static void test_not_taken_over(void **state)
{
	struct bench *b = *state;
	struct answer *link = compile(b, "a.o", "-o", "a"), *odd = compile(b, "-c", "-fodd", "a.c", "-o", "a.o");
	struct answer *native = compile(b, "-c", "-march=native", "a.c", "-o", "a.o");
	assert_in_place(link, "");
	assert_in_place(odd, "-fodd");
	assert_int_equal(native->last, PROTO_EXIT);
	assert_int_equal(native->status, 1);
	assert_says(native->messages, "forge: -march=native");
	assert_string_equal(notes(b), "w/a.c=in place ");
	forget(link);
	forget(odd);
	forget(native);
}

static void test_failures_run_in_place(void **state)
{
	static const struct { const char *source, *why; } rows[] = {
		{ "//!fail\n", "compile exited with status 1" },
		{ "//!nothing\n", "left no file" },
		{ "//!alink\n", "left no file" },
		{ "//!noise\n", "stderr: longer than" },
		{ "//!kill -9 $$\n", "killed by signal 9" },
	};
	struct bench *b = *state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		put(b, "build/w/a.c", rows[i].source, 0644);
		struct answer *a = compile(b, "-c", "a.c", "-o", "a.o");
		assert_in_place(a, rows[i].why);
		assert_null(strstr(a->why, "\n"));
		forget(a);
	}
	assert_null(strstr(notes(b), "miss"));
	assert_null(strstr(notes(b), "hit"));
}

static void test_odd_files(void **state)
{
	struct bench *b = *state;
	assert_int_equal(symlinkat("a.c", b->dir.fd, "build/w/link.c"), 0);
	assert_int_equal(symlinkat("w", b->dir.fd, "build/through"), 0);
	struct answer *link = compile(b, "-c", "link.c", "-o", "a.o");
	struct answer *through = compile(b, "-c", "../through/a.c", "-o", "a.o");
	struct answer *none = compile(b, "-c", "none.c", "-o", "a.o");
	assert_in_place(link, "reached through a link");
	assert_in_place(through, "reached through a link");
	assert_in_place(none, "compile exited with status 1");
	struct answer *around = compile(b, "-c", "../w/../w/a.c", "-o", "a.o");
	assert_object(around);
	struct answer *all[] = { link, through, none, around };
	for (size_t i = 0; i < 4; i++)
		forget(all[i]);
}

/* The build's folder can't be written by a compile, and its own view is gone with it. */
static void test_a_compile_writes_elsewhere(void **state)
{
	struct bench *b = *state;
	put(b, "build/w/a.c", "//!write /build/w/new; write /tmp/t; write /out/more; rm /tmp/t\n", 0644);
	struct answer *a = compile(b, "-c", "a.c", "-o", "a.o");
	assert_int_equal(faccessat(b->dir.fd, "build/w/new", F_OK, 0), -1);
	assert_true(a->last == PROTO_EXIT || a->last == PROTO_RUN);
	assert_null(strstr(a->text[0], "wrote wrote wrote"));
	forget(a);
}

/* What is filed is what was compiled: the bytes that the compiler got, whatever becomes of the file meanwhile. */
static void test_changes_meanwhile(void **state)
{
	struct bench *b = *state;
	static const char old[] = "//!after 1\nint old;\n", new[] = "//!after 1\nint new;\n";
	put(b, "build/w/a.c", old, 0644);
	struct answer *a = play(b, "-c", "a.c", "-o", "a.o");
	run_for(b, 500);
	put(b, "build/w/a.c", new, 0644);
	finish(b);
	assert_object(a);
	assert_says(a->text[0], "int old;");
	struct answer *again = compile(b, "-c", "a.c", "-o", "a.o");
	assert_object(again);
	assert_says(again->text[0], "int new;");
	put(b, "build/w/a.c", old, 0644);
	struct answer *back = compile(b, "-c", "a.c", "-o", "a.o");
	assert_string_equal(back->text[0], a->text[0]);
	assert_string_equal(notes(b), "w/a.c=hit w/a.c=miss w/a.c=miss ");
	forget(a);
	forget(again);
	forget(back);
}

/* A file that was looked for and not found is a part of it as well. */
static void test_a_file_appears(void **state)
{
	struct bench *b = *state;
	put(b, "build/w/a.c", "//!has other.h\n", 0644);
	struct answer *without = compile(b, "-c", "a.c", "-o", "a.o"), *hit = compile(b, "-c", "a.c", "-o", "a.o");
	put(b, "build/w/other.h", "", 0644);
	struct answer *with = compile(b, "-c", "a.c", "-o", "a.o");
	assert_null(strstr(without->text[0], "other.h has other.h"));
	assert_says(with->text[0], "other.h has other.h");
	assert_string_equal(notes(b), "w/a.c=miss w/a.c=hit w/a.c=miss ");
	forget(without);
	forget(hit);
	forget(with);
}

/* Two builds that compile the same at the same moment: one compile, two answers. */
static void test_same_at_once(void **state)
{
	struct bench *b = *state;
	_cleanup_free_ char *socket = fs_join(b->dir.path, "socket-2");
	struct compile_service *second = open_service(b, socket);
	put(b, "build/w/a.c", "//!after 1\n", 0644);
	struct answer *one = play(b, "-c", "a.c", "-o", "a.o");
	struct answer *two = play_argv(b, socket, (const char *[]){ "cc", "-c", "a.c", "-o", "b.o", NULL });
	finish(b);
	assert_object(one);
	assert_object(two);
	assert_string_equal(one->text[0], two->text[0]);
	const char *seen = notes(b);
	assert_true(strcmp(seen, "w/a.c=miss w/a.c=hit ") == 0 || strcmp(seen, "w/a.c=hit w/a.c=miss ") == 0);
	compile_service_close(second);
	forget(one);
	forget(two);
}

/* The build whose compile others wait for ends: one of them takes over. */
static void test_maker_goes_away(void **state)
{
	struct bench *b = *state;
	_cleanup_free_ char *socket = fs_join(b->dir.path, "socket-2");
	struct compile_service *second = open_service(b, socket);
	put(b, "build/w/a.c", "//!after 2\n", 0644);
	struct answer *one = play_argv(b, socket, (const char *[]){ "cc", "-c", "a.c", "-o", "a.o", NULL });
	run_for(b, 800);
	struct answer *two = play(b, "-c", "a.c", "-o", "b.o");
	run_for(b, 400);
	compile_service_close(second);
	finish(b);
	assert_true(one->broken);
	assert_object(two);
	assert_string_equal(notes(b), "w/a.c=miss ");
	forget(one);
	forget(two);
}

static void test_client_goes_away(void **state)
{
	struct bench *b = *state;
	put(b, "build/w/a.c", "//!after 100\n", 0644);
	struct answer *a = play(b, "-c", "a.c", "-o", "a.o");
	run_for(b, 500);
	assert_true(compile_service_busy(b->service));
	kill(a->pid, SIGKILL);
	finish(b);
	for (int i = 0; i < 200 && !compile_pool_idle(b->pool); i++)
		run_for(b, 20);
	assert_true(compile_pool_idle(b->pool));
	assert_false(compile_service_busy(b->service));
	forget(a);
}

/* A pipe in the place of a header holds up nothing but who made it. */
static void test_pipe(void **state)
{
	struct bench *b = *state;
	assert_int_equal(mkfifoat(b->dir.fd, "build/w/pipe.c", 0666), 0);
	struct answer *a = play(b, "-c", "pipe.c", "-o", "a.o");
	run_for(b, 300);
	struct answer *other = play(b, "-c", "a.c", "-o", "a.o");
	while (!other->last)
		run_for(b, 20);
	assert_object(other);
	kill(a->pid, SIGKILL);
	finish(b);
	forget(a);
	forget(other);
}

static void test_nonsense(void **state)
{
	struct bench *b = *state;
	_cleanup_buf_ struct buf good = BUF_INIT, cut = BUF_INIT, more = BUF_INIT, large = BUF_INIT;
	make_request(&good, (const char *[]){ "cc", "-c", "a.c", "-o", "a.o", NULL });
	buf_add(&cut, good.data, good.len);
	cut.data[12] = '?'; /* no tool of that name */
	buf_add(&more, good.data, good.len);
	buf_str(&more, "more");
	buf_add(&large, good.data, PROTO_HEAD);
	proto_put_u32((unsigned char *)large.data + 8, PROTO_REQUEST_MAX + 1);
	const struct slice rows[] = { SLICE("GET / HTTP/1.1\r\n\r\n"), { cut.data, cut.len }, { more.data, more.len },
		{ large.data, large.len } };
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct answer *a = play_bytes(b, b->socket, rows[i]);
		finish(b);
		assert_true(a->broken);
		assert_int_equal(a->files, 0);
		forget(a);
	}
	struct answer *a = compile(b, "-c", "a.c", "-o", "a.o");
	assert_object(a);
	forget(a);
}

/* More connections than are taken at once, each of which says nothing; then one that does. */
static void test_flood(void **state)
{
	struct bench *b = *state;
	int fds[300];
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	snprintf(to.sun_path, sizeof to.sun_path, "%s", b->socket);
	for (size_t i = 0; i < 300; i++) {
		fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fds[i], (struct sockaddr *)&to, sizeof to), 0);
	}
	struct answer *a = play(b, "-c", "a.c", "-o", "a.o");
	run_for(b, 200);
	assert_int_equal(a->last, 0); /* it waits to be accepted */
	for (size_t i = 0; i < 300; i++)
		close(fds[i]);
	finish(b);
	assert_object(a);
	forget(a);
}

static void test_one_job(void **state)
{
	struct bench *b = *state;
	struct answer *all[3];
	put(b, "build/w/0.c", "//!after 0.1\n", 0644);
	put(b, "build/w/1.c", "//!after 0.5\n", 0644);
	put(b, "build/w/2.c", "//!after 1\n", 0644);
	static const char *const names[] = { "0.c", "1.c", "2.c" };
	for (int round = 0; round < 2; round++) {
		bench_stop(b);
		b->view.toolchain = round ? "second" : "first"; /* nothing hits */
		bench_start(b, 1, 1ull << 40);
		int64_t began = loop_now();
		put(b, "build/w/first.c", round ? "//!after 0.6\n" : "//!after 0.5\n", 0644);
		struct answer *first = play(b, "-c", "first.c", "-o", "a.o"); /* takes the slot while the others come */
		run_for(b, 150);
		for (size_t i = 0; i < 3; i++)
			all[i] = play(b, "-c", names[i], "-o", "a.o");
		finish(b);
		assert_true(loop_now() - began >= 2000); /* one after another */
		for (size_t i = 0; i < 3; i++)
			assert_object(all[i]);
		/* Known ones: the longest first. */
		assert_true(!round || (all[2]->ended_ms < all[1]->ended_ms && all[1]->ended_ms < all[0]->ended_ms));
		for (size_t i = 0; i < 3; i++)
			forget(all[i]);
		forget(first);
	}
}

/* What needs more than there is: once more alone, with what the machine has; but no more than its build may have: then
 * the compiler says it in place. */
static void test_memory(void **state)
{
	struct bench *b = *state;
	for (int own = 0; own < 2; own++) {
		bench_stop(b);
		b->view.memory = own ? 48 << 20 : 0;
		bench_start(b, 4, 64 << 20);
		_cleanup_free_ char *large = mem_printf("//!eat 200\n//%d\n", own);
		put(b, "build/w/a.c", large, 0644);
		put(b, "build/w/b.c", "//!after 0.3\n", 0644);
		struct answer *a = play(b, "-c", "a.c", "-o", "a.o"), *other = play(b, "-c", "b.c", "-o", "b.o");
		finish(b);
		if (own)
			assert_in_place(a, "more memory");
		else
			assert_object(a);
		assert_int_equal(b->warned, 1);
		assert_object(other);
		forget(a);
		forget(other);
	}
}

/* Two that were small the last time, and together are more than there is now: one of them makes room. */
static void test_memory_of_all(void **state)
{
	static const char *const names[] = { "w/a.c", "w/b.c" };
	struct bench *b = *state;
	struct answer *all[2];
	for (size_t i = 0; i < 2; i++) {
		_cleanup_free_ char *path = mem_printf("build/%s", names[i]);
		put(b, path, "//!after 0.3\n", 0644);
		struct answer *known = compile(b, "-c", names[i] + 2, "-o", "x.o");
		assert_object(known);
		forget(known);
		put(b, path, "//!eat 100 4\n", 0644);
	}
	bench_stop(b);
	bench_start(b, 4, 160 << 20);
	for (size_t i = 0; i < 2; i++)
		all[i] = play(b, "-c", names[i] + 2, "-o", "x.o");
	finish(b);
	const char *seen = notes(b);
	assert_says(seen, "=again: m");
	assert_null(strstr(strstr(seen, "again") + 1, "again"));
	assert_null(strstr(seen, "in place"));
	assert_int_equal(b->warned, 0);
	for (size_t i = 0; i < 2; i++) {
		assert_object(all[i]);
		forget(all[i]);
	}
}

static void test_toolchain(void **state)
{
	static const char *const same[] = {
		"{\"mounts\":[{\"at\":\"/\",\"layers\":[\"a\",\"b\"]},{\"at\":\"/env/x\",\"layers\":[\"1\"]}],\"links\":{\"/l\":\"m\"}}",
		"{\"mounts\":[{\"at\":\"/\",\"layers\":[\"a\",\"b\"]}],\"files\":{\"/env/pyvenv.cfg\":\"y\"},\"links\":{\"/l\":\"m\"}}",
		"{\"mounts\":[{\"at\":\"/\",\"layers\":[\"a\",\"b\"]},{\"at\":\"/toolchain/floor\",\"layers\":[\"f\"]}],\"links\":{\"/l\":\"m\"}}",
	};
	static const char *const others[] = {
		"{\"mounts\":[{\"at\":\"/\",\"layers\":[\"b\",\"a\"]}],\"links\":{\"/l\":\"m\"}}",
		"{\"mounts\":[{\"at\":\"/\",\"layers\":[\"a\",\"b\"]}],\"links\":{\"/l\":\"n\"}}",
		"{\"mounts\":[{\"at\":\"/\",\"layers\":[\"a\",\"b\"]},{\"at\":\"/cuda\",\"layers\":[\"c\"]}],\"links\":{\"/l\":\"m\"}}",
		"{\"mounts\":[{\"at\":\"/\",\"layers\":[\"a\",\"b\"]}],\"files\":{\"/f\":\"\"},\"links\":{\"/l\":\"m\"}}",
	};
	_cleanup_buf_ struct buf one = BUF_INIT, two = BUF_INIT;
	struct err err = { 0 };
	assert_int_equal(compile_toolchain(same[0], &one, &err), 0);
	for (size_t i = 1; i < sizeof same / sizeof *same; i++) {
		buf_clear(&two);
		assert_int_equal(compile_toolchain(same[i], &two, &err), 0);
		assert_string_equal(one.data, two.data);
	}
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		buf_clear(&two);
		assert_int_equal(compile_toolchain(others[i], &two, &err), 0);
		assert_string_not_equal(one.data, two.data);
	}
	assert_int_equal(compile_toolchain("{", &two, &err), -1);
	err_clear(&err);
}

static void test_gcc(void **state)
{
	static const struct { struct sandbox_file file; const char *gcc; } rows[] = {
		{ { "/toolchain/gcc", "11", false }, "11" }, { { "/toolchain/gcc", "9", false }, "9" },
		{ { "/toolchain/gcc", "11", true }, NULL }, { { "/toolchain/gcc", "", false }, NULL },
		{ { "/toolchain/gcc", "../11", false }, NULL }, { { "/toolchain/gcc", "1111", false }, NULL },
		{ { "/toolchain/gcc", "11\n", false }, NULL }, { { "/toolchain/gcc-11", "11", false }, NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *got = compile_gcc(&rows[i].file, 1);
		assert_true(str_eq(got, rows[i].gcc));
	}
	assert_null(compile_gcc(NULL, 0));
}

#define service_test(fn) cmocka_unit_test_setup_teardown(fn, bench_new, bench_free)

int main(void)
{
	if (access(BUSYBOX, X_OK) < 0) {
		printf("skipped: compile_service_test: no " BUSYBOX "\n");
		return 0;
	}
	const struct CMUnitTest tests[] = {
		service_test(test_miss_and_hit), service_test(test_another_run), service_test(test_what_is_in_the_key),
		service_test(test_messages_and_dependencies), service_test(test_not_taken_over),
		service_test(test_failures_run_in_place), service_test(test_odd_files),
		service_test(test_a_compile_writes_elsewhere), service_test(test_changes_meanwhile), service_test(test_a_file_appears),
		service_test(test_same_at_once), service_test(test_maker_goes_away), service_test(test_client_goes_away),
		service_test(test_pipe), service_test(test_nonsense), service_test(test_flood), service_test(test_one_job),
		service_test(test_memory), service_test(test_memory_of_all), cmocka_unit_test(test_toolchain),
		cmocka_unit_test(test_gcc),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
