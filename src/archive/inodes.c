#include "archive/inodes.h"

#include <stdlib.h>

#include "core/mem.h"

/* Inode numbers come in runs: spread them (the multiplier is 2^64 divided by the golden ratio). */
static size_t slot_of(const struct inodes *s, uint64_t ino)
{
	size_t i = (size_t)((ino * 0x9e3779b97f4a7c15ULL) >> 20) & (s->cap - 1);
	while (s->slots[i] && s->slots[i] != ino)
		i = (i + 1) & (s->cap - 1);
	return i;
}

static void grow(struct inodes *s)
{
	struct inodes old = *s;
	s->cap = old.cap ? old.cap * 2 : 1024;
	s->slots = mem_alloc(s->cap * sizeof *s->slots);
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i])
			s->slots[slot_of(s, old.slots[i])] = old.slots[i];
	free(old.slots);
}

void inodes_add(struct inodes *s, uint64_t ino)
{
	if (s->count * 2 >= s->cap)
		grow(s);
	size_t i = slot_of(s, ino);
	s->count += s->slots[i] == 0;
	s->slots[i] = ino;
}

bool inodes_has(const struct inodes *s, uint64_t ino)
{
	return s->cap && s->slots[slot_of(s, ino)] == ino;
}

void inodes_free(struct inodes *s)
{
	free(s->slots);
	*s = (struct inodes){ 0 };
}
