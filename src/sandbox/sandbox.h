/*
 * The sandbox: one process tree in namespaces of its own, over a world composed
 * of store objects.  See DESIGN 7.  Works as root and as an ordinary user.
 */
#ifndef FORGE_SANDBOX_SANDBOX_H
#define FORGE_SANDBOX_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include "core/err.h"
#include "core/loop.h"
#include "core/str.h"

/* A mount point and what is laid over one another there, topmost first. */
struct sandbox_mount {
	const char *at;         /* absolute, inside */
	char **layers;          /* physical folders, read-only */
	size_t layer_count;
};

struct sandbox_file {
	const char *path;       /* absolute, inside */
	const char *text;       /* content of a small file (mode 0644), or the target of a link */
	bool link;
};

struct sandbox_bind {
	const char *from;       /* physical file or folder */
	const char *at;         /* absolute, inside; made if missing */
};

/*
 * What the builder (uid and gid 1000 inside) may write: /build (not with build_from), /tmp, /dev/shm,
 * /forge/store and, where it is asked for, /out.  All else is read-only.  /etc/hosts, resolv.conf, passwd and group are made unless `files` has
 * them; HOME is /build/home, which exists (with build_from: if it does there), unless `env` has one.
 */
struct sandbox_spec {
	const char *scratch;    /* physical folder for this build alone, empty, on the store's file system:
	                           holds /build, /tmp, /out and the outputs; the caller removes it with
	                           sandbox_scratch_remove() */
	const char *build_from; /* physical folder to show read-only at /build; NULL: a fresh one, writable */
	unsigned builder;       /* sandbox_builder() of a sandbox that still runs, whose builder this one's is to be
	                           for the host, so that it can read what that one keeps to itself; 0: its own */
	bool out;               /* there is an empty /out, writable */
	const struct sandbox_mount *mounts; /* the first is "/", an outer one stands before an inner one */
	size_t mount_count;
	const struct sandbox_file *files;
	size_t file_count;
	const struct sandbox_bind *binds;   /* read-only: input objects under /forge/store */
	size_t bind_count;
	const char *const *argv;            /* argv[0] absolute, inside; NULL: set up, run nothing, end with 0 */
	const char *const *env;             /* NAME=value, all there is */
	const char *cwd;                    /* inside; NULL: "/build" */
	int log_fd;                         /* gets stdout and stderr; stdin is /dev/null */
	int err_fd;                         /* gets stderr in its place; 0: none does */
	uint64_t file_size;                 /* bytes that a file may have at most; 0: no limit */
	int64_t timeout_ms;                 /* 0: none */
	uint64_t memory;                    /* bytes for the whole tree; 0: none */
	unsigned processes;                 /* 0: 4096 */
	unsigned cores;                     /* 0: all; else the affinity is not narrowed, only told (NIX_BUILD_CORES) */
	bool openat2;                       /* for a tracer; its modes can't be looked into, so what it makes may have
	                                       set-id bits: nothing of it may be run, or reached by others, outside */
	bool no_loopback;                   /* nor does anybody answer for names: a compiler asks nobody, and starts sooner */
	bool network;                       /* never for builds; for tests of the sandbox itself */
};

enum sandbox_end {
	SANDBOX_EXITED,  /* status holds what waitpid gave for the builder */
	SANDBOX_TIMEOUT,
	SANDBOX_MEMORY,  /* the ceiling was passed: the tree was killed */
	SANDBOX_PROCESSES, /* the ceiling of processes was hit and the build failed */
	SANDBOX_KILLED,  /* sandbox_kill() */
	SANDBOX_SETUP,   /* the kernel refused a step: err says which and what to do */
};

struct sandbox_result {
	enum sandbox_end end;
	int status;
	struct rusage usage;      /* user and system time of the whole tree */
	uint64_t peak_memory;     /* bytes, the whole tree's highest sum seen */
	int64_t wall_ms;
	struct str_list hosts;    /* names the build asked for over the network, first ten */
	struct err err;           /* SANDBOX_SETUP */
};

struct sandbox;
/* Called once, after the last process of the tree is dead and reaped. Frees nothing but the sandbox;
 * result is lent for the call. */
typedef void sandbox_done_fn(void *ctx, const struct sandbox_result *result);

/* Start.  spec and all it points to must live until this returns only. */
struct sandbox *sandbox_start(struct loop *loop, const struct sandbox_spec *spec,
	sandbox_done_fn *done, void *ctx, struct err *err);
void sandbox_kill(struct sandbox *s); /* done is still called, with SANDBOX_KILLED */

/* Bytes that the whole tree used when it was last looked at, a moment ago; 0: not yet. */
uint64_t sandbox_memory(const struct sandbox *s);

/* The id of the host that this sandbox's builder has, to be given to others as spec.builder while it runs;
 * 0 where builders have no id of their own. */
unsigned sandbox_builder(const struct sandbox *s);

/* A descriptor of `path` (absolute, inside) as the build left it in the scratch folder, to copy
 * outputs from: a folder or file open for reading, or a link as O_PATH; a socket or the like is an
 * error (ERR_BUILD).  -1 and *missing = true, without an error, if there is none. */
int sandbox_open_result(const char *scratch, const char *path, bool *missing, struct err *err);

/* Remove a scratch folder, whatever owners and modes the build left there. */
int sandbox_scratch_remove(const char *scratch, struct err *err);

/* Can this machine give a sandbox?  Tries a minimal one; the error names the step and the mend. */
int sandbox_probe(struct err *err);

#endif
