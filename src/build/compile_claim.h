/* Who makes what: of all that want the result of one key, in this process and in others, one makes it while the rest
 * waits (inside build/). */
#ifndef FORGE_BUILD_COMPILE_CLAIM_H
#define FORGE_BUILD_COMPILE_CLAIM_H

#include <stdbool.h>
#include <stdint.h>
#include "core/hash.h"

struct compile_pool;

struct compile_claim {
	struct compile_pool *pool; /* NULL: nothing is claimed */
	struct hash key;
	bool held;
	int lock;                  /* between processes; -1: not held, or given on to the commit */
	uint64_t retry;            /* timer while another process holds it */
	bool (*look)(void *ctx);   /* is the result there?  Then use it; the claim is over.  It may be freed by it. */
	void (*turn)(void *ctx);   /* it is for this one to make it */
	void (*failed)(void *ctx, const char *why);
	void *ctx;
};

/* Ends at once or later in one of the three calls. */
void claim_take(struct compile_claim *c, struct compile_pool *p, const struct hash *key);
void claim_drop(struct compile_claim *c); /* the next may go; nothing is claimed: nothing happens */

#endif
