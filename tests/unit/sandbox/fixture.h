/*
 * A small world to run the guest (tests/support/sandbox_guest.c) in, as root and as an ordinary
 * user.  forge is played by a process of its own, so that it can be another user and be killed.
 */
#ifndef FORGE_TESTS_SANDBOX_FIXTURE_H
#define FORGE_TESTS_SANDBOX_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "sandbox/plan.h"
#include "sandbox/sandbox.h"
#include "support/tempdir.h"

enum who { ROOT, USER };

/* Made once a program. */
static struct {
	char dir[256];     /* holds the guest */
	char guest[16];    /* its name, which no other process has */
	char user[32];     /* made by us; empty: none */
	uid_t uid;
	gid_t gid;
} host;

/* What came of a run; shared with the process that plays forge. */
struct outcome {
	bool started, done;
	int end, status;
	uint64_t peak;
	int64_t wall_ms;
	double cpu_s;
	size_t host_count;
	char hosts[SANDBOX_HOSTS_MAX][SANDBOX_HOST_CAP];
	char err[1024];
	char log[65536]; /* what the guest wrote */
};

struct fixture {
	enum who who;
	char dir[256];
	char *layer, *scratch, *log, *program;
	struct sandbox_mount root;
	struct sandbox_spec spec; /* to be changed by the test; argv is set by start_guest() */
	const char *args[16];
	bool log_pipe;            /* the log goes into a pipe, not a file */
	int log_read;
	int kill_ms;              /* sandbox_kill() after so long; 0: never */
	struct outcome *out;
	pid_t forge;
};

static inline void run_tool(const char *const *argv)
{
	struct proc_spec spec = PROC_SPEC_INIT;
	struct proc_result result = { 0 };
	struct err err = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	spec.argv = argv;
	if (proc_run(&spec, &text, &text, 1 << 20, &result, &err) < 0 || result.status != 0) {
		fprintf(stderr, "%s: %s %s\n", argv[0], err.msg ? err.msg : "", text.data ? text.data : "");
		abort();
	}
}

static inline void make_user(void)
{
	snprintf(host.user, sizeof host.user, "forgetest%d", (int)getpid());
	run_tool((const char *[]){ "useradd", "-M", "-N", "-s", "/bin/false", host.user, NULL });
	const struct passwd *p = getpwnam(host.user);
	assert_non_null(p);
	host.uid = p->pw_uid;
	host.gid = p->pw_gid;
}

static inline int host_setup(void **state)
{
	const char *cc = getenv("CC");
	struct tempdir t = tempdir_make();
	close(t.fd);
	snprintf(host.dir, sizeof host.dir, "%s", t.path);
	chmod(host.dir, 0755);
	snprintf(host.guest, sizeof host.guest, "g-%d", (int)getpid());
	_cleanup_free_ char *out = fs_join(host.dir, host.guest);
	run_tool((const char *[]){ cc && *cc ? cc : "cc", "-std=gnu11", "-D_GNU_SOURCE", "-static", "-O1", "-w",
		"tests/support/sandbox_guest.c", "-o", out, NULL });
	host.uid = getuid();
	host.gid = getgid();
	if (geteuid() == 0)
		make_user();
	return 0;
}

static inline int host_teardown(void **state)
{
	struct tempdir t;
	snprintf(t.path, sizeof t.path, "%s", host.dir);
	t.fd = -1;
	tempdir_remove(&t);
	if (host.user[0])
		run_tool((const char *[]){ "userdel", host.user, NULL });
	return 0;
}

/* A file or folder of the world's, owned by who runs forge. */
static inline void put(struct fixture *f, const char *path, const char *text)
{
	_cleanup_free_ char *all = fs_join(f->dir, path);
	struct err err = { 0 };
	char *slash = strrchr(all, '/');
	*slash = 0;
	assert_int_equal(fs_mkdirs(all, 0755, &err), 0);
	*slash = '/';
	if (!text) {
		assert_int_equal(fs_mkdirs(all, 0755, &err), 0);
		return;
	}
	assert_int_equal(fs_write_file(AT_FDCWD, all, text, strlen(text), 0644, &err), 0);
}

static inline void put_link(struct fixture *f, const char *path, const char *target)
{
	_cleanup_free_ char *all = fs_join(f->dir, path);
	assert_int_equal(symlink(target, all), 0);
}

static inline struct fixture *world_new(enum who who)
{
	static const char *const env[] = { "A=b", NULL };
	if (who == ROOT && geteuid() != 0) {
		printf("skipped: as root: not root\n");
		skip();
	}
	struct fixture *f = mem_alloc(sizeof *f);
	struct tempdir t = tempdir_make();
	close(t.fd);
	f->who = who;
	snprintf(f->dir, sizeof f->dir, "%s", t.path);
	f->layer = fs_join(f->dir, "layer");
	f->scratch = fs_join(f->dir, "scratch");
	f->log = fs_join(f->dir, "log");
	f->program = mem_printf("/%s", host.guest);
	f->out = mmap(NULL, sizeof *f->out, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	put(f, "layer", NULL);
	put(f, "scratch", NULL);
	_cleanup_free_ char *from = fs_join(host.dir, host.guest), *to = fs_join(f->layer, host.guest);
	run_tool((const char *[]){ "cp", from, to, NULL });
	f->root = (struct sandbox_mount){ "/", &f->layer, 1 };
	f->spec = (struct sandbox_spec){ .scratch = f->scratch, .mounts = &f->root, .mount_count = 1, .env = env,
		.timeout_ms = 20000 };
	return f;
}

static inline void world_free(struct fixture *f)
{
	struct tempdir t;
	snprintf(t.path, sizeof t.path, "%s", f->dir);
	t.fd = -1;
	tempdir_remove(&t);
	assert_false(fs_exists(f->dir)); /* nothing is left that could not be removed */
	munmap(f->out, sizeof *f->out);
	free(f->layer);
	free(f->scratch);
	free(f->log);
	free(f->program);
	free(f);
}

static inline void play_ended(void *ctx, const struct sandbox_result *r)
{
	struct outcome *o = ctx;
	o->end = (int)r->end;
	o->status = r->status;
	o->peak = r->peak_memory;
	o->wall_ms = r->wall_ms;
	o->cpu_s = (double)(r->usage.ru_utime.tv_sec + r->usage.ru_stime.tv_sec) +
		(double)(r->usage.ru_utime.tv_usec + r->usage.ru_stime.tv_usec) / 1e6;
	o->host_count = r->hosts.count;
	for (size_t i = 0; i < r->hosts.count; i++)
		snprintf(o->hosts[i], sizeof o->hosts[i], "%s", r->hosts.items[i]);
	if (r->err.msg)
		snprintf(o->err, sizeof o->err, "%s", r->err.msg);
	o->done = true;
}

static inline void play_kill(void *ctx)
{
	sandbox_kill(ctx);
}

static inline void become(enum who who)
{
	if (who == USER && geteuid() == 0 &&
			(setgroups(0, NULL) < 0 || setresgid(host.gid, host.gid, host.gid) < 0 ||
			setresuid(host.uid, host.uid, host.uid) < 0 ||
			prctl(PR_SET_DUMPABLE, 1) < 0)) /* as after an exec: /proc/self is the user's own */
		abort();
}

static inline _Noreturn void play_forge(struct fixture *f)
{
	struct err err = { 0 };
	become(f->who);
	struct loop *loop = loop_new(&err);
	struct sandbox *s = loop ? sandbox_start(loop, &f->spec, play_ended, f->out, &err) : NULL;
	if (!s) {
		snprintf(f->out->err, sizeof f->out->err, "%s", err.msg);
		_exit(1);
	}
	f->out->started = true;
	if (f->kill_ms < 0)
		sandbox_kill(s);
	else if (f->kill_ms)
		loop_timer(loop, f->kill_ms, play_kill, s);
	_exit(loop_run(loop, &f->out->done, &err) < 0 ? 2 : 0);
}

/* The guest's words, NULL at the end. */
static inline void start_guest(struct fixture *f, ...)
{
	va_list ap;
	size_t n = 0;
	va_start(ap, f);
	f->args[n++] = f->program;
	while (n < 15 && (f->args[n] = va_arg(ap, const char *)))
		n++;
	va_end(ap);
	memset(f->out, 0, sizeof *f->out);
	if (!f->spec.argv)
		f->spec.argv = f->args;
	if (f->who == USER && geteuid() == 0) {
		char owner[32];
		snprintf(owner, sizeof owner, "%u:%u", host.uid, host.gid);
		run_tool((const char *[]){ "chown", "-hR", owner, f->dir, NULL });
	}
	int ends[2] = { -1, -1 };
	if (f->log_pipe)
		assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	else
		ends[1] = ends[0] = open(f->log, O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	assert_true(ends[0] >= 0);
	if (f->log_pipe && f->who == USER && geteuid() == 0)
		assert_int_equal(fchown(ends[1], host.uid, host.gid), 0); /* forge makes its own */
	f->log_read = ends[0];
	f->spec.log_fd = ends[1];
	f->forge = fork();
	if (f->forge == 0)
		play_forge(f);
	if (f->log_pipe)
		close(ends[1]);
}

static inline void read_log(struct fixture *f)
{
	ssize_t n = f->log_pipe ? read(f->log_read, f->out->log, sizeof f->out->log - 1)
		: pread(f->log_read, f->out->log, sizeof f->out->log - 1, 0);
	f->out->log[n > 0 ? n : 0] = 0;
}

static inline const struct outcome *end_guest(struct fixture *f)
{
	int status;
	assert_int_equal(waitpid(f->forge, &status, 0), f->forge);
	read_log(f);
	close(f->log_read);
	return f->out;
}

#define run_guest(f, ...) (start_guest((f), __VA_ARGS__, NULL), end_guest(f))

/* A fresh scratch folder for another run in the same world. */
static inline void fresh_scratch(struct fixture *f)
{
	struct err err = { 0 };
	if (sandbox_scratch_remove(f->scratch, &err) < 0)
		fail_msg("%s", err.msg);
	put(f, "scratch", NULL);
}

#define assert_exited(out, code) do { \
	const struct outcome *o_ = (out); \
	if (o_->end != SANDBOX_EXITED || !WIFEXITED(o_->status) || WEXITSTATUS(o_->status) != (code)) \
		fail_msg("end %d, status %x, \"%s\"\n%s", o_->end, o_->status, o_->err, o_->log); \
} while (0)

#define assert_said(text, part) do { \
	if (!strstr((text), (part))) \
		fail_msg("no \"%s\" in:\n%s", (part), (text)); \
} while (0)

#define assert_not_said(text, part) do { \
	if (strstr((text), (part))) \
		fail_msg("\"%s\" is in:\n%s", (part), (text)); \
} while (0)

/* How many processes of the machine run our guest. */
static inline int guests_alive(void)
{
	int n = 0;
	DIR *proc = opendir("/proc");
	for (struct dirent *e; proc && (e = readdir(proc));) {
		char path[300], line[64] = "";
		snprintf(path, sizeof path, "/proc/%s/comm", e->d_name);
		FILE *file = e->d_name[0] >= '1' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
		if (file && fgets(line, sizeof line, file) && strncmp(line, host.guest, strlen(host.guest)) == 0)
			n++;
		if (file)
			fclose(file);
	}
	closedir(proc);
	return n;
}

#define BOTH(fn) { #fn " (root)", fn, NULL, NULL, &(enum who){ ROOT } }, \
	{ #fn " (user)", fn, NULL, NULL, &(enum who){ USER } }
#define WORLD(state) world_new(*(const enum who *)*(state))

#endif
