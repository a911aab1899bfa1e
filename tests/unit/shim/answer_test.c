#include <signal.h>
#include <sys/resource.h>

#include "fixture.h"

static struct bench *begin(int *conn)
{
	struct bench *b = bench_begin(TOOL_CC);
	bench_listen(b);
	bench_run(b, "cc", "-c", "a.c");
	*conn = bench_accept(b);
	return b;
}

static void end(struct bench *b, int conn)
{
	close(conn);
	bench_end(b);
}

/* It failed with one line that has `what` in it, and the compiler did not run. */
static void failed_with(struct bench *b, const char *what)
{
	assert_int_equal(bench_wait(b), 1);
	assert_string_equal(bench_text(b, "stdout"), "");
	const char *text = bench_text(b, "stderr");
	assert_true(starts_with(text, "forge: "));
	assert_non_null(strstr(text, what));
	assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
}

static void test_messages_and_status(void **state)
{
	int conn;
	struct bench *b = begin(&conn);
	bench_send_text(conn, PROTO_STDERR, "a.c:1: warning\n");
	bench_send_text(conn, PROTO_STDOUT, "one ");
	bench_send_text(conn, PROTO_STDERR, "");
	bench_send_text(conn, PROTO_STDOUT, "two\n");
	bench_send_exit(conn, 3);
	assert_int_equal(bench_wait(b), 3);
	assert_string_equal(bench_text(b, "stdout"), "one two\n");
	assert_string_equal(bench_text(b, "stderr"), "a.c:1: warning\n");
	end(b, conn);
}

static void test_long_messages(void **state)
{
	enum { LONG = 3 << 20 };
	int conn;
	struct bench *b = begin(&conn);
	char *text = malloc(LONG);
	struct stat st;
	memset(text, 'w', LONG);
	bench_send(conn, PROTO_STDERR, text, LONG, -1);
	bench_send_exit(conn, 0);
	assert_int_equal(bench_wait(b), 0);
	assert_int_equal(fstatat(b->dir.fd, "stderr", &st, 0), 0);
	assert_int_equal(st.st_size, LONG);
	free(text);
	end(b, conn);
}

/* A frame arrives as the kernel likes: here byte by byte. */
static void test_split_frames(void **state)
{
	int conn;
	struct bench *b = begin(&conn);
	static const unsigned char frames[] = "o\3\0\0\0abcx\4\0\0\0\5\0\0\0";
	for (size_t i = 0; i < sizeof frames - 1; i++) {
		assert_int_equal(send(conn, frames + i, 1, MSG_NOSIGNAL), 1);
		usleep(1000);
	}
	assert_int_equal(bench_wait(b), 5);
	assert_string_equal(bench_text(b, "stdout"), "abc");
	end(b, conn);
}

/* Two files in a row; each path gets the content of the descriptor that came with its frame. */
static void test_files(void **state)
{
	int conn;
	struct stat st;
	struct bench *b = begin(&conn);
	bench_write(b, "object", "the object", 0400);
	bench_write(b, "deps", "a.o: a.c\n", 0400);
	bench_send_file(b, conn, 0666, bench_path(b, "a.o"), "object");
	bench_send_text(conn, PROTO_STDOUT, "between");
	bench_send_file(b, conn, 0777, bench_path(b, "a.d"), "deps");
	bench_send_exit(conn, 0);
	assert_int_equal(bench_wait(b), 0);
	assert_string_equal(bench_text(b, "a.o"), "the object");
	assert_string_equal(bench_text(b, "a.d"), "a.o: a.c\n");
	assert_int_equal(fstatat(b->dir.fd, "a.o", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0644);
	assert_int_equal(fstatat(b->dir.fd, "a.d", &st, 0), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0755);
	end(b, conn);
}

/* A large one, from a descriptor whose offset others have moved. */
static void test_large_file(void **state)
{
	enum { SIZE = 200000 };
	int conn;
	struct bench *b = begin(&conn);
	char *content = malloc(SIZE + 1), *got = calloc(1, SIZE + 1), payload[PATH_MAX + 100];
	for (int i = 0; i < SIZE; i++)
		content[i] = (char)('a' + i % 23);
	content[SIZE] = 0;
	bench_write(b, "object", content, 0600);
	int fd = openat(b->dir.fd, "object", O_RDONLY | O_CLOEXEC);
	assert_int_equal(lseek(fd, 77, SEEK_SET), 77);
	proto_put_u32((unsigned char *)payload, 0666);
	int n = snprintf(payload + 4, sizeof payload - 4, "%s", bench_path(b, "a.o"));
	bench_send(conn, PROTO_FILE, payload, (size_t)n + 4, fd);
	bench_send_exit(conn, 0);
	assert_int_equal(bench_wait(b), 0);
	close(fd);
	fd = openat(b->dir.fd, "a.o", O_RDONLY | O_CLOEXEC);
	assert_int_equal(read(fd, got, SIZE + 1), SIZE);
	assert_memory_equal(got, content, SIZE);
	close(fd);
	free(content);
	free(got);
	end(b, conn);
}

/* Links are replaced, not written through; so is what may not be written to. */
static void test_what_is_there_is_replaced(void **state)
{
	int conn;
	struct stat st;
	struct bench *b = begin(&conn);
	bench_write(b, "object", "new", 0400);
	bench_write(b, "other", "old", 0600);
	bench_write(b, "hard", "old", 0600);
	bench_write(b, "readonly.o", "old", 0400);
	assert_int_equal(symlinkat("other", b->dir.fd, "soft.o"), 0);
	assert_int_equal(linkat(b->dir.fd, "hard", b->dir.fd, "hard.o", 0), 0);
	static const char *const names[] = { "soft.o", "hard.o", "readonly.o" };
	for (size_t i = 0; i < 3; i++)
		bench_send_file(b, conn, 0666, bench_path(b, names[i]), "object");
	bench_send_file(b, conn, 0666, "/dev/null", "object");
	bench_send_exit(conn, 0);
	assert_int_equal(bench_wait(b), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(bench_text(b, names[i]), "new");
		assert_int_equal(fstatat(b->dir.fd, names[i], &st, AT_SYMLINK_NOFOLLOW), 0);
		assert_true(S_ISREG(st.st_mode));
	}
	assert_string_equal(bench_text(b, "other"), "old");
	assert_string_equal(bench_text(b, "hard"), "old");
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	end(b, conn);
}

static void test_file_that_cannot_be_written(void **state)
{
	int conn;
	struct bench *b = begin(&conn);
	bench_write(b, "object", "new", 0400);
	bench_send_file(b, conn, 0666, bench_path(b, "no/such/folder/a.o"), "object");
	failed_with(b, "no/such/folder/a.o can't be written: No such file");
	end(b, conn);
}

static void limit_files(void)
{
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){ 1000, 1000 });
}

/* Half an object must not look like one. */
static void test_full_disk(void **state)
{
	struct bench *b = bench_begin(TOOL_CC);
	char content[3000];
	int conn;
	memset(content, 'x', sizeof content - 1);
	content[sizeof content - 1] = 0;
	bench_write(b, "object", content, 0600);
	b->prepare = limit_files;
	bench_listen(b);
	bench_run(b, "cc", "-c", "a.c");
	conn = bench_accept(b);
	bench_send_file(b, conn, 0666, bench_path(b, "a.o"), "object");
	failed_with(b, "a.o can't be written: File too large");
	assert_null(bench_text(b, "a.o"));
	end(b, conn);
}

static void test_broken_off(void **state)
{
	static const struct { const char *bytes; size_t n; } parts[] = {
		{ "", 0 }, { "o", 1 }, { "o\5\0\0\0", 5 }, { "x\4\0\0\0\0\0", 7 }, { "r\4\0\0\0ab", 7 } };
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		int conn;
		struct bench *b = begin(&conn);
		assert_int_equal(send(conn, parts[i].bytes, parts[i].n, MSG_NOSIGNAL), parts[i].n);
		shutdown(conn, SHUT_WR);
		failed_with(b, "the compile service is gone; it broke off");
		end(b, conn);
	}
}

static void test_nonsense(void **state)
{
	static const struct { const char *bytes; size_t n; } frames[] = {
		{ "?\0\0\0\0", 5 },                        /* no such type */
		{ "x\3\0\0\0\0\0\0", 8 },                  /* a status of 3 bytes */
		{ "f\6\0\0\0\0\0\0\0/a", 11 },             /* a file without a descriptor */
	};
	for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
		int conn;
		struct bench *b = begin(&conn);
		assert_int_equal(send(conn, frames[i].bytes, frames[i].n, MSG_NOSIGNAL), frames[i].n);
		failed_with(b, "that this shim does not know");
		end(b, conn);
	}
}

static void test_paths_of_no_form(void **state)
{
	char longest[PROTO_PATH_MAX + 1];
	memset(longest, '/', sizeof longest - 1);
	longest[sizeof longest - 1] = 0;
	const char *const paths[] = { "", "a.o", longest };
	for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
		int conn;
		struct bench *b = begin(&conn);
		bench_write(b, "object", "new", 0400);
		bench_send_file(b, conn, 0666, paths[i], "object");
		failed_with(b, "that this shim does not know");
		assert_null(bench_text(b, "a.o"));
		end(b, conn);
	}
}

/* The compiler takes the shim's place and holds the connection until it ends. */
static void test_run_in_place(void **state)
{
	int conn;
	char byte;
	struct bench *b = bench_begin(TOOL_CC);
	struct pollfd p = { .events = POLLIN };
	assert_int_equal(mkfifoat(b->dir.fd, "gate", 0600), 0);
	bench_write(b, "real-gcc", "#!/bin/sh\nread line <gate\necho \"$line $" PROTO_INSIDE " $*\"\nexit 9\n", 0755);
	bench_listen(b);
	bench_run(b, "cc", "-c", "a.c");
	conn = bench_accept(b);
	bench_send_text(conn, PROTO_RUN, "not understood: -fplugin");
	int gate = openat(b->dir.fd, "gate", O_WRONLY | O_CLOEXEC); /* blocks until it is there */
	p.fd = conn;
	assert_int_equal(poll(&p, 1, 50), 0);
	assert_int_equal(write(gate, "open\n", 5), 5);
	close(gate);
	assert_int_equal(bench_wait(b), 9);
	assert_int_equal(recv(conn, &byte, 1, 0), 0);
	assert_string_equal(bench_text(b, "stdout"), "open 1 -c a.c\n");
	assert_string_equal(bench_text(b, "stderr"), "");
	end(b, conn);
}

/* A signal ends the compiler, and so the connection: nothing is left that holds a slot. */
static void test_run_in_place_and_killed(void **state)
{
	int conn;
	char byte;
	struct bench *b = bench_begin(TOOL_CC);
	assert_int_equal(mkfifoat(b->dir.fd, "gate", 0600), 0);
	bench_write(b, "real-gcc", "#!/bin/sh\nread line <gate\nread line <gate\n", 0755);
	bench_listen(b);
	bench_run(b, "cc", "-c", "a.c");
	conn = bench_accept(b);
	bench_send_text(conn, PROTO_RUN, "");
	int gate = openat(b->dir.fd, "gate", O_WRONLY | O_CLOEXEC);
	kill(b->pid, SIGKILL);
	assert_int_equal(bench_wait(b), 1000 + SIGKILL);
	assert_int_equal(recv(conn, &byte, 1, 0), 0);
	close(gate);
	end(b, conn);
}

static void close_stdin(void)
{
	close(0);
}

/* Where a caller closed stdin, the connection must not become the compiler's stdin. */
static void test_stdin_stays_closed(void **state)
{
	struct bench *b = bench_begin(TOOL_CC);
	bench_write(b, "real-gcc", "#!/bin/sh\n[ -e /proc/self/fd/0 ] && echo open\n"
		"for fd in 3 4 5 6 7 8 9; do [ -S /proc/$$/fd/$fd ] && echo held; done\nexit 0\n", 0755);
	b->prepare = close_stdin;
	bench_listen(b);
	bench_run(b, "cc", "-c", "a.c");
	int conn = bench_accept(b);
	bench_send_text(conn, PROTO_RUN, "");
	assert_int_equal(bench_wait(b), 0);
	assert_string_equal(bench_text(b, "stdout"), "held\n");
	end(b, conn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages_and_status), cmocka_unit_test(test_long_messages),
		cmocka_unit_test(test_split_frames), cmocka_unit_test(test_files), cmocka_unit_test(test_large_file),
		cmocka_unit_test(test_what_is_there_is_replaced), cmocka_unit_test(test_file_that_cannot_be_written),
		cmocka_unit_test(test_full_disk), cmocka_unit_test(test_broken_off), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_paths_of_no_form), cmocka_unit_test(test_run_in_place),
		cmocka_unit_test(test_run_in_place_and_killed), cmocka_unit_test(test_stdin_stays_closed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
