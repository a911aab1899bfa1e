/* The builder, from its clone to its exec: gives up every right it has, in an order that works. */
#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/plan.h"

static int limit(int what, rlim_t most)
{
	struct rlimit now;
	if (getrlimit((__rlimit_resource_t)what, &now) < 0)
		return -1;
	rlim_t hard = now.rlim_max < most ? now.rlim_max : most; /* it can't be raised */
	struct rlimit wanted = { hard, hard };
	return setrlimit((__rlimit_resource_t)what, &wanted);
}

/* The C library's setters signal all threads it believes in; a raw clone has none. */
static void drop_ids(const struct plan *p)
{
	if (!p->own_id)
		return; /* one id is mapped, and it is the builder's */
	if (syscall(SYS_setgroups, 0, NULL) < 0 ||
			syscall(SYS_setresgid, SANDBOX_UID, SANDBOX_UID, SANDBOX_UID) < 0 ||
			syscall(SYS_setresuid, SANDBOX_UID, SANDBOX_UID, SANDBOX_UID) < 0)
		plan_fail(p, STEP_IDS, "");
}

static void drop_bounding_set(const struct plan *p)
{
	for (unsigned long cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			plan_fail(p, STEP_CAPS, "");
}

static void drop_caps(const struct plan *p)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) < 0 ||
			syscall(SYS_capset, &head, none) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		plan_fail(p, STEP_CAPS, "");
}

/* Without SPEC_ALLOW kernels before 5.16 slow every process under a filter down. */
static void filter(const struct plan *p)
{
	unsigned long flags = SECCOMP_FILTER_FLAG_SPEC_ALLOW;
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &p->filter) < 0 &&
			(errno != EINVAL || syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p->filter) < 0))
		plan_fail(p, STEP_SECCOMP, "");
}

_Noreturn void builder_run(const struct plan *p)
{
	const struct sandbox_spec *s = p->spec;
	const char *cwd = s->cwd ? s->cwd : "/build";
	sigset_t none;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	personality(PER_LINUX | ADDR_NO_RANDOMIZE);
	drop_bounding_set(p);
	drop_ids(p);
	if (limit(RLIMIT_CORE, 0) < 0 || limit(RLIMIT_NPROC, p->processes) < 0 ||
			(s->file_size && limit(RLIMIT_FSIZE, s->file_size) < 0))
		plan_fail(p, STEP_LIMITS, "");
	drop_caps(p);
	if (guard_landlock() < 0)
		plan_fail(p, STEP_LANDLOCK, "");
	if (chdir(cwd) < 0)
		plan_fail(p, STEP_CWD, cwd);
	close_range(3, ~0u, 0);
	filter(p);
	if (!s->argv)
		_exit(0);
	execve(s->argv[0], (char *const *)s->argv, (char *const *)p->env);
	plan_fail(p, STEP_EXEC, s->argv[0]);
}
