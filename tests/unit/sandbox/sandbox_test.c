/* How a sandbox begins and ends: src/sandbox/sandbox.c, init.c, builder.c, explain.c, probe.c. */
#include "unit/sandbox/fixture.h"

#include <sched.h>

static void test_status(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "exit", "0"), 0);
	fresh_scratch(f);
	assert_exited(run_guest(f, "exit", "113"), 113);
	fresh_scratch(f);
	const struct outcome *o = run_guest(f, "die", "11");
	assert_int_equal(o->end, SANDBOX_EXITED);
	assert_true(WIFSIGNALED(o->status) && WTERMSIG(o->status) == 11);
	world_free(f);
}

/* A build by root and one by an ordinary user must see the same. */
static void test_who(void **state)
{
	struct fixture *f = WORLD(state);
	const struct outcome *o = run_guest(f, "who");
	assert_exited(o, 0);
	assert_said(o->log, "uid: 1000 1000\ngid: 1000 1000\n");
	assert_said(o->log, "host: localhost\ndomain: (none)\numask: 022\ncwd: /build\n");
	assert_said(o->log, "personality: 40000\nsession leader: 1\nparent: 1\n");
	assert_said(o->log, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
	static const char *const sets[] = { "Inh", "Prm", "Eff", "Bnd", "Amb" };
	for (size_t i = 0; i < 5; i++) {
		char line[64];
		snprintf(line, sizeof line, "Cap%s:\t0000000000000000\n", sets[i]);
		assert_said(o->log, line);
	}
	assert_said(o->log, "NoNewPrivs:\t1\nSeccomp:\t2\n");
	world_free(f);
}

static void test_environment(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "env"), 0);
	assert_string_equal(f->out->log, "A=b\nHOME=/build/home\n");
	fresh_scratch(f);
	f->spec.env = (const char *[]){ "HOME=/tmp", "HOMER=1", NULL };
	assert_exited(run_guest(f, "env"), 0);
	assert_string_equal(f->out->log, "HOME=/tmp\nHOMER=1\n");
	world_free(f);
}

static void test_descriptors(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "fds"), 0);
	assert_string_equal(f->out->log, "fd: 0\nfd: 1\nfd: 2\n");
	fresh_scratch(f);
	assert_exited(run_guest(f, "input"), 0);
	assert_said(f->out->log, "stdin: 0\n");
	assert_said(f->out->log, "stderr: here\n");
	world_free(f);
}

/* As configure scripts do: echo … > /dev/stderr. */
static void test_log_can_be_opened_again(void **state)
{
	struct fixture *f = WORLD(state);
	f->log_pipe = true;
	assert_exited(run_guest(f, "write", "/dev/stderr", "/dev/stdout", "/dev/fd/1"), 0);
	assert_string_equal(f->out->log, "x\nx\nx\nwrite /dev/stderr: done\nwrite /dev/stdout: done\nwrite /dev/fd/1: done\n");
	world_free(f);
}

static void test_addresses_repeat(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "addresses"), 0);
	_cleanup_free_ char *first = mem_dup(f->out->log);
	fresh_scratch(f);
	assert_exited(run_guest(f, "addresses"), 0);
	assert_string_equal(f->out->log, first);
	world_free(f);
}

static void test_timeout(void **state)
{
	struct fixture *f = WORLD(state);
	f->spec.timeout_ms = 300;
	const struct outcome *o = run_guest(f, "sleep");
	assert_int_equal(o->end, SANDBOX_TIMEOUT);
	assert_string_equal(o->log, "asleep\n");
	assert_true(o->wall_ms >= 300 && o->wall_ms < 10000);
	assert_int_equal(guests_alive(), 0);
	world_free(f);
}

static void test_kill(void **state)
{
	struct fixture *f = WORLD(state);
	f->kill_ms = 200;
	assert_int_equal(run_guest(f, "sleep")->end, SANDBOX_KILLED);
	assert_int_equal(guests_alive(), 0);
	fresh_scratch(f);
	f->kill_ms = -1; /* while it is set up */
	assert_int_equal(run_guest(f, "sleep")->end, SANDBOX_KILLED);
	world_free(f);
}

static void wait_for_log(struct fixture *f, const char *text)
{
	for (int i = 0; i < 1000 && (read_log(f), !strstr(f->out->log, text)); i++)
		usleep(10000);
	assert_said(f->out->log, text);
}

/* Nothing outlives forge, not even where forge could do nothing any more. */
static void test_forge_killed(void **state)
{
	struct fixture *f = WORLD(state);
	start_guest(f, "sleep", NULL);
	wait_for_log(f, "asleep");
	assert_true(guests_alive() > 0);
	kill(f->forge, SIGKILL);
	end_guest(f);
	for (int i = 0; i < 500 && guests_alive() > 0; i++)
		usleep(10000);
	assert_int_equal(guests_alive(), 0);
	fresh_scratch(f);
	world_free(f);
}

static void test_cpu_time(void **state)
{
	struct fixture *f = WORLD(state);
	assert_exited(run_guest(f, "burn"), 0);
	if (f->out->cpu_s < 0.3 || f->out->cpu_s > 3)
		fail_msg("%f s", f->out->cpu_s);
	world_free(f);
}

static void expect_setup(struct fixture *f, const char *what, const char *detail)
{
	const struct outcome *o = run_guest(f, "who");
	if (o->end != SANDBOX_SETUP)
		fail_msg("end %d\n%s", o->end, o->log);
	assert_said(o->err, what);
	assert_said(o->err, detail);
	assert_null(strchr(o->err, '\n'));
	fresh_scratch(f);
}

static void test_setup_errors(void **state)
{
	struct fixture *f = WORLD(state);
	f->spec.argv = (const char *[]){ "/bin/none", NULL };
	expect_setup(f, "can't run the builder: /bin/none", "not in the world");
	f->spec.argv = NULL;
	f->spec.cwd = "/build/none";
	expect_setup(f, "can't enter the build's folder: /build/none", "No such file");
	f->spec.cwd = NULL;
	char *gone = "/nowhere/layer";
	f->root.layers = &gone;
	expect_setup(f, "(overlay): /nowhere/layer", "No such file");
	f->root.layers = &f->layer;
	struct sandbox_bind bind = { "/nowhere/input", "/forge/store/input" };
	f->spec.binds = &bind;
	f->spec.bind_count = 1;
	expect_setup(f, "can't mount an input: /nowhere/input", "No such file");
	f->spec.bind_count = 0;
	f->spec.scratch = "/nowhere/scratch";
	expect_setup(f, "can't make the build's folders: /nowhere/scratch", "No such file");
	world_free(f);
}

static void test_spec_errors(void **state)
{
	struct err err = { 0 };
	struct sandbox_mount m = { "/usr", NULL, 0 };
	struct sandbox_spec spec = { .scratch = "/nowhere", .mounts = &m };
	assert_null(sandbox_start(NULL, &spec, NULL, NULL, &err));
	assert_said(err.msg, "first mount must be /");
	spec.mount_count = 1;
	assert_null(sandbox_start(NULL, &spec, NULL, NULL, &err));
	assert_said(err.msg, "first mount must be /");
	m.at = "/";
	assert_null(sandbox_start(NULL, &spec, NULL, NULL, &err));
	assert_said(err.msg, "has no layers");
	m.layer_count = 1000;
	assert_null(sandbox_start(NULL, &spec, NULL, NULL, &err));
	assert_said(err.msg, "1000 layers");
	err_clear(&err);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		abort();
	close(fd);
}

/* As root of a namespace of its own, as in a container that has one id. */
static void enter_container(void)
{
	char map[64], group[64]; /* both from outside: within they have no number yet */
	snprintf(map, sizeof map, "0 %u 1\n", geteuid());
	snprintf(group, sizeof group, "0 %u 1\n", getegid());
	if (unshare(CLONE_NEWUSER) < 0)
		abort();
	write_text("/proc/self/setgroups", "deny");
	write_text("/proc/self/uid_map", map);
	write_text("/proc/self/gid_map", group);
}

enum place { PLAIN, CONTAINER, SWITCHED_OFF };

/* sandbox_probe() in a process of its own; the error's line, or "". */
static char *probe_in(enum who who, enum place place)
{
	char *said = mmap(NULL, 1024, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct err err = { 0 };
		become(who);
		if (place != PLAIN)
			enter_container();
		if (place == SWITCHED_OFF) /* counted for each user namespace */
			write_text("/proc/sys/user/max_user_namespaces", "0");
		if (sandbox_probe(&err) < 0)
			snprintf(said, 1024, "%s", err.msg);
		_exit(0);
	}
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	char *copy = mem_dup(said);
	munmap(said, 1024);
	return copy;
}

static void test_probe(void **state)
{
	enum who who = *(enum who *)*state;
	if (who == ROOT && geteuid() != 0)
		skip();
	_cleanup_free_ char *plain = probe_in(who, PLAIN), *container = probe_in(who, CONTAINER),
		*off = probe_in(who, SWITCHED_OFF);
	assert_string_equal(plain, "");
	assert_string_equal(container, "");
	assert_said(off, "the kernel gives no sandbox");
	assert_said(off, "user.max_user_namespaces");
	assert_null(strchr(off, '\n'));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_status), BOTH(test_who), BOTH(test_environment), BOTH(test_descriptors), BOTH(test_log_can_be_opened_again),
		BOTH(test_addresses_repeat), BOTH(test_timeout), BOTH(test_kill), BOTH(test_forge_killed),
		BOTH(test_cpu_time), BOTH(test_setup_errors), cmocka_unit_test(test_spec_errors), BOTH(test_probe),
	};
	return cmocka_run_group_tests(tests, host_setup, host_teardown);
}
