/* Functions that open files. */
#include <stdarg.h>

#include "trace/trace.h"

typedef struct stream FILE_;
typedef struct folder DIR_;
extern FILE_ *fdopen(int fd, const char *mode);
extern DIR_ *fdopendir(int fd);
extern void *dlsym(void *handle, const char *name) __attribute__((weak));
#define NEXT ((void *)-1l)

#define CREATES (O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

static int pass(int dirfd, const char *path, int flags, unsigned mode)
{
	return sys_give(sys_openat(dirfd, path, flags, mode));
}

static bool only_reads(int flags)
{
	return (flags & O_ACCMODE) == O_RDONLY && !(flags & CREATES);
}

static int close_with(int fd, int rc)
{
	sys_close(fd);
	return rc;
}

/* A folder is there to be asked about, not to be listed: that would not be in the log. */
static int give_folder(const struct place *p, int fd, int flags)
{
	sys_close(fd);
	if (log_folder(p->path, p->len) < 0)
		return -1;
	fd = sys_open_plain(p->path, O_PATH | O_DIRECTORY | (flags & O_CLOEXEC));
	return sys_give(fd);
}

/* The descriptor that the program gets for a plain file that is open as fd. */
static int give_file(const struct place *p, int fd, const struct stat *st, int flags)
{
	if (p->root == 0)
		return close_with(fd, copy_open(p, fd, st, flags));
	return log_file(p->path, st) < 0 ? close_with(fd, -1) : fd;
}

static const char *oddness(const struct place *p, const struct stat *st)
{
	if (!S_ISREG(st->st_mode))
		return "is no plain file";
	if (p->slash)
		return "is a file where a folder is meant";
	return p->root == 0 && (uint64_t)st->st_size > TRACE_FILE_MAX ? "is too large" : NULL;
}

/* -2: odd, and in the log as such. */
static int open_below(const struct place *p, int flags)
{
	struct stat st;
	if (look_met(p) < 0)
		return -1;
	int again = p->root == 0 && !p->slash ? copy_again(p, flags) : -2;
	if (again != -2)
		return again;
	/* Nothing that a build puts there may hold it up; that is for plain files without a meaning. */
	int fd = sys_open_plain(p->path, O_RDONLY | O_NONBLOCK | O_NOCTTY | (flags & O_CLOEXEC));
	int rc = fd < 0 ? fd : sys_fstat(fd, &st);
	if (rc < 0)
		return look_failed(p, -rc) < 0 ? -1 : -2;
	if (S_ISDIR(st.st_mode))
		return give_folder(p, fd, flags);
	const char *why = oddness(p, &st);
	if (!why)
		return give_file(p, fd, &st, flags);
	sys_close(fd);
	return log_odd(p->path, why) < 0 ? -1 : -2;
}

static int open_outside(const struct place *p, int dirfd, const char *path, int flags, unsigned mode)
{
	if (only_reads(flags) && look_outside(p) < 0)
		return -1;
	int fd = pass(dirfd, path, flags, mode);
	if (fd >= 0 && only_reads(flags) && !(flags & O_PATH) && look_opened(fd, p->path) < 0)
		return close_with(fd, -1);
	return fd;
}

int trace_openat(int dirfd, const char *path, int flags, unsigned mode)
{
	struct place p;
	int on = settings_ready();
	if (on <= 0)
		return on < 0 ? -1 : pass(dirfd, path, flags, mode);
	switch (place_find(dirfd, path, &p)) {
	case PLACE_FAILS:
		return -1;
	case PLACE_OTHER:
		return pass(dirfd, path, flags, mode);
	case PLACE_OUTSIDE:
		return open_outside(&p, dirfd, path, flags, mode);
	case PLACE_BELOW:
		break;
	}
	if (!only_reads(flags) || flags & (O_PATH | O_DIRECTORY)) {
		if (log_odd(p.path, only_reads(flags) ? "is opened as a folder" : "is opened for writing") < 0)
			return -1;
		return pass(dirfd, path, flags, mode);
	}
	int fd = open_below(&p, flags);
	return fd == -2 ? pass(dirfd, path, flags, mode) : fd;
}

static unsigned mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) ? va_arg(ap, unsigned) : 0;
}

#define WITH_MODE(flags, call) ({ \
	va_list ap; \
	va_start(ap, flags); \
	unsigned mode = mode_of(flags, ap); \
	va_end(ap); \
	call; })

int trace_open(const char *path, int flags, ...) INSTEAD_OF("open");
int trace_open(const char *path, int flags, ...)
{
	return WITH_MODE(flags, trace_openat(AT_FDCWD, path, flags, mode));
}

int trace_open64(const char *path, int flags, ...) INSTEAD_OF("open64");
int trace_open64(const char *path, int flags, ...)
{
	return WITH_MODE(flags, trace_openat(AT_FDCWD, path, flags, mode));
}

int trace_openat_(int dirfd, const char *path, int flags, ...) INSTEAD_OF("openat");
int trace_openat_(int dirfd, const char *path, int flags, ...)
{
	return WITH_MODE(flags, trace_openat(dirfd, path, flags, mode));
}

int trace_openat64(int dirfd, const char *path, int flags, ...) INSTEAD_OF("openat64");
int trace_openat64(int dirfd, const char *path, int flags, ...)
{
	return WITH_MODE(flags, trace_openat(dirfd, path, flags, mode));
}

int trace_open_2(const char *path, int flags) INSTEAD_OF("__open_2");
int trace_open_2(const char *path, int flags)
{
	return trace_openat(AT_FDCWD, path, flags, 0);
}

int trace_open64_2(const char *path, int flags) INSTEAD_OF("__open64_2");
int trace_open64_2(const char *path, int flags)
{
	return trace_openat(AT_FDCWD, path, flags, 0);
}

int trace_openat_2(int dirfd, const char *path, int flags) INSTEAD_OF("__openat_2");
int trace_openat_2(int dirfd, const char *path, int flags)
{
	return trace_openat(dirfd, path, flags, 0);
}

int trace_openat64_2(int dirfd, const char *path, int flags) INSTEAD_OF("__openat64_2");
int trace_openat64_2(int dirfd, const char *path, int flags)
{
	return trace_openat(dirfd, path, flags, 0);
}

int trace_creat(const char *path, unsigned mode) INSTEAD_OF("creat");
int trace_creat(const char *path, unsigned mode)
{
	return trace_openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int trace_creat64(const char *path, unsigned mode) INSTEAD_OF("creat64");
int trace_creat64(const char *path, unsigned mode)
{
	return trace_openat(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* fopen's mode as open's flags; -1: there is no such mode. */
static int flags_of(const char *mode)
{
	int flags = *mode == 'r' ? 0 : *mode == 'w' ? O_CREAT | O_TRUNC : *mode == 'a' ? O_CREAT | O_APPEND : -1;
	int access = *mode == 'r' ? O_RDONLY : O_WRONLY;
	if (flags < 0)
		return -1;
	for (const char *m = mode + 1; *m && *m != ','; m++) {
		access = *m == '+' ? O_RDWR : access;
		flags |= *m == 'e' ? O_CLOEXEC : *m == 'x' ? O_EXCL : 0;
	}
	return flags | access;
}

FILE_ *trace_fopen(const char *path, const char *mode) INSTEAD_OF("fopen");
FILE_ *trace_fopen(const char *path, const char *mode)
{
	int flags = flags_of(mode);
	if (flags < 0) {
		errno = EINVAL;
		return NULL;
	}
	int fd = trace_openat(AT_FDCWD, path, flags, 0666);
	FILE_ *f = fd < 0 ? NULL : fdopen(fd, mode);
	if (fd >= 0 && !f)
		sys_close(fd);
	return f;
}

FILE_ *trace_fopen64(const char *path, const char *mode) INSTEAD_OF("fopen64");
FILE_ *trace_fopen64(const char *path, const char *mode)
{
	return trace_fopen(path, mode);
}

/* The stream is the C library's to change: only its own function can.  What it would read goes untold. */
static FILE_ *reopen(const char *name, const char *path, const char *mode, FILE_ *f)
{
	struct place p;
	FILE_ *(*real)(const char *, const char *, FILE_ *) = NULL;
	int on = settings_ready();
	enum where where = on > 0 ? place_find(AT_FDCWD, path, &p) : PLACE_OTHER;
	if (on < 0 || where == PLACE_FAILS || (where == PLACE_OUTSIDE && look_outside(&p) < 0) ||
			(where == PLACE_BELOW && log_odd(p.path, "is opened again") < 0))
		return NULL;
	if (dlsym)
		real = (FILE_ *(*)(const char *, const char *, FILE_ *))dlsym(NEXT, name);
	if (real)
		return real(path, mode, f);
	errno = ENOSYS;
	return NULL;
}

FILE_ *trace_freopen(const char *path, const char *mode, FILE_ *f) INSTEAD_OF("freopen");
FILE_ *trace_freopen(const char *path, const char *mode, FILE_ *f)
{
	return reopen("freopen", path, mode, f);
}

FILE_ *trace_freopen64(const char *path, const char *mode, FILE_ *f) INSTEAD_OF("freopen64");
FILE_ *trace_freopen64(const char *path, const char *mode, FILE_ *f)
{
	return reopen("freopen64", path, mode, f);
}

/* Below a root this is odd, by the flag. */
DIR_ *trace_opendir(const char *path) INSTEAD_OF("opendir");
DIR_ *trace_opendir(const char *path)
{
	int fd = trace_openat(AT_FDCWD, path, O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC, 0);
	DIR_ *d = fd < 0 ? NULL : fdopendir(fd);
	if (fd >= 0 && !d)
		sys_close(fd);
	return d;
}
