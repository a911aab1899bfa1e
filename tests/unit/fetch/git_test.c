/* The watch over a git worker: servers that stall or trickle, jobs that are stopped; and its limits. */
#include "fixture.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include "fetch/git.h"

static struct tempdir dir;
static struct loop *loop;

struct outcome {
	bool done;
	int rc;
	struct err err;
	char rev[GIT_REV_LEN + 1];
};

static int setup(void **state)
{
	struct err err = { 0 };
	dir = tempdir_make();
	loop = loop_new(&err);
	assert_non_null(loop);
	unsetenv("FORGE_GIT_MIRROR");
	setenv("HOME", dir.path, 1);
	setenv("XDG_CONFIG_HOME", dir.path, 1);
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
	return 0;
}

static int teardown(void **state)
{
	loop_free(loop);
	tempdir_remove(&dir);
	return 0;
}

static void done(void *ctx, int rc, const struct git_answer *answer, struct err *err)
{
	struct outcome *o = ctx;
	assert_false(o->done);
	o->done = true;
	o->rc = rc;
	if (rc < 0)
		err_move(&o->err, err);
	else
		snprintf(o->rev, sizeof o->rev, "%s", answer->rev);
}

static void wait_for(struct outcome *o)
{
	struct err err = { 0 };
	int64_t start = loop_now();
	while (!o->done) {
		assert_int_equal(loop_once(loop, 1000, &err), 0);
		if (loop_now() - start > 60000)
			fail_msg("nothing was told within 60 s");
	}
}

static struct git_job *start(const char *url, int64_t stall_ms, int64_t limit_ms, struct outcome *o)
{
	_cleanup_free_ char *cache = fs_join(dir.path, "cache");
	const struct git_request q = { .url = url, .rev = "main", .cache = cache, .dirfd = dir.fd, .name = "out",
		.stall_ms = stall_ms, .limit_ms = limit_ms };
	*o = (struct outcome){ 0 };
	struct git_job *job = git_start(loop, &q, NULL, done, o, &o->err);
	assert_non_null(job);
	return job;
}

static void assert_refused(struct outcome *o, enum err_code code, const char *part)
{
	assert_int_equal(o->rc, -1);
	if (o->err.code != code || !strstr(o->err.msg, part) || strchr(o->err.msg, '\n'))
		fail_msg("code %d: %s", o->err.code, o->err.msg);
	err_clear(&o->err);
	assert_int_equal(fs_remove_tree(dir.fd, "out", NULL), 0);
}

/* A port that takes connections and never says a word. */
static int silent_port(char url[64])
{
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof at;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof at) == 0 && listen(fd, 8) == 0 &&
		getsockname(fd, (struct sockaddr *)&at, &n) == 0);
	snprintf(url, 64, "http://127.0.0.1:%u/a", ntohs(at.sin_port));
	return fd;
}

static void a_server_that_stalls(void **state)
{
	char url[64];
	struct outcome o;
	_cleanup_close_ int fd = silent_port(url);
	start(url, 700, 0, &o);
	wait_for(&o);
	assert_refused(&o, ERR_FAIL, "the server sent nothing for too long");
	start(url, 0, 700, &o);
	wait_for(&o);
	assert_refused(&o, ERR_FAIL, "longer than forge waits");
}

static void stopped(void **state)
{
	char url[64];
	struct outcome o;
	_cleanup_close_ int fd = silent_port(url);
	struct git_job *job = start(url, 0, 0, &o);
	git_cancel(job);
	assert_false(o.done);
	wait_for(&o);
	assert_refused(&o, ERR_INTR, "stopped");
}

/* A worker that was killed in the middle holds no lock, and a mirror that is no repository is made anew. */
static void after_a_kill(void **state)
{
	char url[64];
	struct outcome o;
	_cleanup_close_ int fd = silent_port(url);
	start(url, 4000, 0, &o);
	wait_for(&o);
	assert_refused(&o, ERR_FAIL, "sent nothing");
	_cleanup_free_ char *cache = fs_join(dir.path, "cache");
	_cleanup_close_ int folder = fs_open_dir(cache, NULL);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	assert_int_equal(fs_list(folder, &names, NULL), 0);
	assert_int_equal(names.count, 2);
	_cleanup_free_ char *head = mem_printf("%s/HEAD", names.items[0]);
	assert_int_equal(unlinkat(folder, head, 0), 0);
	start(url, 4000, 0, &o);
	wait_for(&o);
	assert_refused(&o, ERR_FAIL, "sent nothing");
	assert_int_equal(faccessat(folder, head, F_OK, 0), 0);
}

static void requests(void **state)
{
	static const char *const bad[] = {
		"{\"from\":\"git\",\"url\":\"u\"}", "{\"from\":\"git\",\"url\":\"u\",\"rev\":\"main\"}",
		"{\"from\":\"url\",\"url\":\"u\",\"rev\":\"0123456789abcdef0123456789abcdef01234567\"}",
		"{\"from\":\"git\",\"url\":\"u\",\"rev\":\"0123456789ABCDEF0123456789abcdef01234567\"}",
		"{\"from\":\"git\",\"url\":\"u\",\"rev\":\"0123456789abcdef0123456789abcdef01234567\",\"submodules\":[1]}",
	};
	_cleanup_err_ struct err err = { 0 };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct git_request q = { 0 };
		_cleanup_json_ struct json *j = json_parse(slice_of(bad[i]), 1000, &err);
		assert_int_equal(git_request_of(j, &q, &err), -1);
		git_request_clear(&q);
	}
	struct git_request q = { 0 };
	_cleanup_json_ struct json *j = json_parse(slice_of("{\"from\":\"git\",\"url\":\"u\",\"rev\":"
		"\"0123456789abcdef0123456789abcdef01234567\",\"submodules\":[\"b\",\"a\"]}"), 1000, &err);
	assert_int_equal(git_request_of(j, &q, &err), 0);
	assert_false(q.submodules);
	assert_int_equal(q.only.count, 2);
	git_request_clear(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_server_that_stalls, setup, teardown),
		cmocka_unit_test_setup_teardown(stopped, setup, teardown),
		cmocka_unit_test_setup_teardown(after_a_kill, setup, teardown),
		cmocka_unit_test(requests),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
