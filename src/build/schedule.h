/* The scheduler of a realise: which goal starts when, and what follows from its end. */
#ifndef FORGE_BUILD_SCHEDULE_H
#define FORGE_BUILD_SCHEDULE_H

#include "build/goal.h"

/* Start every goal that can start within the limits; sets r->done when nothing is left. */
void schedule_pump(struct realise *r);
/* Start nothing more and end what runs. */
void schedule_stop(struct realise *r);

/* For the compiles: what the goals that run take of the limits.  A build that waits for its compiles takes
 * nothing itself.  ctx: the realise. */
void schedule_load(void *ctx, unsigned *jobs, uint64_t *memory);
/* Something came free or waits now: pump soon. */
void schedule_changed(void *ctx);
/* Take a goal off what is running and left. */
void schedule_settle(struct goal *g, enum goal_state state);

#endif
