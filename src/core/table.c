#include "core/table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "core/mem.h"

#define FIRST_ROOM 64u

struct table_item {
	const char *key; /* NULL: free */
	uint64_t hash;
	void *value;
};

/* Keys come from outside: where they fall is not to be known there. */
static uint64_t seed(void)
{
	static uint64_t value;
	if (!value && getrandom(&value, sizeof value, GRND_NONBLOCK) != sizeof value)
		value = 1;
	return value;
}

static uint64_t hash_key(const char *key)
{
	uint64_t h = 0xcbf29ce484222325u ^ seed();
	for (; *key; key++)
		h = (h ^ (unsigned char)*key) * 0x100000001b3u;
	return h ^ h >> 29;
}

static struct table_item *slot(const struct table *t, const char *key, uint64_t hash)
{
	for (size_t i = hash & (t->room - 1); ; i = (i + 1) & (t->room - 1)) {
		struct table_item *item = &t->items[i];
		if (!item->key || (item->hash == hash && strcmp(item->key, key) == 0))
			return item;
	}
}

static void grow(struct table *t)
{
	struct table_item *before = t->items;
	size_t old = t->room;
	t->room = old ? old * 2 : FIRST_ROOM;
	t->items = mem_alloc(t->room * sizeof *t->items);
	for (size_t i = 0; i < old; i++)
		if (before[i].key)
			*slot(t, before[i].key, before[i].hash) = before[i];
	free(before);
}

void *table_find(const struct table *t, const char *key)
{
	return t->room ? slot(t, key, hash_key(key))->value : NULL;
}

void *table_put(struct table *t, const char *key)
{
	if (t->count * 4 >= t->room * 3)
		grow(t);
	uint64_t hash = hash_key(key);
	struct table_item *item = slot(t, key, hash);
	if (!item->key) {
		*item = (struct table_item){ arena_dup(&t->memory, key), hash, arena_alloc(&t->memory, t->value_size) };
		t->count++;
	}
	return item->value;
}

void table_free(struct table *t)
{
	free(t->items);
	arena_free(&t->memory);
	t->items = NULL;
	t->room = t->count = 0;
}
