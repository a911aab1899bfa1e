/* Pid 1 of the sandbox: waits for its id maps, sets everything up, starts the builder, watches. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/plan.h"
#include "sandbox/world.h"

_Noreturn void plan_fail(const struct plan *p, enum step step, const char *detail)
{
	struct report *r = p->report;
	r->sys = errno;
	size_t n = strnlen(detail, sizeof r->detail - 1);
	memcpy(r->detail, detail, n);
	r->detail[n] = 0;
	r->step = (int)step;
	_exit(1);
}

pid_t plan_clone(unsigned long flags)
{
	return (pid_t)syscall(SYS_clone, flags | SIGCHLD, NULL, NULL, NULL, NULL);
}

static void default_signals(void)
{
	static const unsigned long plain[16]; /* the kernel's struct sigaction: SIG_DFL, no flags, no mask */
	for (int s = 1; s < _NSIG; s++)       /* by hand: the C library refuses to touch its own two */
		syscall(SYS_rt_sigaction, s, plain, NULL, _NSIG / 8);
}

/* Only 0 to 2 stay: forge's own descriptors are of no concern to a sandbox. */
static void close_all_but(int keep)
{
	if (keep > 3)
		close_range(3, (unsigned)keep - 1, 0);
	close_range((unsigned)keep + 1, ~0u, 0);
}

static void wait_for_go(const struct plan *p)
{
	char go;
	ssize_t n;
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* before the read: should forge die in between, the pipe ends */
	while ((n = read(p->go, &go, 1)) < 0 && errno == EINTR)
		;
	if (n != 1)
		plan_fail(p, STEP_PARENT, "");
	close(p->go);
}

/* stdin is nothing, stdout and stderr are the log, or as the spec says; p->go moves out of the way. */
static void place_stdio(struct plan *p)
{
	const struct sandbox_spec *s = p->spec;
	int go = fcntl(p->go, F_DUPFD_CLOEXEC, 3), log = fcntl(s->log_fd, F_DUPFD_CLOEXEC, 3);
	int err = s->err_fd ? fcntl(s->err_fd, F_DUPFD_CLOEXEC, 3) : log;
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (go < 0 || log < 0 || err < 0 || null < 0 || dup2(null, 0) < 0 || dup2(log, 1) < 0 || dup2(err, 2) < 0)
		plan_fail(p, STEP_STDIO, "");
	p->go = go;
	close_all_but(go);
}

/* A pipe is opened again through /dev/stdout and /dev/stderr as its owner only: make that the builder. */
static void give_log(const struct plan *p)
{
	struct stat st;
	if (!p->own_id)
		return;
	if (fstat(1, &st) < 0 || (S_ISFIFO(st.st_mode) && fchown(1, SANDBOX_UID, SANDBOX_UID) < 0))
		plan_fail(p, STEP_STDIO, "");
}

static void set_names(const struct plan *p)
{
	static const char host[] = "localhost", domain[] = "(none)";
	if (sethostname(host, sizeof host - 1) < 0 || setdomainname(domain, sizeof domain - 1) < 0)
		plan_fail(p, STEP_NAMES, "");
	/* after forge put us into a cgroup, so that ours is the root of what we see */
	if (unshare(CLONE_NEWCGROUP) < 0 && errno != EINVAL)
		plan_fail(p, STEP_CGROUP, "");
}

static int start_network(const struct plan *p)
{
	if (p->spec->network || p->spec->no_loopback)
		return -1;
	int names = net_loopback_up() < 0 ? -1 : net_names_socket();
	if (names < 0)
		plan_fail(p, STEP_NETWORK, "lo");
	return names;
}

/* The name forge was started under is nothing of the build's: blank it in our copy of the
 * process (proc_pid_stat(5), fields 48 and 49. */
static void blank_command_line(void)
{
	char text[1024];
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	char *p = strrchr(text, ')');
	for (int field = 2; p && field < 48; field++)
		if ((p = strchr(p, ' ')) != NULL)
			p++;
	if (!p)
		return;
	char *start = (char *)(uintptr_t)strtoull(p, &p, 10), *end = (char *)(uintptr_t)strtoull(p, NULL, 10);
	if (start && start < end)
		memset(start, 0, (size_t)(end - start));
}

_Noreturn void init_run(const struct plan *given)
{
	struct plan p = *given;
	struct world world;
	default_signals();
	place_stdio(&p);
	wait_for_go(&p);
	prctl(PR_SET_DUMPABLE, 0); /* builds can't look into forge's memory, of which this is a copy */
	prctl(PR_SET_NAME, "forge-init");
	setsid();
	umask(022);
	give_log(&p);
	set_names(&p);
	world_prepare(&world, &p);
	world_mount(&world);
	int names = start_network(&p);

	sigset_t all;
	sigfillset(&all);
	if (sigprocmask(SIG_BLOCK, &all, NULL) < 0)
		plan_fail(&p, STEP_SIGNALS, "");
	pid_t builder = vfork(); /* not a second copy of forge's memory, to be thrown away a moment later */
	if (builder == 0)
		builder_run(&p);
	if (builder < 0)
		plan_fail(&p, STEP_BUILDER, "");
	blank_command_line(); /* only now: the spec may point into it */
	watch_run(&p, builder, names);
	_exit(0);
}
