/*
 * Errors, the way the whole of forge reports them.
 *
 * A function that can fail takes `struct err *err` as its last parameter and
 * returns -1 (or NULL).  On success it leaves *err untouched.  Each layer may
 * add its context once, with err_add().  Nothing below cli/ prints or exits.
 */
#ifndef FORGE_CORE_ERR_H
#define FORGE_CORE_ERR_H

enum err_code {
	ERR_NONE = 0,
	ERR_FAIL,    /* anything without a status of its own */
	ERR_USAGE,   /* the command line is wrong */
	ERR_SYS,     /* a system call failed; err->sys holds errno */
	ERR_INPUT,   /* outside bytes are malformed: archive, lock, index, recipe */
	ERR_BUILD,   /* a build failed */
	ERR_TIMEOUT, /* a build ran out of time */
	ERR_HASH,    /* content does not have the declared hash */
	ERR_REPRO,   /* a rebuild gave other bytes */
	ERR_INTR,    /* the person asked to stop */
};

struct err {
	enum err_code code; /* ERR_NONE while nothing failed */
	int sys;            /* errno where code is ERR_SYS, else 0 */
	char *msg;          /* one line, without the program's name; owned */
};

/* Set *err (freeing an earlier message); always returns -1.  err may be NULL. */
int err_set(struct err *err, enum err_code code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Like err_set with ERR_SYS; appends ": " and the text of errno. */
int err_sys(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Put "context: " before the message; always returns -1. */
int err_add(struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Move src into dst (dst's old message is freed, src becomes empty); returns -1. */
int err_move(struct err *dst, struct err *src);

void err_clear(struct err *err);

/* The process exit status for a code (Nix's numbers: 1 2 100 101 102 104; 130 for ERR_INTR). */
int err_exit_status(enum err_code code);

#define _cleanup_err_ __attribute__((cleanup(err_clear)))

#endif
