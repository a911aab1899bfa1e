#include "lua/pool.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct pool_chunk {
	struct pool_chunk *next;
	_Alignas(POOL_STEP) char data[];
};

struct pool_large {
	struct pool_large *next, *prev;
	_Alignas(POOL_STEP) char data[];
};

struct pool_free {
	struct pool_free *next;
};

static size_t steps(size_t size)
{
	return (size + POOL_STEP - 1) / POOL_STEP;
}

static void *alloc_large(struct pool *p, size_t size)
{
	struct pool_large *l = mem_resize(NULL, sizeof *l + size, 1);
	l->prev = NULL;
	l->next = p->large;
	if (l->next)
		l->next->prev = l;
	p->large = l;
	return l->data;
}

static struct pool_large *large_of(void *block)
{
	return (struct pool_large *)((char *)block - offsetof(struct pool_large, data));
}

static void free_large(struct pool *p, struct pool_large *l)
{
	if (l->prev)
		l->prev->next = l->next;
	else
		p->large = l->next;
	if (l->next)
		l->next->prev = l->prev;
	free(l);
}

static void *resize_large(struct pool *p, struct pool_large *l, size_t size)
{
	struct pool_large *moved = mem_resize(l, sizeof *l + size, 1);
	if (moved->prev)
		moved->prev->next = moved;
	else
		p->large = moved;
	if (moved->next)
		moved->next->prev = moved;
	return moved->data;
}

void *pool_alloc(struct pool *p, size_t size)
{
	if (size > POOL_SMALL_MAX)
		return alloc_large(p, size);
	size_t class = steps(size), whole = class * POOL_STEP;
	struct pool_free *block = p->free[class];
	if (block) {
		p->free[class] = block->next;
		return block;
	}
	if ((size_t)(p->end - p->at) < whole) {
		size_t piece;
		struct pool_chunk *c = mem_piece(p->held, &piece);
		c->next = p->chunks;
		p->chunks = c;
		p->held += piece;
		p->at = c->data;
		p->end = (char *)c + piece;
	}
	p->at += whole;
	return p->at - whole;
}

void pool_give_back(struct pool *p, void *block, size_t size)
{
	if (!block)
		return;
	if (size > POOL_SMALL_MAX) {
		free_large(p, large_of(block));
		return;
	}
	struct pool_free *f = block;
	f->next = p->free[steps(size)];
	p->free[steps(size)] = f;
}

void *pool_resize(struct pool *p, void *block, size_t old, size_t size)
{
	if (old > POOL_SMALL_MAX && size > POOL_SMALL_MAX)
		return resize_large(p, large_of(block), size);
	if (old <= POOL_SMALL_MAX && size <= POOL_SMALL_MAX && steps(old) == steps(size))
		return block;
	void *fresh = pool_alloc(p, size);
	memcpy(fresh, block, old < size ? old : size);
	pool_give_back(p, block, old);
	return fresh;
}

void pool_free(struct pool *p)
{
	while (p->chunks) {
		struct pool_chunk *c = p->chunks;
		p->chunks = c->next;
		free(c);
	}
	while (p->large) {
		struct pool_large *l = p->large;
		p->large = l->next;
		free(l);
	}
	*p = (struct pool){ 0 };
}
