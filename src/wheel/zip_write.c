#include "wheel/zip_write.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/deflate.h"
#include "core/buf.h"
#include "core/fs.h"
#include "core/mem.h"
#include "core/str.h"
#include "wheel/zip_head.h"

struct zip_writer {
	int fd;
	uint64_t at;           /* where the next byte goes */
	uint16_t date, time;
	uint64_t count;
	struct buf central;
	struct libdeflate_compressor *whole;
	struct deflater *stream; /* made when first needed */
	struct buf in, out;      /* of the entry that is compressed whole */
};

struct zip_writer *zip_writer_new(int fd, int64_t epoch, struct err *err)
{
	uint16_t date, dos_time;
	if (zip_dos_time(epoch, &date, &dos_time)) {
		err_set(err, ERR_INPUT, "the time %lld is after 2107, which a zip can't say", (long long)epoch);
		return NULL;
	}
	struct zip_writer *w = mem_alloc(sizeof *w);
	*w = (struct zip_writer){ .fd = fd, .date = date, .time = dos_time };
	w->whole = libdeflate_alloc_compressor(ZIP_LEVEL);
	if (!w->whole) {
		free(w);
		err_set(err, ERR_FAIL, "no memory to deflate");
		return NULL;
	}
	return w;
}

void zip_writer_free(struct zip_writer *w)
{
	if (!w)
		return;
	libdeflate_free_compressor(w->whole);
	deflater_free(w->stream);
	buf_free(&w->central);
	buf_free(&w->in);
	buf_free(&w->out);
	free(w);
}

static int emit(struct zip_writer *w, const void *data, size_t len, struct err *err)
{
	w->at += len;
	return fs_write_all(w->fd, data, len, err);
}

static int emit_local(struct zip_writer *w, const struct zip_head *h, struct err *err)
{
	_cleanup_buf_ struct buf head = BUF_INIT;
	zip_head_local(h, &head);
	return emit(w, head.data, head.len, err);
}

static int sink_whole(void *ctx, const void *data, size_t len, struct err *err)
{
	struct zip_writer *w = ctx;
	if (w->in.len + len > ZIP_WHOLE)
		return err_set(err, ERR_INPUT, "more bytes than were announced");
	buf_add(&w->in, data, len);
	return 0;
}

static int check_size(const struct zip_head *h, uint64_t got, struct err *err)
{
	if (got == h->size)
		return 0;
	return err_set(err, ERR_INPUT, "%s: %llu bytes where %llu were announced", h->name, (unsigned long long)got,
		(unsigned long long)h->size);
}

static int add_whole(struct zip_writer *w, struct zip_head *h, zip_source_fn *source, void *ctx, struct err *err)
{
	buf_clear(&w->in);
	if (source(ctx, sink_whole, w, err) || check_size(h, w->in.len, err))
		return -1;
	h->crc = libdeflate_crc32(0, w->in.data, w->in.len);
	/* One byte less than the input: no room means deflate does not win. */
	size_t n = 0;
	if (w->in.len > 1) {
		buf_clear(&w->out);
		n = libdeflate_deflate_compress(w->whole, w->in.data, w->in.len, buf_grow(&w->out, w->in.len),
			w->in.len - 1);
	}
	h->method = n ? ZIP_DEFLATED : ZIP_STORED;
	h->csize = n ? n : h->size;
	if (emit_local(w, h, err))
		return -1;
	return h->csize ? emit(w, n ? w->out.data : w->in.data, (size_t)h->csize, err) : 0;
}

/* An entry on its way through the stream compressor, or (deflate false) past it. */
struct passage {
	struct zip_writer *w;
	struct zip_head *head;
	bool deflate;
	uint64_t got;
};

static int sink_out(void *ctx, const void *data, size_t len, struct err *err)
{
	struct passage *p = ctx;
	p->head->csize += len;
	return emit(p->w, data, len, err);
}

static int sink_stream(void *ctx, const void *data, size_t len, struct err *err)
{
	struct passage *p = ctx;
	p->got += len;
	p->head->crc = libdeflate_crc32(p->head->crc, data, len);
	if (!p->deflate)
		return sink_out(p, data, len, err);
	return deflater_put(p->w->stream, data, len, false, sink_out, p, err);
}

static int pass(struct passage *p, zip_source_fn *source, void *ctx, struct err *err)
{
	p->head->crc = 0;
	p->head->csize = 0;
	p->head->method = p->deflate ? ZIP_DEFLATED : ZIP_STORED;
	if (source(ctx, sink_stream, p, err))
		return -1;
	if (p->deflate && deflater_put(p->w->stream, NULL, 0, true, sink_out, p, err))
		return -1;
	return check_size(p->head, p->got, err);
}

/* Back to where the entry's data begins: it is written again. */
static int rewind_to(struct zip_writer *w, uint64_t at, struct err *err)
{
	w->at = at;
	if (ftruncate(w->fd, (off_t)at) < 0 || lseek(w->fd, (off_t)at, SEEK_SET) < 0)
		return err_sys(err, "can't go back in the archive");
	return 0;
}

/* The header goes first with what is known, and again when the rest is; its length does not change. */
static int add_stream(struct zip_writer *w, struct zip_head *h, zip_source_fn *source, void *ctx, struct err *err)
{
	if (!w->stream && !(w->stream = deflater_new(ZIP_STREAM_LEVEL, err)))
		return -1;
	if (emit_local(w, h, err))
		return -1;
	uint64_t data_at = w->at;
	struct passage p = { w, h, true, 0 };
	if (pass(&p, source, ctx, err))
		return -1;
	if (h->csize >= h->size) {
		p = (struct passage){ w, h, false, 0 };
		if (rewind_to(w, data_at, err) || pass(&p, source, ctx, err))
			return -1;
	}
	_cleanup_buf_ struct buf head = BUF_INIT;
	zip_head_local(h, &head);
	if (pwrite(w->fd, head.data, head.len, (off_t)h->at) != (ssize_t)head.len)
		return err_sys(err, "can't write the archive");
	return 0;
}

int zip_writer_add(struct zip_writer *w, const char *name, bool executable, uint64_t size, zip_source_fn *source,
	void *ctx, struct err *err)
{
	struct zip_head h = { .name = name, .executable = executable, .date = w->date, .time = w->time, .size = size,
		.at = w->at };
	if (strlen(name) > ZIP_NAME_MAX)
		return err_set(err, ERR_INPUT, "a name of %zu bytes is too long", strlen(name));
	int rc = size <= ZIP_WHOLE ? add_whole(w, &h, source, ctx, err) : add_stream(w, &h, source, ctx, err);
	if (rc)
		return -1; /* the source's own words name the file */
	zip_head_central(&h, &w->central);
	w->count++;
	return 0;
}

static int source_bytes(void *ctx, zip_sink_fn *sink, void *sink_ctx, struct err *err)
{
	const struct slice *s = ctx;
	return s->n ? sink(sink_ctx, s->p, s->n, err) : 0;
}

int zip_writer_add_bytes(struct zip_writer *w, const char *name, bool executable, const void *data, size_t len,
	struct err *err)
{
	struct slice s = { data, len };
	return zip_writer_add(w, name, executable, len, source_bytes, &s, err);
}

int zip_writer_end(struct zip_writer *w, struct err *err)
{
	_cleanup_buf_ struct buf end = BUF_INIT;
	zip_head_end(w->count, w->central.len, w->at, &end);
	if (w->central.len && emit(w, w->central.data, w->central.len, err))
		return -1;
	return emit(w, end.data, end.len, err);
}
