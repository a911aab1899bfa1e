/*
 * Canonical zip archives: for the same names, modes and bytes, the same
 * archive, one that PyPI accepts (APPNOTE 6.3: sizes and CRC in the local
 * headers, no data descriptors, no extra fields but zip64 where a number needs
 * it, the UTF-8 flag only for names beyond ASCII).
 *
 * Deflate: entries up to ZIP_WHOLE bytes by libdeflate at ZIP_LEVEL, which
 * must see an entry whole; larger ones (a CUDA extension is hundreds of MB)
 * by zlib at its level 6, as a stream, so that memory stays below 32 MiB
 * whatever is written.  Which of the two depends on the size alone, so it is as
 * reproducible as either library.  What deflate does not make smaller is stored.
 */
#ifndef FORGE_WHEEL_ZIP_WRITE_H
#define FORGE_WHEEL_ZIP_WRITE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "archive/zip.h"
#include "core/err.h"

#define ZIP_WHOLE        (8u << 20)
#define ZIP_LEVEL        9
#define ZIP_STREAM_LEVEL 6

struct zip_writer;

/* fd: an empty file open for writing, at its start, the caller's; epoch: the time of every entry in seconds,
 * UTC; before 1980 counts as 1980, after 2107 (what DOS times can't say) is an error. */
struct zip_writer *zip_writer_new(int fd, int64_t epoch, struct err *err);
void zip_writer_free(struct zip_writer *w); /* NULL is allowed */

/* Gives all bytes of an entry to the sink, in pieces of any size; may be called again for the same bytes. */
typedef int zip_source_fn(void *ctx, zip_sink_fn *sink, void *sink_ctx, struct err *err);

/* Add an entry of exactly size bytes; the caller adds entries in their order, no name twice. */
int zip_writer_add(struct zip_writer *w, const char *name, bool executable, uint64_t size, zip_source_fn *source,
	void *ctx, struct err *err);
int zip_writer_add_bytes(struct zip_writer *w, const char *name, bool executable, const void *data, size_t len,
	struct err *err);
/* Write the central directory. */
int zip_writer_end(struct zip_writer *w, struct err *err);

#endif
