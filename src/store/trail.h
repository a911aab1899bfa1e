/* Where a walk through a tree stands, for messages: "name/sub/file", with control bytes shown as "?". */
#ifndef FORGE_STORE_TRAIL_H
#define FORGE_STORE_TRAIL_H

#include "core/buf.h"

struct trail {
	struct buf path;
	int depth; /* names in it */
};

#define TRAIL_INIT { BUF_INIT, 0 }

/* Step down to a name; the result goes to trail_leave(). */
size_t trail_enter(struct trail *t, const char *name);
void trail_leave(struct trail *t, size_t mark);
void trail_free(struct trail *t);

#define _cleanup_trail_ __attribute__((cleanup(trail_free)))

#endif
