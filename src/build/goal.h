/*
 * Inside realise: a goal is one derivation that is to be made.  The scheduler
 * (realise.c) starts goals whose inputs are there; the three kinds of job
 * (job_fetch.c, job_work.c, job_build.c) do the work and hand what they made to
 * goal_prepared(), which commits it, or call goal_failed().
 */
#ifndef FORGE_BUILD_GOAL_H
#define FORGE_BUILD_GOAL_H

#include "build/compile_service.h"
#include "build/realise.h"
#include "core/list.h"
#include "fetch/fetch.h"

enum goal_state {
	GOAL_NONE,     /* not part of this run */
	GOAL_WAITING,  /* for inputs */
	GOAL_READY,
	GOAL_RUNNING,
	GOAL_SAVING,   /* the build has ended, its outputs go into the store: no longer under the limits */
	GOAL_DONE,
	GOAL_FAILED,
	GOAL_SKIPPED,  /* an input failed, or forge is stopping */
};

enum goal_kind { GOAL_FETCH, GOAL_WORK, GOAL_BUILD };

struct job; /* of the kind's own file */

struct goal {
	struct realise *r;
	size_t index;               /* of the derivation */
	const struct eval_drv *d;
	enum goal_kind kind;
	enum goal_state state;
	size_t waiting;             /* inputs that are not there yet */
	LIST(size_t) users;         /* goals that wait for this one */
	struct drv *resolved;       /* once its inputs are there; in the realise's arena */
	struct hash id;             /* of the resolved derivation (drv_hash_id) */
	int lock;                   /* store_lock descriptor, -1 */
	bool waiting_told;          /* "another forge builds this" was said */
	uint64_t expected;          /* bytes of memory it is expected to need while it runs */
	int64_t started;            /* milliseconds since 1970 */
	int64_t began;              /* loop_now() */
	bool moved;                 /* a transfer whose turn has come */
	int64_t cpu_ms;
	uint64_t peak_memory;
	char *log;                  /* relative to the store, NULL: none */
	struct job *job;
	struct compile_service *compiles; /* of a build that runs; NULL: it compiles in place */
	void (*cancel)(struct goal *g); /* end the job at once; the job then calls goal_failed or nothing more */
	struct store_prepared *made;    /* what waits for the next commit, one an output */
};

struct realise {
	struct loop *loop;
	struct eval *e;
	struct store *s;
	struct plan *plan;
	struct realise_options o;
	struct fetcher *fetcher;    /* made at the first transfer */
	struct compile_pool *compiles; /* NULL: builds compile in place */
	struct arena arena;
	struct goal *goals;         /* by derivation */
	size_t *order;              /* their indexes in the order they are to be started */
	size_t left;                /* goals neither done, failed nor skipped */
	unsigned fetching, working; /* running goals by what limits them */
	unsigned saving;
	uint64_t memory_used;       /* sum of what running builds are expected to need */
	LIST(size_t) committing;
	uint64_t commit_timer;
	uint64_t pump_timer;        /* starts what can be started; 0: none is set */
	int64_t pump_due;
	bool stopping;
	bool done;
	struct err first;           /* the first failure */
};

/* The jobs. 0: started (it will end in goal_prepared or goal_failed); -1: err. */
int job_fetch_start(struct goal *g, struct err *err);
int job_work_start(struct goal *g, struct err *err);
int job_build_start(struct goal *g, struct err *err);

/* The job made all outputs (an array of one an output, taken over). */
void goal_prepared(struct goal *g, struct store_prepared *made);
/* The job failed; takes the error's content.  tail may be NULL. */
void goal_failed(struct goal *g, struct err *err, const char *tail);
/* Its outputs are there, in the plan: its users may go on. */
void goal_succeed(struct goal *g);
/* Write down under which ids the plan's paths of its outputs are known: its own derivation's and the resolved one's. */
int goal_remember(struct goal *g, struct err *err);
/* How much of it is done, for the display. */
void goal_progress(struct goal *g, int64_t done, int64_t total);

/* The build has ended and a worker saves its outputs. */
void goal_saving(struct goal *g);

#endif
