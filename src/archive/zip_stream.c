/* The content of one entry. */
#include "archive/zip_impl.h"

#include "archive/name.h"
#include "core/buf.h"
#include "core/fs.h"

struct run {
	zip_sink_fn *sink;
	void *ctx;
	uint32_t crc;
	uint64_t total;
};

static int give(struct run *r, const struct zip_entry *e, const uint8_t *data, size_t len, struct err *err)
{
	if (len == 0)
		return 0;
	if (len > e->size - r->total)
		return err_set(err, ERR_INPUT, "it is larger than stated");
	r->crc = (uint32_t)crc32_z(r->crc, data, len);
	r->total += len;
	return r->sink(r->ctx, data, len, err) ? -1 : 0;
}

static int run_stored(struct zip *z, const struct zip_entry *e, struct run *r, struct err *err)
{
	if (e->csize != e->size)
		return err_set(err, ERR_INPUT, "it is stored, but states two sizes");
	while (r->total < e->size) {
		uint64_t left = e->size - r->total;
		size_t n = left < ZIP_BLOCK ? (size_t)left : ZIP_BLOCK;
		if (fs_pread_full(z->fd, z->in, n, (off_t)(e->data_at + r->total), err) ||
		    give(r, e, z->in, n, err))
			return -1;
	}
	return 0;
}

static int start_inflate(struct zip *z, struct err *err)
{
	int rc = z->inflate_ready ? inflateReset(&z->inflate) : inflateInit2(&z->inflate, -MAX_WBITS);
	if (rc != Z_OK)
		return err_set(err, ERR_FAIL, "can't start zlib");
	z->inflate_ready = true;
	z->inflate.avail_in = 0;
	return 0;
}

static int run_deflate(struct zip *z, const struct zip_entry *e, struct run *r, struct err *err)
{
	z_stream *s = &z->inflate;
	uint64_t read = 0;
	int rc = Z_OK;
	if (start_inflate(z, err))
		return -1;
	while (rc != Z_STREAM_END) {
		if (s->avail_in == 0 && read < e->csize) {
			uint64_t left = e->csize - read;
			size_t n = left < ZIP_BLOCK ? (size_t)left : ZIP_BLOCK;
			if (fs_pread_full(z->fd, z->in, n, (off_t)(e->data_at + read), err))
				return -1;
			s->next_in = z->in;
			s->avail_in = (uInt)n;
			read += n;
		}
		s->next_out = z->out;
		s->avail_out = ZIP_BLOCK;
		rc = inflate(s, Z_NO_FLUSH);
		if (rc == Z_BUF_ERROR) /* no progress: there is no more input */
			return err_set(err, ERR_INPUT, "its compressed data is cut off");
		if (rc != Z_OK && rc != Z_STREAM_END)
			return err_set(err, ERR_INPUT, "its compressed data is bad: %s", s->msg ? s->msg : "zlib");
		if (give(r, e, z->out, ZIP_BLOCK - s->avail_out, err))
			return -1;
	}
	if (s->avail_in || read < e->csize)
		return err_set(err, ERR_INPUT, "there are bytes behind the end of its compressed data");
	return 0;
}

static int run_checked(struct zip *z, const struct zip_entry *e, struct run *r, struct err *err)
{
	if (!z->in) {
		z->in = mem_alloc(ZIP_BLOCK);
		z->out = mem_alloc(ZIP_BLOCK);
	}
	if (e->method == 0 ? run_stored(z, e, r, err) : run_deflate(z, e, r, err))
		return -1;
	if (r->total != e->size)
		return err_set(err, ERR_INPUT, "it is smaller than stated");
	if (r->crc != e->crc)
		return err_set(err, ERR_INPUT, "its CRC is wrong: the archive is damaged");
	return 0;
}

int zip_stream(struct zip *z, const struct zip_entry *e, zip_sink_fn *sink, void *ctx, struct err *err)
{
	struct run r = { .sink = sink, .ctx = ctx };
	if (run_checked(z, e, &r, err) == 0)
		return 0;
	_cleanup_free_ char *shown = name_show(e->name);
	return err_add(err, "%s", shown);
}

static int add_piece(void *ctx, const void *data, size_t len, struct err *err)
{
	buf_add(ctx, data, len);
	return 0;
}

int zip_read(struct zip *z, const struct zip_entry *e, uint64_t limit, struct buf *out, struct err *err)
{
	if (e->size > limit) {
		_cleanup_free_ char *shown = name_show(e->name);
		return err_set(err, ERR_INPUT, "%s is larger than the limit of %llu bytes", shown,
			(unsigned long long)limit);
	}
	return zip_stream(z, e, add_piece, out, err);
}
