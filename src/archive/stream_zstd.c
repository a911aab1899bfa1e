/*
 * zstd through libzstd itself: libarchive does not know a stream that begins
 * with a skippable frame.
 */
#include "archive/stream_impl.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zstd.h>

#include "core/dynlib.h"
#include "core/mem.h"

#define ZSTD_FUNCS(X) \
	X(ZSTD_createDStream) X(ZSTD_freeDStream) X(ZSTD_DCtx_setParameter) \
	X(ZSTD_decompressStream) X(ZSTD_isError) X(ZSTD_getErrorName)

#define WINDOW_LOG_MAX 27 /* 128 MiB: what `zstd -d` takes unasked, and `zstd --ultra -22` writes */

static DYNLIB_TABLE(zstd_api, ZSTD_FUNCS) api;
static const char *const api_names[] = DYNLIB_NAMES(ZSTD_FUNCS);

struct zstd {
	ZSTD_DStream *d;
	ZSTD_inBuffer in;
	bool inside; /* a frame has begun and not ended */
	bool full;   /* the last call filled the output: more may come without input */
};

static int zstd_begin(struct stream *s, struct err *err)
{
	struct zstd *z = s->state = mem_alloc(sizeof *z);
	s->out = mem_alloc(STREAM_BLOCK);
	if (dynlib_load("libzstd.so.1", api_names, sizeof api_names / sizeof *api_names, &api, err))
		return -1;
	z->d = api.ZSTD_createDStream();
	if (!z->d || api.ZSTD_isError(api.ZSTD_DCtx_setParameter(z->d, ZSTD_d_windowLogMax, WINDOW_LOG_MAX)))
		return err_set(err, ERR_FAIL, "can't start libzstd");
	return 0;
}

static void zstd_end(struct stream *s)
{
	struct zstd *z = s->state;
	if (z && z->d)
		api.ZSTD_freeDStream(z->d);
	free(z);
}

/* 1 there is input (or output pending), 0 the end of the file. */
static int zstd_input(struct stream *s, struct zstd *z, struct err *err)
{
	if (z->in.pos < z->in.size || z->full)
		return 1;
	ssize_t n = stream_fill(s, err);
	if (n <= 0)
		return (int)n;
	z->in = (ZSTD_inBuffer){ s->in, (size_t)n, 0 };
	return 1;
}

static int zstd_next(struct stream *s, const uint8_t **data, size_t *len, struct err *err)
{
	struct zstd *z = s->state;
	ZSTD_outBuffer out = { s->out, STREAM_BLOCK, 0 };
	while (out.pos < out.size) {
		int r = zstd_input(s, z, err);
		if (r < 0)
			return -1;
		if (r == 0 && z->inside)
			return err_set(err, ERR_INPUT, "the data is cut off");
		if (r == 0)
			break;
		size_t hint = api.ZSTD_decompressStream(z->d, &out, &z->in);
		if (api.ZSTD_isError(hint))
			return err_set(err, ERR_INPUT, "%s", api.ZSTD_getErrorName(hint));
		z->inside = hint != 0;
		z->full = z->inside && out.pos == out.size;
	}
	*data = s->out;
	*len = out.pos;
	return *len > 0;
}

const struct stream_ops stream_zstd = { "zstd", zstd_begin, zstd_next, zstd_end };
