/*
 * Child processes: programs (argv, never a shell line) and workers (a function
 * of ours that would block the loop, run in a fork).
 */
#ifndef FORGE_CORE_PROC_H
#define FORGE_CORE_PROC_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "core/buf.h"
#include "core/err.h"

struct proc_spec {
	const char *const *argv;  /* NULL-terminated; argv[0] is looked up in PATH if it has no slash */
	const char *const *env;   /* NULL: inherit */
	const char *cwd;          /* NULL: inherit */
	int in, out, err;         /* descriptors for 0, 1, 2; -1: /dev/null for in, inherit for out and err */
	bool new_group;           /* its own process group, so that a terminal's Ctrl-C goes to forge only */
};

#define PROC_SPEC_INIT { NULL, NULL, NULL, -1, -1, -1, false }

struct proc_result {
	int status;            /* as waitpid gives it */
	struct rusage usage;
};

/* The child dies with forge (PR_SET_PDEATHSIG).  A program that can't be run is an error here, not in the child. */
pid_t proc_spawn(const struct proc_spec *spec, struct err *err);
int proc_wait(pid_t pid, struct proc_result *result, struct err *err);
/* Run to the end, collecting stdout and stderr (either may be NULL: then as in spec) up to limit bytes each. */
int proc_run(const struct proc_spec *spec, struct buf *out, struct buf *errout, size_t limit,
	struct proc_result *result, struct err *err);
/* "exited with status 3", "was killed by signal 9 (Killed)"; owned by the caller. */
char *proc_describe(int status);

/*
 * A worker: fork, run fn in the child, which writes its answer into out or sets err; the child
 * ends without running exit handlers.  The parent reads the answer from the descriptor *fd
 * until it ends and hands what it read to proc_worker_result(), which gives back the worker's
 * answer or its error.  The child must not touch a database handle or a loop of the parent.
 */
typedef int proc_worker_fn(void *ctx, struct buf *out, struct err *err);
pid_t proc_worker(proc_worker_fn *fn, void *ctx, int *fd, struct err *err);
int proc_worker_result(const struct buf *raw, int status, struct buf *out, struct err *err);

/* How many processors the machine has, at least 1. */
unsigned proc_cores(void);

#endif
