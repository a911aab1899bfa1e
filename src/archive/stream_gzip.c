/*
 * gzip through zlib.  libarchive's own gzip filter checks neither CRC nor
 * length and takes what stands behind the last member as nothing.
 */
#include "archive/stream_impl.h"

#include <stdbool.h>
#include <stdlib.h>
#include <zlib.h>

#include "core/mem.h"

struct gzip {
	z_stream z;
	bool between; /* a member has ended */
	bool padding; /* zeros stand behind the last member: only zeros may follow (tapes, some writers) */
};

static int gzip_begin(struct stream *s, struct err *err)
{
	struct gzip *g = s->state = mem_alloc(sizeof *g);
	s->out = mem_alloc(STREAM_BLOCK);
	if (inflateInit2(&g->z, 16 + MAX_WBITS) != Z_OK)
		return err_set(err, ERR_FAIL, "can't start zlib");
	return 0;
}

static void gzip_end(struct stream *s)
{
	struct gzip *g = s->state;
	if (g)
		inflateEnd(&g->z);
	free(g);
}

/* Input for zlib: 1, or 0 at the end of the file, or -1. */
static int gzip_input(struct stream *s, struct gzip *g, struct err *err)
{
	if (g->z.avail_in)
		return 1;
	ssize_t n = stream_fill(s, err);
	if (n <= 0)
		return (int)n;
	g->z.next_in = s->in;
	g->z.avail_in = (uInt)n;
	return 1;
}

/* Between two members: 1 another one begins, 0 the end. */
static int gzip_between(struct stream *s, struct gzip *g, struct err *err)
{
	int r;
	while ((r = gzip_input(s, g, err)) > 0) {
		if (*g->z.next_in == 0) {
			g->padding = true;
			g->z.next_in++;
			g->z.avail_in--;
			continue;
		}
		if (g->padding || *g->z.next_in != 0x1f)
			return err_set(err, ERR_INPUT, "there are bytes behind the end");
		g->between = false;
		inflateReset(&g->z);
		return 1;
	}
	return r;
}

static int gzip_next(struct stream *s, const uint8_t **data, size_t *len, struct err *err)
{
	struct gzip *g = s->state;
	g->z.next_out = s->out;
	g->z.avail_out = STREAM_BLOCK;
	while (g->z.avail_out) {
		int r = g->between ? gzip_between(s, g, err) : gzip_input(s, g, err);
		if (r < 0)
			return -1;
		if (r == 0 && g->between)
			break;
		if (r == 0)
			return err_set(err, ERR_INPUT, "the data is cut off");
		int z = inflate(&g->z, Z_NO_FLUSH);
		if (z == Z_STREAM_END)
			g->between = true;
		else if (z == Z_MEM_ERROR)
			return err_set(err, ERR_FAIL, "zlib is out of memory");
		else if (z != Z_OK && z != Z_BUF_ERROR)
			return err_set(err, ERR_INPUT, "%s", g->z.msg ? g->z.msg : "bad data");
	}
	*data = s->out;
	*len = STREAM_BLOCK - g->z.avail_out;
	return *len > 0;
}

const struct stream_ops stream_gzip = { "gzip", gzip_begin, gzip_next, gzip_end };
