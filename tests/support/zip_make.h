/* Small zips made in a test, right or wrong on purpose. */
#ifndef TESTS_SUPPORT_ZIP_MAKE_H
#define TESTS_SUPPORT_ZIP_MAKE_H

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "core/buf.h"

static inline void le16(struct buf *b, unsigned v)
{
	buf_byte(b, (char)v);
	buf_byte(b, (char)(v >> 8));
}

static inline void le32(struct buf *b, uint64_t v)
{
	le16(b, (unsigned)v & 0xffff);
	le16(b, (unsigned)(v >> 16) & 0xffff);
}

struct zip_make {
	struct buf body, dir;
	unsigned count;
};

struct zip_member {
	const char *name;
	unsigned method;
	const void *data;    /* as it stands in the archive */
	size_t csize;
	uint64_t size;
	uint32_t crc, mode;
};

static inline void zip_make_local(struct buf *b, const struct zip_member *m)
{
	buf_str(b, "PK\3\4");
	le16(b, 20);
	le16(b, 0);
	le16(b, m->method);
	le32(b, 0x00210000);
	le32(b, m->crc);
	le32(b, m->csize);
	le32(b, m->size);
	le16(b, (unsigned)strlen(m->name));
	le16(b, 0);
	buf_str(b, m->name);
}

static inline void zip_make_dir(struct buf *b, const struct zip_member *m, size_t name_len, size_t at)
{
	buf_str(b, "PK\1\2");
	le16(b, 3 << 8 | 20);
	le16(b, 20);
	le16(b, 0);
	le16(b, m->method);
	le32(b, 0x00210000);
	le32(b, m->crc);
	le32(b, m->csize);
	le32(b, m->size);
	le16(b, (unsigned)name_len);
	for (int i = 0; i < 4; i++)
		le16(b, 0);
	le32(b, (uint64_t)m->mode << 16);
	le32(b, at);
	buf_add(b, m->name, name_len);
}

static inline void zip_make_add(struct zip_make *z, const struct zip_member *m)
{
	zip_make_dir(&z->dir, m, strlen(m->name), z->body.len);
	zip_make_local(&z->body, m);
	buf_add(&z->body, m->data, m->csize);
	z->count++;
}

/* The bytes of the archive; z is empty afterwards. */
static inline struct buf zip_make_end(struct zip_make *z)
{
	struct buf b = z->body;
	size_t at = b.len;
	buf_add(&b, z->dir.data, z->dir.len);
	buf_add(&b, "PK\5\6\0\0\0", 8);
	le16(&b, z->count);
	le16(&b, z->count);
	le32(&b, z->dir.len);
	le32(&b, at);
	le16(&b, 0);
	buf_free(&z->dir);
	*z = (struct zip_make){ 0 };
	return b;
}

/* A file in memory with these bytes. */
static inline int file_of(const void *data, size_t len)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		abort();
	return fd;
}

#endif
