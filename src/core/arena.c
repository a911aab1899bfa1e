#include "core/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define BLOCK_SIZE (64u * 1024)
#define ALIGN 16u

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	_Alignas(ALIGN) char data[];
};

static struct arena_block *arena_block(struct arena *a, size_t need)
{
	if (a->head && a->head->size - a->head->used >= need)
		return a->head;
	size_t size = need > BLOCK_SIZE / 4 ? need : BLOCK_SIZE;
	struct arena_block *block = mem_alloc(sizeof *block + size);
	block->size = size;
	if (a->head && size == need) { /* a large one of its own: keep filling the current block */
		block->next = a->head->next;
		a->head->next = block;
	} else {
		block->next = a->head;
		a->head = block;
	}
	return block;
}

void *arena_alloc(struct arena *a, size_t size)
{
	if (size > SIZE_MAX / 2)
		return mem_resize(NULL, SIZE_MAX, 2); /* ends the process: out of memory */
	size_t need = (size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
	struct arena_block *block = arena_block(a, need);
	void *p = block->data + block->used;
	block->used += need;
	a->used += size;
	return p;
}

char *arena_dup(struct arena *a, const char *text)
{
	return text ? arena_dup_n(a, text, strlen(text)) : NULL;
}

char *arena_dup_n(struct arena *a, const void *data, size_t len)
{
	char *p = arena_alloc(a, len + 1);
	if (len)
		memcpy(p, data, len);
	return p;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	int len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = arena_alloc(a, (size_t)len + 1);
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
