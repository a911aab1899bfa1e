/* A table from texts to values of one size, which only grows.  Keys and values live in it until it is freed. */
#ifndef FORGE_CORE_TABLE_H
#define FORGE_CORE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/arena.h"

struct table {
	size_t value_size;
	struct table_item *items; /* room for `room` of them, a power of two */
	size_t room, count;
	struct arena memory;
};

#define TABLE_INIT(type) { .value_size = sizeof(type), .memory = ARENA_INIT }

void *table_find(const struct table *t, const char *key); /* NULL: it is not there */
/* The value of a key; a zeroed one is made if there is none.  Stays where it is. */
void *table_put(struct table *t, const char *key);
void table_free(struct table *t);                         /* it can be used again */

#define _cleanup_table_ __attribute__((cleanup(table_free)))

#endif
