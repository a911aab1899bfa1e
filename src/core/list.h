/* A typed growing array: LIST(struct foo) foos = {0}; *list_push(&foos) = (struct foo){…}; */
#ifndef FORGE_CORE_LIST_H
#define FORGE_CORE_LIST_H

#include <stdlib.h>
#include <string.h>
#include "core/mem.h"

#define LIST(type) struct { type *items; size_t count; size_t cap; }

/* A pointer to a fresh zeroed last element; valid until the next push. */
#define list_push(l) ({ \
	if ((l)->count == (l)->cap) { \
		(l)->cap = (l)->cap ? (l)->cap * 2 : 8; \
		(l)->items = mem_resize((l)->items, (l)->cap, sizeof *(l)->items); \
	} \
	memset(&(l)->items[(l)->count], 0, sizeof *(l)->items); \
	&(l)->items[(l)->count++]; })

/* Frees the array, not what the elements own. */
#define list_free(l) do { \
	free((l)->items); (l)->items = NULL; (l)->count = (l)->cap = 0; } while (0)

#endif
