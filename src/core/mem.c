#include "core/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/buf.h"

static void (*exhausted)(void) = abort;

void mem_on_exhausted(void (*handler)(void))
{
	exhausted = handler;
}

static void mem_out(void)
{
	exhausted();
	abort(); /* a handler that returns has broken its contract */
}

void *mem_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);
	if (!p)
		mem_out();
	return p;
}

void *mem_resize(void *old, size_t count, size_t size)
{
	size_t total;
	if (__builtin_mul_overflow(count, size, &total))
		mem_out();
	void *p = realloc(old, total ? total : 1);
	if (!p)
		mem_out();
	return p;
}

#define PIECE_SMALL ((size_t)64 << 10)
#define PIECE_LARGE ((size_t)2 << 20) /* a huge page's size and place */

void *mem_piece(size_t held, size_t *size)
{
	*size = held < PIECE_LARGE ? PIECE_SMALL : PIECE_LARGE;
	if (*size == PIECE_SMALL)
		return mem_resize(NULL, PIECE_SMALL, 1);
	void *p = aligned_alloc(PIECE_LARGE, PIECE_LARGE);
	if (!p)
		mem_out();
	madvise(p, PIECE_LARGE, MADV_HUGEPAGE); /* where it can't, it is 4 KiB by 4 KiB */
	return p;
}

char *mem_dup(const char *text)
{
	return text ? mem_dup_n(text, strlen(text)) : NULL;
}

char *mem_dup_n(const void *data, size_t len)
{
	char *p = mem_resize(NULL, len + 1, 1);
	if (len)
		memcpy(p, data, len);
	p[len] = '\0';
	return p;
}

char *mem_printf(const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	return buf_steal(&text);
}

void mem_free_ptr(void *ptr_to_ptr)
{
	void **p = ptr_to_ptr;
	free(*p);
	*p = NULL;
}
