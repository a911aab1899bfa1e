#include "store/name_set.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define SIZE_FIRST 64 /* a power of two, as are all that follow */

/* FNV-1a: names begin with a digest, but nobody promised that. */
static size_t hash_name(const char *name)
{
	uint64_t h = 0xcbf29ce484222325u;
	for (; *name; name++)
		h = (h ^ (unsigned char)*name) * 0x100000001b3u;
	return (size_t)(h ^ h >> 32);
}

/* Where the name stands, or the free slot where it belongs. */
static char **slot_of(const struct name_set *set, const char *name)
{
	size_t at = hash_name(name);
	while (set->slots[at &= set->size - 1] && strcmp(set->slots[at], name) != 0)
		at++;
	return &set->slots[at];
}

bool name_set_has(const struct name_set *set, const char *name)
{
	return set->size && *slot_of(set, name);
}

static void grow(struct name_set *set)
{
	struct name_set bigger = { NULL, set->size ? set->size * 2 : SIZE_FIRST, set->count };
	bigger.slots = mem_alloc(bigger.size * sizeof *bigger.slots);
	for (size_t i = 0; i < set->size; i++)
		if (set->slots[i])
			*slot_of(&bigger, set->slots[i]) = set->slots[i];
	free(set->slots);
	*set = bigger;
}

bool name_set_add(struct name_set *set, const char *name)
{
	if (name_set_has(set, name))
		return false;
	if (set->count >= set->size / 2)
		grow(set);
	*slot_of(set, name) = mem_dup(name);
	set->count++;
	return true;
}

void name_set_free(struct name_set *set)
{
	for (size_t i = 0; i < set->size; i++)
		free(set->slots[i]);
	free(set->slots);
	*set = (struct name_set){ NULL, 0, 0 };
}
