/* System calls without the C library, whose functions these files stand in front of. */
#ifndef FORGE_TRACE_SYS_H
#define FORGE_TRACE_SYS_H

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#ifndef __x86_64__
#error "the tracer knows the system calls of x86-64 only"
#endif

/* The kernel's answer: a value, or a negative errno. */
static inline long sys6(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long rc;
	__asm__ volatile("syscall" : "=a"(rc) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
		: "rcx", "r11", "memory");
	return rc;
}
#define sys(number, a, b, c, d) sys6(number, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

/* As the C library gives it back. */
static inline int sys_give(long rc)
{
	if (rc >= 0)
		return (int)rc;
	errno = (int)-rc;
	return -1;
}

static inline int sys_openat(int dirfd, const char *path, int flags, unsigned mode)
{
	return (int)sys(SYS_openat, dirfd, path, flags, mode);
}

/* Without a link anywhere on the way. */
static inline int sys_open_plain(const char *path, int flags)
{
	struct open_how how = { .flags = (uint64_t)(unsigned)flags, .resolve = RESOLVE_NO_SYMLINKS };
	return (int)sys(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
}

static inline int sys_stat(int dirfd, const char *path, struct stat *st, int flags)
{
	return (int)sys(SYS_newfstatat, dirfd, path, st, flags);
}

static inline int sys_fstat(int fd, struct stat *st)
{
	return (int)sys(SYS_fstat, fd, st, 0, 0);
}

static inline void sys_close(int fd)
{
	sys(SYS_close, fd, 0, 0, 0);
}

#endif
