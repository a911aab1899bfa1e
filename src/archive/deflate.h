/*
 * Raw deflate (RFC 1951) as a stream, for data too large to hold: the writer of
 * wheels compresses what is small at once (wheel/zip_write.c), the rest here.
 */
#ifndef FORGE_ARCHIVE_DEFLATE_H
#define FORGE_ARCHIVE_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include "archive/zip.h"
#include "core/err.h"

struct deflater; /* about 0.8 MiB */

struct deflater *deflater_new(int level, struct err *err); /* 1 to 9 */
void deflater_free(struct deflater *d);                    /* NULL is allowed */
/* Compress len bytes; what comes out goes to the sink.  With last, the stream is ended and d can begin another.
 * The output depends on all the bytes and the level, not on the pieces they come in. */
int deflater_put(struct deflater *d, const void *data, size_t len, bool last, zip_sink_fn *sink, void *ctx,
	struct err *err);

#endif
