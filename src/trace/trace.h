/*
 * What the files of trace.so share.  It is loaded into programs of any kind and age, so it stands on the kernel and
 * on a few functions that every C library has.  Functions return -1 with errno where they fail, unless said
 * otherwise; errno is left alone where they don't.
 */
#ifndef FORGE_TRACE_TRACE_H
#define FORGE_TRACE_TRACE_H

#include "trace/proto.h"
#include "trace/sys.h"

/* A function of the C library that programs get ours for. */
#define INSTEAD_OF(name) __asm__(name) __attribute__((visibility("default")))

/* What tracing itself fails with: never an errno that says that a file is not there. */
static inline int trace_failed(long error)
{
	errno = error == ENOENT || error == ENOTDIR ? EIO : (int)error;
	return -1;
}

/* --- settings.c: from the environment, once a process --------------------------------------- */

#define ROOTS_MAX 8

struct settings {
	char folder[PATH_MAX / 2];
	size_t folder_len;
	struct { const char *path; size_t len; } roots[ROOTS_MAX];
	size_t root_count;
	bool timed;       /* every file of the first root was modified at `time` */
	int64_t time;
};
extern struct settings settings;

/* 1: trace; 0: everything passes through; -1: the settings are no good, and nothing may be read. */
int settings_ready(void);
/* The number of the root that the clean path is in, -1: in none. */
int settings_root(const char *path, size_t len);

/* Is this process's program, without its folder, called so?  For what is rare. */
bool program_is(const char *name);

/* --- memo.c: what this process has met so far; safe in threads -------------------------------- */

enum {
	MET_FILE = 1,    /* is in the log as 'f'; below the first root there is a copy */
	MET_ASKED = 2,   /* 's' */
	MET_FOLDER = 4,  /* 'd' */
	MET_MISSING = 8, /* 'm': asking gives ENOENT */
	MET_BLOCKED = 16, /* 'm': it would be below a file, ENOTDIR */
	MET_ODD = 32,    /* 'x' */
	MET_PARENT = 64, /* is a folder, but not in the log for that */
};
unsigned memo_get(const char *path, size_t len);
void memo_add(const char *path, size_t len, unsigned met);
void memo_begin(void); /* before all else, once */

/* What the process got of a file below the first root, for as long as it lives. */
struct copy {
	const void *bytes; /* NULL: it got nothing; not so with a file of no bytes */
	size_t len;
	struct timespec mtime;
};
void *memo_room(size_t len); /* memory for them; NULL: there is none */
struct copy memo_copy(const char *path, size_t len);
bool memo_add_copy(const char *path, size_t len, const struct copy *copy); /* false: there is no memory */

/* --- log.c ----------------------------------------------------------------------------------- */

/* One record, unless this process wrote it before.  path need not end behind len bytes. */
int log_missing(const char *path, size_t len, unsigned met);
int log_folder(const char *path, size_t len);
int log_odd(const char *path, const char *why);
int log_asked(const char *path, const struct stat *st);
int log_file(const char *path, const struct stat *st);
int log_copy(const char *path, const struct copy *copy);

/* --- place.c: which path a call means ----------------------------------------------------------- */

struct place {
	char path[PATH_MAX]; /* absolute and clean */
	size_t len;
	int root;            /* number of its root, -1: in none */
	bool slash;          /* it ended in "/", so it must be a folder */
};
enum where {
	PLACE_FAILS = -1, /* errno is what the call fails with */
	PLACE_OTHER,      /* let it pass; *p is not filled */
	PLACE_OUTSIDE,    /* of all roots */
	PLACE_BELOW,      /* a root */
};
enum where place_find(int dirfd, const char *path, struct place *p);

/* The kernel's own path of what fd leads to, with its NUL; its length, or -1 without errno. */
long place_of_fd(int fd, char *to, size_t room);

/* --- look.c: what is there ------------------------------------------------------------------------ */

/* Nothing can be there by what was met before: errno says so.  0: it may. */
int look_met(const struct place *p);
/* The kernel gave `error` for a place below a root: write that down.  -1 with errno: so must the call fail.
 * 0: what happens there is odd and in the log as such; the real call may be made. */
int look_failed(const struct place *p, int error);
/* A descriptor (O_PATH) of what is there, and what stat says of it.  -1: see errno; -2: odd, make the real call. */
int look_at(const struct place *p, struct stat *st);
/* There is a folder: 0, else as look_at. */
int look_folder(const struct place *p);
/* A place outside of all roots that is not the same for every compile is odd. */
int look_outside(const struct place *p);
/* What was opened outside of all roots. */
int look_opened(int fd, const char *path);

/* --- copy.c --------------------------------------------------------------------------------------- */

/* A descriptor of a file of its own, with the bytes of what is open as `from`; from now on they are this place's. */
int copy_open(const struct place *p, int from, const struct stat *st, int flags);
/* Another one with what the place was before, or -2: there is none. */
int copy_again(const struct place *p, int flags);
/* st as the copy has it, where there is one. */
void copy_stat(const struct place *p, struct stat *st);

/* --- open.c --------------------------------------------------------------------------------------- */

int trace_openat(int dirfd, const char *path, int flags, unsigned mode);

#endif
