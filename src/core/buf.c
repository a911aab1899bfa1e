#include "core/buf.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

char *buf_grow(struct buf *b, size_t extra)
{
	size_t need;
	if (__builtin_add_overflow(b->len, extra, &need) || need == SIZE_MAX)
		need = SIZE_MAX - 1; /* mem_resize will end the process */
	need++; /* the NUL */
	if (need > b->cap) {
		size_t cap = b->cap ? b->cap : 64;
		while (cap < need)
			cap = cap > SIZE_MAX / 2 ? need : cap * 2;
		b->data = mem_resize(b->data, cap, 1);
		b->cap = cap;
	}
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *data, size_t len)
{
	char *at = buf_grow(b, len);
	if (len)
		memcpy(at, data, len);
	b->len += len;
	b->data[b->len] = '\0';
}

void buf_str(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text));
}

void buf_byte(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	va_copy(again, ap);
	int len = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (len < 0)
		return; /* only for an encoding error in a wide format, which forge has none of */
	vsnprintf(buf_grow(b, (size_t)len), (size_t)len + 1, fmt, ap);
	b->len += (size_t)len;
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->data)
		b->data[0] = '\0';
}

void buf_free(struct buf *b)
{
	free(b->data);
	*b = (struct buf)BUF_INIT;
}

struct slice buf_slice(const struct buf *b)
{
	return (struct slice){ b->data ? b->data : "", b->len };
}

char *buf_steal(struct buf *b)
{
	if (!b->data)
		buf_add(b, "", 0);
	char *text = b->data;
	*b = (struct buf)BUF_INIT;
	return text;
}
