/*
 * An action: one run of a compiler in a sandbox of forge's own, under the limits that compiles share with builds
 * (inside build/).  Or only a share of those limits, for a command that runs in the build itself.
 */
#ifndef FORGE_BUILD_COMPILE_ACTION_H
#define FORGE_BUILD_COMPILE_ACTION_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/str.h"
#include "sandbox/sandbox.h"

struct compile_pool;
struct compile_service;

enum action_kind {
	ACTION_CC,     /* gcc, from source to object */
	ACTION_TEXTS,  /* nvcc's preprocessing */
	ACTION_CUDAFE, /* cudafe++ */
	ACTION_CICC,
	ACTION_PTXAS,
	ACTION_HOST,   /* nvcc's host half, to assembly */
	ACTION_JOIN,   /* the rest of nvcc's steps */
	ACTION_NVCC,   /* nvcc, whole */
	ACTION_PLACED, /* in the build */
	ACTION_KINDS,
};

/* It is over: why is NULL if it exited with 0, else one line.  What it left in /out lies there until
 * action_free().  Of ACTION_PLACED: it has its share now. */
typedef void action_ended_fn(void *ctx, const char *why);

/* All of it is lent until the end of the action. */
struct action_spec {
	enum action_kind kind;
	const char *name;          /* of what is compiled, by which the records know it */
	uint64_t number;           /* of the command, by when it came */
	int64_t whole_ms;          /* what all of the command took the last time, or is reckoned to; 0: not known */
	char *const *argv, *const *env; /* NULL behind them */
	const char *cwd;
	const char *build;         /* physical folder to show at /build; NULL: the build's own, live */
	const struct sandbox_bind *binds;
	size_t bind_count;
	bool traced;               /* the tracer writes down what it reads: /out/.trace (trace/proto.h) */
	action_ended_fn *ended;
	void *ctx;
};

#define ACTION_TRACE ".trace"        /* in /out */
#define ACTION_SOURCE_TIME 315619200 /* what each file of the build's says it was last modified, to a compiler that is
                                        traced: it gets into objects; lib/build/build.sh has it too */

enum action_state { ACTION_QUEUED, ACTION_RUNNING, ACTION_ENDED };

struct compile_action {
	struct compile_pool *pool;
	struct compile_service *service;
	struct action_spec o;
	enum action_state state;
	bool slot;                 /* it takes one of the pool's */
	bool alone;                /* it was killed for memory, or needed more than all may have the last time */
	bool yields;               /* it is being ended to make room for others */
	bool cancelled;            /* freed when its sandbox has ended */
	uint64_t expected;         /* bytes of memory */
	int64_t known_ms;          /* what it took the last time, or the command that it is of; 0: never seen */
	char *scratch;             /* name of the sandbox's folder in store/tmp, or NULL */
	struct sandbox *sandbox;
	int64_t since;             /* loop_now() when its sandbox began */
	int64_t began_ms, cpu_ms;  /* since 1970, once it has a slot */
	uint64_t peak_memory;
};

/* Into the queue. */
struct compile_action *action_new(struct compile_service *v, const struct action_spec *spec);
void action_start(struct compile_action *a);   /* the queue's: it has its slot */
void action_release(struct compile_action *a); /* give the slot back; what it left stays */
void action_free(struct compile_action *a);    /* ends it if it runs; `ended` is not called then.  NULL is allowed. */

/* Physical paths: of what it left in /out, and of a file beside it that holds what it said ("stdout", "stderr"). */
char *action_out(const struct compile_action *a);
/* An open descriptor of /out, or of the folder with its messages. */
int action_open_out(const struct compile_action *a, struct err *err);
int action_open_messages(const struct compile_action *a, struct err *err);

#endif
