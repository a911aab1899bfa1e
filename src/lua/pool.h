/*
 * Memory of one Lua state: small blocks from chunks, by size, reused when given
 * back; large ones from malloc, on a list.  All goes at once at the end, which
 * spares a walk over every object (nothing a recipe makes has a finalizer).
 */
#ifndef FORGE_LUA_POOL_H
#define FORGE_LUA_POOL_H

#include <stddef.h>

#define POOL_STEP 16
#define POOL_SMALL_MAX 512

struct pool {
	struct pool_chunk *chunks;
	struct pool_large *large;
	size_t held;                                          /* by the chunks, in bytes */
	char *at, *end;                                       /* what is left of the newest chunk */
	struct pool_free *free[POOL_SMALL_MAX / POOL_STEP + 1]; /* by size in steps */
};

/* size is not 0 and was held against the limit before; blocks are aligned to 16 bytes.  When the machine's
 * own memory is out the process ends (core/mem.h). */
void *pool_alloc(struct pool *p, size_t size);
void pool_give_back(struct pool *p, void *block, size_t size);
void *pool_resize(struct pool *p, void *block, size_t old, size_t size);
void pool_free(struct pool *p);

#endif
