/* Functions that ask about files. */
#include "trace/trace.h"

extern void *malloc(size_t size);

/* A call about a path.  look() decides it: fd >= 0 what is there, -1 the call fails, -2 the kernel is to answer.
 * anywhere: outside of the roots nothing is odd. */
struct question {
	struct place place;
	struct stat st;
	int fd;
};

static int look(int dirfd, const char *path, struct question *q, bool anywhere)
{
	int on = settings_ready();
	if (on <= 0)
		return q->fd = on < 0 ? -1 : -2;
	switch (place_find(dirfd, path, &q->place)) {
	case PLACE_FAILS:
		return q->fd = -1;
	case PLACE_OTHER:
		return q->fd = -2;
	case PLACE_OUTSIDE:
		return q->fd = !anywhere && look_outside(&q->place) < 0 ? -1 : -2;
	case PLACE_BELOW:
		break;
	}
	return q->fd = look_at(&q->place, &q->st);
}

/* A link below a root is odd, so with or without AT_SYMLINK_NOFOLLOW the answer is the same. */
static int ask_stat(int dirfd, const char *path, struct stat *st, int flags)
{
	struct question q;
	switch (look(dirfd, path, &q, false)) {
	case -1:
		return -1;
	case -2:
		return sys_give(sys_stat(dirfd, path, st, flags));
	}
	sys_close(q.fd);
	*st = q.st;
	return 0;
}

#define STAT_OF(name, flags) \
	int trace_##name(const char *path, struct stat *st) INSTEAD_OF(#name); \
	int trace_##name(const char *path, struct stat *st) { return ask_stat(AT_FDCWD, path, st, flags); }
#define XSTAT_OF(name, flags) \
	int trace_##name(int version, const char *path, struct stat *st) INSTEAD_OF(#name); \
	int trace_##name(int version, const char *path, struct stat *st) { return ask_stat(AT_FDCWD, path, st, flags); }
#define STATAT_OF(name) \
	int trace_##name(int dirfd, const char *path, struct stat *st, int flags) INSTEAD_OF(#name); \
	int trace_##name(int dirfd, const char *path, struct stat *st, int flags) \
	{ return ask_stat(dirfd, path, st, flags); }
#define XSTATAT_OF(name) \
	int trace_##name(int version, int dirfd, const char *path, struct stat *st, int flags) INSTEAD_OF(#name); \
	int trace_##name(int version, int dirfd, const char *path, struct stat *st, int flags) \
	{ return ask_stat(dirfd, path, st, flags); }

/* With the 64 bits of this machine all have one structure. */
STAT_OF(stat, 0)
STAT_OF(stat64, 0)
STAT_OF(lstat, AT_SYMLINK_NOFOLLOW)
STAT_OF(lstat64, AT_SYMLINK_NOFOLLOW)
XSTAT_OF(__xstat, 0)
XSTAT_OF(__xstat64, 0)
XSTAT_OF(__lxstat, AT_SYMLINK_NOFOLLOW)
XSTAT_OF(__lxstat64, AT_SYMLINK_NOFOLLOW)
STATAT_OF(fstatat)
STATAT_OF(fstatat64)
XSTATAT_OF(__fxstatat)
XSTATAT_OF(__fxstatat64)

int trace_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *st) INSTEAD_OF("statx");
int trace_statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *st)
{
	struct question q;
	switch (look(dirfd, path, &q, false)) {
	case -1:
		return -1;
	case -2:
		return sys_give(sys6(SYS_statx, dirfd, (long)path, flags, mask, (long)st, 0));
	}
	int rc = (int)sys6(SYS_statx, q.fd, (long)"", flags | AT_EMPTY_PATH, mask, (long)st, 0);
	sys_close(q.fd);
	if (S_ISREG(q.st.st_mode))
		st->stx_size = (uint64_t)q.st.st_size;
	st->stx_mtime.tv_sec = q.st.st_mtim.tv_sec;
	st->stx_mtime.tv_nsec = (uint32_t)q.st.st_mtim.tv_nsec;
	return sys_give(rc);
}

/* flags: AT_EACCESS and AT_SYMLINK_NOFOLLOW; kernels before 5.8 know neither. */
static int real_access(int dirfd, const char *path, int mode, int flags)
{
	long rc = flags ? sys(SYS_faccessat2, dirfd, path, mode, flags) : sys(SYS_faccessat, dirfd, path, mode, 0);
	return sys_give(rc == -ENOSYS ? sys(SYS_faccessat, dirfd, path, mode, 0) : rc);
}

static int ask_access(int dirfd, const char *path, int mode, int flags)
{
	struct question q;
	switch (look(dirfd, path, &q, false)) {
	case -1:
		return -1;
	case -2:
		return real_access(dirfd, path, mode, flags);
	}
	sys_close(q.fd);
	int rc = mode == F_OK ? 0 : real_access(AT_FDCWD, q.place.path, mode, flags);
	int error = errno;
	if (rc < 0 && log_odd(q.place.path, "is there, but not for everything") < 0)
		return -1;
	if (rc < 0)
		errno = error;
	return rc;
}

int trace_access(const char *path, int mode) INSTEAD_OF("access");
int trace_access(const char *path, int mode)
{
	return ask_access(AT_FDCWD, path, mode, 0);
}

int trace_faccessat(int dirfd, const char *path, int mode, int flags) INSTEAD_OF("faccessat");
int trace_faccessat(int dirfd, const char *path, int mode, int flags)
{
	return ask_access(dirfd, path, mode, flags);
}

int trace_euidaccess(const char *path, int mode) INSTEAD_OF("euidaccess");
int trace_euidaccess(const char *path, int mode)
{
	return ask_access(AT_FDCWD, path, mode, AT_EACCESS);
}

int trace_eaccess(const char *path, int mode) INSTEAD_OF("eaccess");
int trace_eaccess(const char *path, int mode)
{
	return ask_access(AT_FDCWD, path, mode, AT_EACCESS);
}

/* No text of a source leads to a call of this or of realpath, so outside of the roots any path may be asked for. */
static long ask_readlink(int dirfd, const char *path, char *to, size_t room)
{
	struct place p;
	struct stat st;
	int on = settings_ready();
	enum where where = on > 0 ? place_find(dirfd, path, &p) : PLACE_OTHER;
	int fd = on < 0 || where == PLACE_FAILS ? -1 : where == PLACE_BELOW ? look_at(&p, &st) : -2;
	if (fd == -1)
		return -1;
	if (fd >= 0)
		sys_close(fd);
	long rc = sys(SYS_readlinkat, dirfd, path, to, room);
	if (rc >= 0)
		return rc;
	errno = (int)-rc;
	return -1;
}

long trace_readlink(const char *path, char *to, size_t room) INSTEAD_OF("readlink");
long trace_readlink(const char *path, char *to, size_t room)
{
	return ask_readlink(AT_FDCWD, path, to, room);
}

long trace_readlinkat(int dirfd, const char *path, char *to, size_t room) INSTEAD_OF("readlinkat");
long trace_readlinkat(int dirfd, const char *path, char *to, size_t room)
{
	return ask_readlink(dirfd, path, to, room);
}

long trace_readlink_chk(const char *path, char *to, size_t room, size_t have) INSTEAD_OF("__readlink_chk");
long trace_readlink_chk(const char *path, char *to, size_t room, size_t have)
{
	return ask_readlink(AT_FDCWD, path, to, room < have ? room : have);
}

/* The kernel's own name for what an open descriptor leads to. */
static int name_fd(int fd, char path[PATH_MAX])
{
	int rc = place_of_fd(fd, path, PATH_MAX) < 0 ? -1 : 0;
	sys_close(fd);
	if (rc < 0)
		errno = ENOENT;
	return rc;
}

/* Into `real`, which has PATH_MAX bytes. */
static int ask_real(const char *path, char *real)
{
	struct question q;
	switch (look(AT_FDCWD, path, &q, true)) {
	case -1:
		return -1;
	case -2: {
		int fd = sys_openat(AT_FDCWD, path, O_PATH | O_CLOEXEC, 0);
		return fd < 0 ? sys_give(fd) : name_fd(fd, real);
	}
	}
	sys_close(q.fd);
	memcpy(real, q.place.path, q.place.len + 1);
	return 0;
}

char *trace_realpath(const char *path, char *to) INSTEAD_OF("realpath");
char *trace_realpath(const char *path, char *to)
{
	char real[PATH_MAX];
	if (!path) {
		errno = EINVAL;
		return NULL;
	}
	if (ask_real(path, real) < 0)
		return NULL;
	size_t len = strlen(real) + 1;
	if (!to)
		to = malloc(len);
	return to ? memcpy(to, real, len) : NULL;
}

/* The room that the caller has is PATH_MAX at least, or the C library would have ended the program. */
char *trace_realpath_chk(const char *path, char *to, size_t room) INSTEAD_OF("__realpath_chk");
char *trace_realpath_chk(const char *path, char *to, size_t room)
{
	if (room < PATH_MAX)
		__builtin_trap();
	return trace_realpath(path, to);
}

char *trace_canonicalize(const char *path) INSTEAD_OF("canonicalize_file_name");
char *trace_canonicalize(const char *path)
{
	return trace_realpath(path, NULL);
}
