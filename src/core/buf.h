/* One growing byte buffer.  data is always NUL-terminated once anything was added. */
#ifndef FORGE_CORE_BUF_H
#define FORGE_CORE_BUF_H

#include <stdarg.h>
#include <stddef.h>
#include "core/str.h"

struct buf {
	char *data; /* owned; may be NULL while len is 0 */
	size_t len;
	size_t cap;
};

#define BUF_INIT { NULL, 0, 0 }

void buf_add(struct buf *b, const void *data, size_t len);
void buf_str(struct buf *b, const char *text);
void buf_byte(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
char *buf_grow(struct buf *b, size_t extra); /* room for extra bytes at data+len; len unchanged */
void buf_clear(struct buf *b);               /* len = 0, memory kept */
void buf_free(struct buf *b);
char *buf_steal(struct buf *b);              /* the string ("" if empty); b is empty again */
struct slice buf_slice(const struct buf *b); /* its bytes, lent until it changes; never NULL */

#define _cleanup_buf_ __attribute__((cleanup(buf_free)))

#endif
