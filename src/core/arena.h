/* An arena: many small allocations with one lifetime, freed together. */
#ifndef FORGE_CORE_ARENA_H
#define FORGE_CORE_ARENA_H

#include <stddef.h>

struct arena {
	struct arena_block *head;
	size_t used; /* bytes handed out, for limits and tests */
};

#define ARENA_INIT { NULL, 0 }

void *arena_alloc(struct arena *a, size_t size);  /* zeroed, 16-byte aligned */
char *arena_dup(struct arena *a, const char *text);
char *arena_dup_n(struct arena *a, const void *data, size_t len); /* adds a NUL */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *a); /* the arena can be used again */

#define _cleanup_arena_ __attribute__((cleanup(arena_free)))

#endif
