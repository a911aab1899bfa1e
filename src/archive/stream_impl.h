/* Inside the streams: what a decompressor gets and gives.  Only stream*.c includes this. */
#ifndef FORGE_ARCHIVE_STREAM_IMPL_H
#define FORGE_ARCHIVE_STREAM_IMPL_H

#include "archive/stream.h"

#define STREAM_BLOCK (256 * 1024)

struct stream_ops {
	const char *name;
	int (*begin)(struct stream *s, struct err *err); /* makes state; freed by end even after an error */
	int (*next)(struct stream *s, const uint8_t **data, size_t *len, struct err *err); /* as stream_next */
	void (*end)(struct stream *s);
};

struct stream {
	const struct stream_ops *ops;
	int fd;
	off_t at, end;     /* what of the file has not been read yet */
	uint8_t *in;       /* STREAM_BLOCK bytes */
	uint8_t *out;      /* STREAM_BLOCK bytes; NULL where the decompressor lends its own */
	void *state;
	struct hasher *hasher; /* of what came out; lent; NULL: none */
};

/* Read the next block of the file into s->in: its length, 0 at the end, -1. */
ssize_t stream_fill(struct stream *s, struct err *err);

extern const struct stream_ops stream_gzip, stream_zstd, stream_xz, stream_bzip2;

#endif
