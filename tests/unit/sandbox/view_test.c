/* A second look at a build's folder, and what else a compile's sandbox is given: spec.build_from, builder, out,
 * err_fd and file_size. */
#include "unit/sandbox/fixture.h"

#include <sys/socket.h>
#include <sys/un.h>

static char *make_build(struct fixture *f)
{
	put(f, "theirs/src/a.c", "int a;");
	return fs_join(f->dir, "theirs");
}

static void test_build_from(void **state)
{
	struct fixture *f = WORLD(state);
	_cleanup_free_ char *build = make_build(f);
	f->spec.build_from = build;
	f->spec.out = true;
	f->spec.cwd = "/build/src";
	assert_exited(run_guest(f, "read", "/build/src/a.c", "a.c"), 0);
	assert_string_equal(f->out->log, "read /build/src/a.c: int a;\nread a.c: int a;\n");
	fresh_scratch(f);
	assert_exited(run_guest(f, "write", "/build/src/a.c", "/build/new", "/build/src/new", "/out/o", "/tmp/t"), 0);
	assert_string_equal(f->out->log, "write /build/src/a.c: EROFS\nwrite /build/new: EROFS\n"
		"write /build/src/new: EROFS\nwrite /out/o: done\nwrite /tmp/t: done\n");
	bool missing;
	struct err err = { 0 };
	int fd = f->who == ROOT ? sandbox_open_result(f->scratch, "/out/o", &missing, &err) : -1;
	assert_true(f->who == USER || fd >= 0);
	if (fd >= 0)
		close(fd);
	world_free(f);
}

static void test_no_out(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "write", "/out/o", "/out"), 0);
	assert_said(f->out->log, "write /out/o: ENOENT\n");
	world_free(f);
}

/* What a build keeps to itself (mode 0600) is read by the compiles that have its builder's id, and by no other. */
static void test_builder(void **state)
{
	struct fixture *f = WORLD(state);
	_cleanup_free_ char *build = make_build(f), *file = fs_join(build, "src/a.c");
	unsigned theirs = SANDBOX_UID_BASE + 4194000u;
	assert_int_equal(chown(file, theirs, theirs), 0);
	assert_int_equal(chmod(file, 0600), 0);
	f->spec.build_from = build;
	assert_exited(run_guest(f, "read", "/build/src/a.c"), 0);
	assert_string_equal(f->out->log, "read /build/src/a.c: EACCES\n");
	fresh_scratch(f);
	f->spec.builder = theirs;
	assert_exited(run_guest(f, "read", "/build/src/a.c"), 0);
	assert_string_equal(f->out->log, "read /build/src/a.c: int a;\n");
	fresh_scratch(f);
	f->spec.builder = 1000; /* an id of the host's */
	run_guest(f, "who");
	assert_said(f->out->err, "1000 is no builder's id");
	world_free(f);
}

static void note_end(void *ctx, const struct sandbox_result *result)
{
	*(bool *)ctx = true;
}

static void test_builder_is_told(void **state)
{
	struct fixture *f = WORLD(state);
	struct err err = { 0 };
	bool done = false;
	struct loop *loop = loop_new(&err);
	f->spec.argv = (const char *[]){ f->program, "sleep", NULL };
	f->spec.log_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	struct sandbox *s = sandbox_start(loop, &f->spec, note_end, &done, &err);
	assert_non_null(s);
	assert_true(sandbox_builder(s) == 0 || sandbox_builder(s) > SANDBOX_UID_BASE);
	assert_true(sandbox_builder(s) == ids_builder(0) || ids_builder(0));
	sandbox_kill(s);
	assert_int_equal(loop_run(loop, &done, &err), 0);
	loop_free(loop);
	close(f->spec.log_fd);
	fresh_scratch(f);
	world_free(f);
}

static void test_stderr_apart(void **state)
{
	struct fixture *f = WORLD(state);
	_cleanup_free_ char *path = fs_join(f->dir, "stderr");
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct err err = { 0 };
	f->spec.err_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	assert_exited(run_guest(f, "input"), 0);
	assert_string_equal(f->out->log, "stdin: 0\n");
	assert_int_equal(fs_read_file(AT_FDCWD, path, 100, &text, &err), 0);
	assert_string_equal(text.data, "stderr: here\n");
	close(f->spec.err_fd);
	world_free(f);
}

static void test_file_size(void **state)
{
	struct fixture *f = WORLD(state);
	f->spec.file_size = 4096;
	assert_exited(run_guest(f, "grow", "/tmp/a", "4096"), 0);
	assert_string_equal(f->out->log, "grow: done\n");
	fresh_scratch(f);
	assert_exited(run_guest(f, "grow", "/tmp/a", "4097"), 0);
	assert_string_equal(f->out->log, "grow: EFBIG\n");
	world_free(f);
}

/* A socket of forge's is reached through a bind, read-only as that is. */
static void test_socket(void **state)
{
	struct fixture *f = WORLD(state);
	_cleanup_free_ char *path = fs_join(f->dir, "listen");
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	snprintf(at.sun_path, sizeof at.sun_path, "%s", path);
	_cleanup_close_ int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(listen(listener, 4), 0);
	struct sandbox_bind bind_socket = { path, "/forge/compile" };
	f->spec.binds = &bind_socket;
	f->spec.bind_count = 1;
	assert_exited(run_guest(f, "unix", "/forge/compile"), 0);
	assert_string_equal(f->out->log, "socket: done\nsay: done\n");
	char text[6] = "";
	_cleanup_close_ int peer = accept(listener, NULL, NULL);
	assert_int_equal(read(peer, text, 5), 5);
	assert_string_equal(text, "hello");
	world_free(f);
}

int main(void)
{
	static enum who root = ROOT;
	const struct CMUnitTest tests[] = {
		BOTH(test_build_from), BOTH(test_no_out), BOTH(test_stderr_apart), BOTH(test_file_size), BOTH(test_socket),
		{ "test_builder (root)", test_builder, NULL, NULL, &root },
		{ "test_builder_is_told (root)", test_builder_is_told, NULL, NULL, &root },
	};
	return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
