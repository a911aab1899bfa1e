/* Small tars made in a test, right or wrong on purpose. */
#ifndef TESTS_SUPPORT_TAR_MAKE_H
#define TESTS_SUPPORT_TAR_MAKE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include "core/buf.h"

struct tar_member {
	char type;           /* 0 means '0' */
	const char *name;
	const char *target;
	const char *data;    /* NULL: none */
	unsigned mode;       /* 0 means 0644 */
	size_t size;         /* 0: the length of data */
};

static inline void tar_make_sum(char h[512])
{
	unsigned sum = 0;
	memset(h + 148, ' ', 8);
	for (int i = 0; i < 512; i++)
		sum += (unsigned char)h[i];
	snprintf(h + 148, 8, "%06o", sum & 0777777);
}

static inline void tar_make_header(char h[512], const struct tar_member *m)
{
	size_t size = m->size ? m->size : m->data ? strlen(m->data) : 0;
	memset(h, 0, 512);
	memcpy(h, m->name, strnlen(m->name, 100));
	snprintf(h + 100, 8, "%07o", (m->mode ? m->mode : 0644) & 07777777);
	snprintf(h + 108, 8, "%07o", 0);
	snprintf(h + 116, 8, "%07o", 0);
	snprintf(h + 124, 12, "%011zo", size & 077777777777);
	snprintf(h + 136, 12, "%011o", 0);
	h[156] = m->type ? m->type : '0';
	if (m->target)
		memcpy(h + 157, m->target, strnlen(m->target, 100));
	memcpy(h + 257, "ustar\0" "00", 8);
	tar_make_sum(h);
}

static inline void tar_make_pad(struct buf *b)
{
	static const char zeros[512];
	buf_add(b, zeros, -b->len % 512);
}

static inline void tar_make_add(struct buf *b, const struct tar_member *m)
{
	char h[512];
	tar_make_header(h, m);
	buf_add(b, h, sizeof h);
	if (m->data)
		buf_str(b, m->data);
	tar_make_pad(b);
}

/* One pax header with the records that follow as "key=value" texts, up to NULL. */
static inline void tar_make_pax(struct buf *b, char type, const char *const *records)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	for (; *records; records++) {
		size_t n = strlen(*records) + 2, digits = 1;
		char whole[32];
		while ((size_t)snprintf(whole, sizeof whole, "%zu", n + digits) > digits)
			digits++;
		buf_printf(&text, "%zu %s\n", n + digits, *records);
	}
	tar_make_add(b, &(struct tar_member){ .type = type, .name = "PaxHeader", .data = text.data });
}

static inline void tar_make_end(struct buf *b)
{
	static const char zeros[1024];
	buf_add(b, zeros, sizeof zeros);
}

#endif
