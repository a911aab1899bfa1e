/* A failed step as one line that says what to do. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "sandbox/plan.h"

static const char *const texts[STEP_COUNT] = {
	[STEP_PARENT] = "it was given up before it began",
	[STEP_SCRATCH] = "can't make the build's folders",
	[STEP_TMPFS] = "can't mount a tmpfs",
	[STEP_PLACE] = "can't put a file or mount point into the world",
	[STEP_OVERLAY] = "can't lay the world's layers over one another (overlay)",
	[STEP_PIVOT] = "can't enter the world (pivot_root)",
	[STEP_PROC] = "can't mount /proc",
	[STEP_DEV] = "can't make /dev",
	[STEP_BIND] = "can't mount an input",
	[STEP_NETWORK] = "can't bring up the loopback interface",
	[STEP_NAMES] = "can't set the host name",
	[STEP_CGROUP] = "can't make a cgroup namespace",
	[STEP_SIGNALS] = "can't take signals",
	[STEP_BUILDER] = "can't start the builder",
	[STEP_LIMITS] = "can't set limits",
	[STEP_IDS] = "can't change to the builder's user",
	[STEP_CAPS] = "can't drop capabilities",
	[STEP_LANDLOCK] = "can't confine abstract sockets (Landlock)",
	[STEP_SECCOMP] = "can't load the system call filter (seccomp)",
	[STEP_STDIO] = "can't connect the log",
	[STEP_CWD] = "can't enter the build's folder",
	[STEP_EXEC] = "can't run the builder",
};

/* The number in a sysctl's file, or -1 where the kernel has no such setting. */
static long sysctl(const char *name)
{
	_cleanup_free_ char *path = mem_printf("/proc/sys/%s", name);
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (fs_read_file(AT_FDCWD, path, 64, &text, NULL) < 0)
		return -1;
	return strtol(text.data ? text.data : "", NULL, 10);
}

/* Which switch of the machine forbids user namespaces to us, or NULL. */
static const char *closed_switch(void)
{
	if (sysctl("user/max_user_namespaces") == 0)
		return "user namespaces are switched off: set the sysctl user.max_user_namespaces to 10000";
	if (geteuid() == 0)
		return NULL;
	if (sysctl("kernel/unprivileged_userns_clone") == 0)
		return "user namespaces are switched off for users: set the sysctl kernel.unprivileged_userns_clone to 1";
	if (sysctl("kernel/apparmor_restrict_unprivileged_userns") == 1)
		return "AppArmor forbids user namespaces to programs it does not know: set the sysctl "
			"kernel.apparmor_restrict_unprivileged_userns to 0, or give forge a profile with \"userns,\"";
	return NULL;
}

int explain_clone(int sys, struct err *err)
{
	const char *why = closed_switch();
	if (why)
		return err_set(err, ERR_FAIL, "the kernel gives no sandbox: %s", why);
	errno = sys;
	if (sys == EPERM)
		return err_sys(err, "the kernel gives no sandbox (none is given inside a chroot, nor where a "
			"container's filter forbids clone or unshare): can't make namespaces");
	if (sys == ENOSPC || sys == EUSERS)
		return err_sys(err, "the kernel gives no sandbox: a limit on namespaces is reached "
			"(sysctl user.max_*_namespaces, or 32 levels)");
	if (sys == EINVAL)
		return err_sys(err, "the kernel gives no sandbox: it was built without one of user, mount, pid, "
			"net, ipc or uts namespaces");
	return err_sys(err, "can't start a sandbox");
}

static const char *mend(const struct report *r)
{
	if ((r->sys == EPERM || r->sys == EACCES) && closed_switch())
		return closed_switch();
	switch (r->step) {
	case STEP_PROC:
		if (r->sys == EPERM)
			return "in a container, start it so that its /proc is whole (podman --security-opt unmask=ALL, "
				"docker --security-opt systempaths=unconfined)";
		break;
	case STEP_OVERLAY:
		if (r->sys == ENODEV)
			return "load the kernel's overlay module (modprobe overlay)";
		if (r->sys == EPERM || r->sys == EINVAL)
			return "overlays in a user namespace need Linux 5.11 or newer, no mount below a layer, and a "
				"store that is not itself on two overlays";
		break;
	case STEP_SECCOMP:
		return "the kernel needs CONFIG_SECCOMP_FILTER";
	case STEP_EXEC:
		if (r->sys == ENOENT)
			return "it, or the interpreter it names, is not in the world";
		break;
	default:
		break;
	}
	return NULL;
}

int explain_step(const struct report *r, struct err *err)
{
	const char *what = r->step > STEP_NONE && r->step < STEP_COUNT ? texts[r->step] : "failed";
	const char *hint = mend(r);
	_cleanup_free_ char *detail = r->detail[0] ? mem_printf(": %.*s", (int)sizeof r->detail, r->detail) : mem_dup("");
	errno = r->sys;
	err_sys(err, "sandbox: %s%s", what, detail);
	if (hint && err) {
		_cleanup_free_ char *line = mem_printf("%s (%s)", err->msg, hint);
		int sys = err->sys;
		err_set(err, ERR_SYS, "%s", line);
		err->sys = sys;
	}
	return -1;
}
