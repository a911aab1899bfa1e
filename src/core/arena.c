#include "core/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define OWN_SIZE (16u * 1024) /* from here on a block of its own */
#define ALIGN 16u

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(ALIGN) char data[];
};

static void add_block(struct arena *a, struct arena_block *block, size_t size)
{
	*block = (struct arena_block){ .next = a->head, .size = size - sizeof *block };
	a->head = block;
}

/* The current block goes on being filled. */
static struct arena_block *own_block(struct arena *a, size_t need)
{
	struct arena_block *current = a->head, *block = mem_resize(NULL, sizeof *block + need, 1);
	add_block(a, block, sizeof *block + need);
	if (current) {
		block->next = current->next;
		current->next = block;
		a->head = current;
	}
	return block;
}

static struct arena_block *block_for(struct arena *a, size_t need)
{
	size_t size;
	if (a->head && a->head->size - a->head->used >= need)
		return a->head;
	if (need > OWN_SIZE)
		return own_block(a, need);
	struct arena_block *block = mem_piece(a->used, &size);
	add_block(a, block, size);
	return block;
}

/* Not zeroed. */
static void *take(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2)
		return mem_resize(NULL, SIZE_MAX, 2); /* ends the process: out of memory */
	size_t need = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	struct arena_block *block = block_for(a, need);
	void *p = block->data + block->used;
	block->used += need;
	a->used += size;
	return p;
}

void *arena_alloc(struct arena *a, size_t size)
{
	return memset(take(a, size), 0, size);
}

char *arena_dup(struct arena *a, const char *text)
{
	return text ? arena_dup_n(a, text, strlen(text)) : NULL;
}

char *arena_dup_n(struct arena *a, const void *data, size_t len)
{
	char *p = take(a, len + 1);
	if (len)
		memcpy(p, data, len);
	p[len] = '\0';
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = take(a, (size_t)len + 1);
	va_start(ap, fmt);
	vsnprintf(p, (size_t)len + 1, fmt, ap);
	va_end(ap);
	return p;
}

void arena_free(struct arena *a)
{
	while (a->head) {
		struct arena_block *next = a->head->next;
		free(a->head);
		a->head = next;
	}
	a->used = 0;
}
