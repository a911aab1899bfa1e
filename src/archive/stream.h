/*
 * A stretch of a file, decompressed: gzip (RFC 1952), xz, bzip2, zstd (RFC
 * 8878), or as it is.  Strict: checksums are verified, a stream that is cut off
 * and bytes behind its end are errors.  Several gzip members, xz streams or zstd
 * frames in a row are one content.  Memory is what the format needs: 32 KiB for
 * gzip, the window for zstd (at most 128 MiB, the format's own default bound)
 * and xz, both touched only as far as content is long.
 */
#ifndef FORGE_ARCHIVE_STREAM_H
#define FORGE_ARCHIVE_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include "core/err.h"
#include "core/hash.h"

enum stream_kind { STREAM_PLAIN, STREAM_GZIP, STREAM_XZ, STREAM_BZIP2, STREAM_ZSTD };

struct stream;

/* What the bytes at `at` begin with; STREAM_PLAIN for anything unknown.  -1 on a read error. */
int stream_sniff(int fd, off_t at, off_t end, enum stream_kind *kind, struct err *err);

/* Bytes at..end of the regular file fd, which stays the caller's and whose position is not moved. */
struct stream *stream_open(int fd, off_t at, off_t end, enum stream_kind kind, struct err *err);
void stream_free(struct stream *s);

/* The next piece, never empty, lent until the next call: 1; at the true end 0. */
int stream_next(struct stream *s, const uint8_t **data, size_t *len, struct err *err);

/* Hash what stream_next() gives from now on; h is lent, and whole when that has given 0. */
void stream_hash(struct stream *s, struct hasher *h);

void stream_free_ptr(struct stream **s);
#define _cleanup_stream_ __attribute__((cleanup(stream_free_ptr)))

/*
 * All of a compressed (by content) or plain file to a sink; content over limit bytes is an error.
 * What the sink returns other than 0 ends it (the sink has set err).
 */
typedef int stream_sink_fn(void *ctx, const void *data, size_t len, struct err *err);
int archive_decompress(int fd, uint64_t limit, stream_sink_fn *sink, void *ctx, struct err *err);

#endif
