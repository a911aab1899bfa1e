/*
 * Reading zip archives strictly (PKWARE APPNOTE 6.3.x): central directory and
 * local headers must agree and lie without gap from the first byte of the file
 * to its last, so that no two readers see two archives in it.  What is accepted
 * is what PyPI accepts (shared zip vectors), less what only a name can do:
 * relative clean names only.  Refused: data descriptors, encryption, methods but
 * stored and deflate, names twice, comments on entries, more than 64 MiB at a
 * ratio above 50, a central directory over 32 MiB.
 *
 * Memory: about 100 bytes and its name for each entry, and 256 KiB.
 * The writer of canonical wheels is wheel/zip_write.h.
 */
#ifndef FORGE_ARCHIVE_ZIP_H
#define FORGE_ARCHIVE_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/err.h"

struct zip_entry {
	const char *name;      /* NUL-terminated, checked: relative, no "", "." or ".." between slashes, no
	                          backslash, no drive, no control byte, UTF-8; a folder's ends in "/" */
	uint16_t method;       /* 0 stored, 8 deflate */
	uint32_t crc;
	uint64_t csize, size;
	uint64_t data_at;      /* offset of the compressed bytes */
	uint32_t mode;         /* Unix mode from the external attributes, 0 if made elsewhere */
	bool folder;
	bool link;             /* a symbolic link: its data is the target */
};

struct zip;

struct zip *zip_open(int fd, struct err *err); /* a regular file; fd stays the caller's, its position is not moved */
void zip_free(struct zip *z);
size_t zip_count(const struct zip *z);
const struct zip_entry *zip_at(const struct zip *z, size_t i); /* in the order of the central directory */
const struct zip_entry *zip_find(const struct zip *z, const char *name);

/* Is it a plain file, or a folder without content?  PyPI takes links, devices and folders with content;
 * who installs or unpacks must not.  zip_stream does not ask this. */
int zip_check_plain(const struct zip_entry *e, struct err *err);

typedef int zip_sink_fn(void *ctx, const void *data, size_t len, struct err *err);
/* Stream an entry's bytes, in pieces of at most 128 KiB, never more than e->size; the stream's end, size
 * and CRC are checked (what the sink got is good only if this returns 0).  The error names the entry. */
int zip_stream(struct zip *z, const struct zip_entry *e, zip_sink_fn *sink, void *ctx, struct err *err);
/* A small entry whole, appended to out; more than limit bytes is an error. */
struct buf;
int zip_read(struct zip *z, const struct zip_entry *e, uint64_t limit, struct buf *out, struct err *err);

/* Does the file end as a zip does (an end record whose comment reaches the last byte)?  1, 0, -1. */
int zip_ends_like_one(int fd, uint64_t file_size, struct err *err);

void zip_free_ptr(struct zip **z);
#define _cleanup_zip_ __attribute__((cleanup(zip_free_ptr)))

#endif
