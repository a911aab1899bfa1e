#include "archive/deflate.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "core/mem.h"

/* Input is gathered into blocks of one size: zlib does not promise the same output however its input is cut. */
struct deflater {
	z_stream z;
	size_t gathered;
	unsigned char in[1 << 18], out[1 << 18];
};

struct deflater *deflater_new(int level, struct err *err)
{
	struct deflater *d = mem_alloc(sizeof *d);
	/* Negative window bits: no zlib or gzip frame around the stream. */
	if (deflateInit2(&d->z, level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		free(d);
		err_set(err, ERR_FAIL, "can't begin to deflate at level %d", level);
		return NULL;
	}
	return d;
}

void deflater_free(struct deflater *d)
{
	if (!d)
		return;
	deflateEnd(&d->z);
	free(d);
}

/* Run until zlib has taken all input (and, at the end, given all output). */
static int drain(struct deflater *d, int flush, zip_sink_fn *sink, void *ctx, struct err *err)
{
	int rc;
	do {
		d->z.next_out = d->out;
		d->z.avail_out = sizeof d->out;
		rc = deflate(&d->z, flush);
		if (rc == Z_STREAM_ERROR)
			return err_set(err, ERR_FAIL, "can't deflate: %s", d->z.msg ? d->z.msg : "stream error");
		size_t got = sizeof d->out - d->z.avail_out;
		if (got && sink(ctx, d->out, got, err))
			return -1;
	} while (d->z.avail_out == 0 || (flush == Z_FINISH && rc != Z_STREAM_END));
	return 0;
}

/* Hand what was gathered to zlib. */
static int pump(struct deflater *d, int flush, zip_sink_fn *sink, void *ctx, struct err *err)
{
	d->z.next_in = d->in;
	d->z.avail_in = (uInt)d->gathered;
	d->gathered = 0;
	return drain(d, flush, sink, ctx, err);
}

int deflater_put(struct deflater *d, const void *data, size_t len, bool last, zip_sink_fn *sink, void *ctx,
	struct err *err)
{
	const unsigned char *p = data;
	while (len) {
		size_t room = sizeof d->in - d->gathered, n = len < room ? len : room;
		memcpy(d->in + d->gathered, p, n);
		d->gathered += n;
		p += n;
		len -= n;
		if (d->gathered == sizeof d->in && pump(d, Z_NO_FLUSH, sink, ctx, err))
			return -1;
	}
	if (!last)
		return 0;
	if (pump(d, Z_FINISH, sink, ctx, err))
		return -1;
	deflateReset(&d->z);
	return 0;
}
