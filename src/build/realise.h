/*
 * Realise: carry out a plan.  One process, one poll loop: transfers, workers
 * and sandboxes run side by side under limits of jobs, cores and memory.
 */
#ifndef FORGE_BUILD_REALISE_H
#define FORGE_BUILD_REALISE_H

#include <stdbool.h>
#include <stdint.h>
#include "build/plan.h"
#include "core/event.h"
#include "core/loop.h"

struct realise_options {
	unsigned jobs;        /* builds and workers at once; 0: as many as cores */
	unsigned cores;       /* told to builds; 0: what the machine has */
	uint64_t memory;      /* bytes that builds may be expected to need together; 0: what is available now */
	bool keep_failed;     /* leave a failed build's folder in place and say where */
	bool keep_going;      /* after a failure go on with what does not need it */
	bool offline;         /* fetch nothing */
	bool compile_in_place; /* builds compile themselves, and nothing is kept of it */
	const char *index;    /* --index or NULL */
	const struct event_sink *events;
};

/*
 * Make the outputs of every wanted derivation.  The plan's steps are brought up to date: what could
 * be made is PLAN_VALID with its paths.  -1 if anything failed: err is the first failure, with its
 * status; ERR_INTR after SIGINT, SIGTERM or SIGHUP.  All children are dead when this returns.
 */
int realise(struct loop *loop, struct eval *e, struct store *s, struct plan *plan,
	const struct realise_options *o, struct err *err);

#endif
