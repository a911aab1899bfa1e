/*
 * What a build may not ask of the kernel.  The list forbids; what it does not name is allowed,
 * for the builder has no rights left: the filter closes what needs none.  Compiled once.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "sandbox/plan.h"

/* Calls younger than the libseccomp we are built with; from 424 on all architectures share numbers. */
enum {
	NR_IO_URING_SETUP = 425, NR_OPEN_TREE = 428, NR_MOVE_MOUNT = 429, NR_FSOPEN = 430, NR_FSCONFIG = 431,
	NR_FSMOUNT = 432, NR_FSPICK = 433, NR_CLONE3 = 435, NR_OPENAT2 = 437, NR_PIDFD_GETFD = 438,
	NR_MOUNT_SETATTR = 442, NR_FCHMODAT2 = 452, NR_SETXATTRAT = 463, NR_OPEN_TREE_ATTR = 467,
};

struct refusal {
	int nr;
	int error;
};

static const struct refusal refusals[] = {
	/* the libraries fall back when these "don't exist": their arguments can't be looked into */
	{ NR_CLONE3, ENOSYS }, { NR_OPENAT2, ENOSYS }, { NR_IO_URING_SETUP, ENOSYS },
	/* no extended attributes: the store's archives have none */
	{ SCMP_SYS(setxattr), ENOTSUP }, { SCMP_SYS(lsetxattr), ENOTSUP }, { SCMP_SYS(fsetxattr), ENOTSUP },
	{ NR_SETXATTRAT, ENOTSUP },
	/* keyrings belong to no namespace */
	{ SCMP_SYS(add_key), ENOSYS }, { SCMP_SYS(request_key), ENOSYS }, { SCMP_SYS(keyctl), ENOSYS },
	/* other processes */
	{ SCMP_SYS(ptrace), EPERM }, { SCMP_SYS(process_vm_readv), EPERM }, { SCMP_SYS(process_vm_writev), EPERM },
	{ SCMP_SYS(kcmp), EPERM }, { NR_PIDFD_GETFD, EPERM },
	/* the world is as it was made */
	{ SCMP_SYS(mount), EPERM }, { SCMP_SYS(umount2), EPERM }, { SCMP_SYS(pivot_root), EPERM },
	{ SCMP_SYS(chroot), EPERM }, { SCMP_SYS(setns), EPERM }, { NR_OPEN_TREE, EPERM }, { NR_MOVE_MOUNT, EPERM },
	{ NR_FSOPEN, EPERM }, { NR_FSCONFIG, EPERM }, { NR_FSMOUNT, EPERM }, { NR_FSPICK, EPERM },
	{ NR_MOUNT_SETATTR, EPERM }, { NR_OPEN_TREE_ATTR, EPERM },
	/* doors into the kernel that no build needs */
	{ SCMP_SYS(bpf), EPERM }, { SCMP_SYS(perf_event_open), EPERM }, { SCMP_SYS(userfaultfd), EPERM },
	{ SCMP_SYS(kexec_load), EPERM }, { SCMP_SYS(kexec_file_load), EPERM }, { SCMP_SYS(init_module), EPERM },
	{ SCMP_SYS(finit_module), EPERM }, { SCMP_SYS(delete_module), EPERM }, { SCMP_SYS(open_by_handle_at), EPERM },
	{ SCMP_SYS(quotactl), EPERM }, { SCMP_SYS(swapon), EPERM }, { SCMP_SYS(swapoff), EPERM },
	{ SCMP_SYS(reboot), EPERM }, { SCMP_SYS(syslog), EPERM }, { SCMP_SYS(acct), EPERM },
	{ SCMP_SYS(vhangup), EPERM }, { SCMP_SYS(fanotify_init), EPERM }, { SCMP_SYS(lookup_dcookie), EPERM },
	{ SCMP_SYS(uselib), EPERM }, { SCMP_SYS(nfsservctl), EPERM }, { SCMP_SYS(vm86), EPERM },
};

static int refuse(scmp_filter_ctx c, bool openat2)
{
	for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
		if (openat2 && refusals[i].nr == NR_OPENAT2)
			continue;
		int rc = seccomp_rule_add(c, SCMP_ACT_ERRNO((uint32_t)refusals[i].error), refusals[i].nr, 0);
		if (rc < 0 && rc != -EDOM)
			return rc; /* -EDOM: not of this architecture */
	}
	return 0;
}

/* Refuse nr where argument arg has all bits of mask. */
static int refuse_bits(scmp_filter_ctx c, int nr, unsigned arg, scmp_datum_t mask)
{
	return seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), nr, 1, SCMP_CMP(arg, SCMP_CMP_MASKED_EQ, mask, mask));
}

/* Set-id bits in a mode: what a build makes is run by others. */
static int refuse_setid(scmp_filter_ctx c)
{
	static const struct { int nr; unsigned mode; } calls[] = {
		{ SCMP_SYS(chmod), 1 }, { SCMP_SYS(fchmod), 1 }, { SCMP_SYS(fchmodat), 2 }, { NR_FCHMODAT2, 2 },
		{ SCMP_SYS(creat), 1 }, { SCMP_SYS(mkdir), 1 }, { SCMP_SYS(mkdirat), 2 },
		{ SCMP_SYS(mknod), 1 }, { SCMP_SYS(mknodat), 2 },
	};
	static const scmp_datum_t bits[] = { S_ISUID, S_ISGID };
	int rc = 0;
	for (size_t b = 0; b < 2; b++) {
		for (size_t i = 0; rc >= 0 && i < sizeof calls / sizeof *calls; i++)
			rc = refuse_bits(c, calls[i].nr, calls[i].mode, bits[b]);
		/* the mode means something only where a file is made */
		static const scmp_datum_t makes[] = { O_CREAT, O_TMPFILE & ~O_DIRECTORY };
		for (size_t m = 0; rc >= 0 && m < 2; m++) {
			rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(open), 2,
				SCMP_A1(SCMP_CMP_MASKED_EQ, makes[m], makes[m]), SCMP_A2(SCMP_CMP_MASKED_EQ, bits[b], bits[b]));
			if (rc >= 0)
				rc = seccomp_rule_add(c, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(openat), 2,
					SCMP_A2(SCMP_CMP_MASKED_EQ, makes[m], makes[m]), SCMP_A3(SCMP_CMP_MASKED_EQ, bits[b], bits[b]));
		}
	}
	return rc;
}

static int build_filter(scmp_filter_ctx c, bool openat2)
{
	/* 32-bit and x32 calls have other numbers: none exists here */
	int rc = seccomp_attr_set(c, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ERRNO(ENOSYS));
	if (rc >= 0)
		rc = seccomp_attr_set(c, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a tree; before 2.5 there was none */
	rc = rc >= 0 ? refuse(c, openat2) : rc;
	rc = rc >= 0 ? refuse_setid(c) : rc;
	/* nested user namespaces would give rights back */
	rc = rc >= 0 ? refuse_bits(c, SCMP_SYS(clone), 0, CLONE_NEWUSER) : rc;
	return rc >= 0 ? refuse_bits(c, SCMP_SYS(unshare), 0, CLONE_NEWUSER) : rc;
}

static int compile(bool openat2, struct buf *program, struct err *err)
{
	_cleanup_close_ int fd = memfd_create("forge-seccomp", MFD_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "can't hold the system call filter");
	scmp_filter_ctx c = seccomp_init(SCMP_ACT_ALLOW);
	int rc = c ? build_filter(c, openat2) : -ENOMEM;
	if (rc >= 0)
		rc = seccomp_export_bpf(c, fd);
	seccomp_release(c);
	if (rc < 0) {
		errno = -rc;
		return err_sys(err, "can't make the system call filter");
	}
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_sys(err, "can't hold the system call filter");
	return fs_slurp(fd, BPF_MAXINSNS * sizeof(struct sock_filter), program, err);
}

int guard_filter(bool openat2, struct sock_fprog *filter, struct err *err)
{
	static struct buf programs[2]; /* for the life of the process */
	struct buf *program = &programs[openat2];
	if (program->len == 0 && compile(openat2, program, err) < 0) {
		buf_free(program);
		return -1;
	}
	filter->len = (unsigned short)(program->len / sizeof(struct sock_filter));
	filter->filter = (struct sock_filter *)(void *)program->data;
	return 0;
}

/* Landlock ABI 6 (Linux 6.12); the headers of older systems lack it. */
struct landlock_ruleset {
	uint64_t handled_access_fs, handled_access_net, scoped;
};
#define LANDLOCK_VERSION_FLAG 1u
#define LANDLOCK_ABSTRACT_SOCKETS 1u

int guard_landlock(void)
{
	struct landlock_ruleset rules = { .scoped = LANDLOCK_ABSTRACT_SOCKETS };
	if (syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_VERSION_FLAG) < 6)
		return 0; /* or none: abstract sockets are per network namespace anyway */
	int fd = (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0);
	if (fd < 0)
		return -1;
	int rc = (int)syscall(SYS_landlock_restrict_self, fd, 0);
	close(fd);
	return rc;
}
