/*
 * Reading zip archives strictly: central directory and local headers must agree
 * (no second meaning for another reader), every name and size is checked.
 * What is accepted is what PyPI accepts (shared zip vectors); the writer of
 * canonical wheels is wheel/zip_write.h.
 */
#ifndef FORGE_ARCHIVE_ZIP_H
#define FORGE_ARCHIVE_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/err.h"

struct zip_entry {
	const char *name;      /* NUL-terminated, checked: relative, no "..", no backslash, UTF-8 */
	uint16_t method;       /* 0 stored, 8 deflate */
	uint32_t crc;
	uint64_t csize, size;
	uint64_t data_at;      /* offset of the compressed bytes */
	uint32_t mode;         /* Unix mode from the external attributes, 0 if made elsewhere */
	bool folder;
	bool link;             /* a symbolic link: its data is the target */
};

struct zip;

struct zip *zip_open(int fd, struct err *err); /* fd stays the caller's */
void zip_free(struct zip *z);
size_t zip_count(const struct zip *z);
const struct zip_entry *zip_at(const struct zip *z, size_t i); /* in the order of the central directory */
const struct zip_entry *zip_find(const struct zip *z, const char *name);

typedef int zip_sink_fn(void *ctx, const void *data, size_t len, struct err *err);
/* Stream an entry's bytes; size and CRC are checked at the end. */
int zip_stream(struct zip *z, const struct zip_entry *e, zip_sink_fn *sink, void *ctx, struct err *err);
/* A small entry whole; more than limit bytes is an error. */
struct buf;
int zip_read(struct zip *z, const struct zip_entry *e, uint64_t limit, struct buf *out, struct err *err);

#endif
