#include "wheel/zip_write.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "archive/deflate.h"
#include "core/buf.h"
#include "core/fs.h"
#include "core/mem.h"
#include "core/str.h"

#define SENTINEL32 0xffffffffu /* "see the zip64 field" */
#define SENTINEL16 0xffffu
#define UTF8_FLAG  0x0800
#define MADE_BY_UNIX 3
#define STORED 0
#define DEFLATED 8

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

/* What a header says of an entry. */
struct head {
	const char *name;
	bool executable;
	uint16_t method;
	uint32_t crc;
	uint64_t size, csize, at;
};

int zip_dos_time(int64_t epoch, uint16_t *date, uint16_t *dos_time)
{
	struct tm tm;
	time_t t = epoch < 315532800 ? 315532800 : epoch;
	if (!gmtime_r(&t, &tm) || tm.tm_year > 2107 - 1900)
		return -1;
	*date = (uint16_t)((tm.tm_year - 80) << 9 | (tm.tm_mon + 1) << 5 | tm.tm_mday);
	*dos_time = (uint16_t)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec / 2);
	return 0;
}

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

static void put16(struct buf *b, unsigned v)
{
	char bytes[2] = { (char)v, (char)(v >> 8) };
	buf_add(b, bytes, sizeof bytes);
}

static void put32(struct buf *b, uint32_t v)
{
	put16(b, v & 0xffff);
	put16(b, v >> 16);
}

static void put64(struct buf *b, uint64_t v)
{
	put32(b, (uint32_t)v);
	put32(b, (uint32_t)(v >> 32));
}

/* Of zip64's numbers the sizes go together, as the local header must have both. */
static bool sizes64(const struct head *h)
{
	return h->size >= SENTINEL32 || h->csize >= SENTINEL32;
}

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

/* The fields that local and central header share, from "version needed" to the length of the name. */
static void put_common(const struct zip_writer *w, const struct head *h, bool zip64, struct buf *out)
{
	put16(out, zip64 ? 45 : 20);
	put16(out, is_ascii(h->name) ? 0 : UTF8_FLAG);
	put16(out, h->method);
	put16(out, w->time);
	put16(out, w->date);
	put32(out, h->crc);
	put32(out, sizes64(h) ? SENTINEL32 : (uint32_t)h->csize);
	put32(out, sizes64(h) ? SENTINEL32 : (uint32_t)h->size);
	put16(out, (unsigned)strlen(h->name));
}

static void put_local(const struct zip_writer *w, const struct head *h, struct buf *out)
{
	put32(out, 0x04034b50);
	put_common(w, h, sizes64(h), out);
	put16(out, sizes64(h) ? 20 : 0);
	buf_str(out, h->name);
	if (sizes64(h)) {
		put16(out, 1);
		put16(out, 16);
		put64(out, h->size);
		put64(out, h->csize);
	}
}

static void put_central(const struct zip_writer *w, const struct head *h, struct buf *out)
{
	bool far = h->at >= SENTINEL32;
	unsigned extra = (sizes64(h) ? 16 : 0) + (far ? 8 : 0);
	put32(out, 0x02014b50);
	put16(out, MADE_BY_UNIX << 8 | (extra ? 45 : 20));
	put_common(w, h, extra > 0, out);
	put16(out, extra ? extra + 4 : 0);
	put16(out, 0); /* comment */
	put16(out, 0); /* disk */
	put16(out, 0); /* internal attributes */
	put32(out, (uint32_t)(S_IFREG | (h->executable ? 0755 : 0644)) << 16);
	put32(out, far ? SENTINEL32 : (uint32_t)h->at);
	buf_str(out, h->name);
	if (!extra)
		return;
	put16(out, 1);
	put16(out, extra);
	if (sizes64(h)) {
		put64(out, h->size);
		put64(out, h->csize);
	}
	if (far)
		put64(out, h->at);
}

static int emit(struct zip_writer *w, const void *data, size_t len, struct err *err)
{
	w->at += len;
	return fs_write_all(w->fd, data, len, err);
}

static int emit_local(struct zip_writer *w, const struct head *h, struct err *err)
{
	_cleanup_buf_ struct buf head = BUF_INIT;
	put_local(w, h, &head);
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

static int check_size(const struct head *h, uint64_t got, struct err *err)
{
	if (got == h->size)
		return 0;
	return err_set(err, ERR_INPUT, "%s: %llu bytes where %llu were announced", h->name, (unsigned long long)got,
		(unsigned long long)h->size);
}

static int add_whole(struct zip_writer *w, struct head *h, zip_source_fn *source, void *ctx, struct err *err)
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
	h->method = n ? DEFLATED : STORED;
	h->csize = n ? n : h->size;
	if (emit_local(w, h, err))
		return -1;
	return h->csize ? emit(w, n ? w->out.data : w->in.data, (size_t)h->csize, err) : 0;
}

/* An entry on its way through the stream compressor, or (deflate false) past it. */
struct passage {
	struct zip_writer *w;
	struct head *head;
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
	p->head->method = p->deflate ? DEFLATED : STORED;
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
static int add_stream(struct zip_writer *w, struct head *h, zip_source_fn *source, void *ctx, struct err *err)
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
	put_local(w, h, &head);
	if (pwrite(w->fd, head.data, head.len, (off_t)h->at) != (ssize_t)head.len)
		return err_sys(err, "can't write the archive");
	return 0;
}

int zip_writer_add(struct zip_writer *w, const char *name, bool executable, uint64_t size, zip_source_fn *source,
	void *ctx, struct err *err)
{
	struct head h = { name, executable, STORED, 0, size, 0, w->at };
	if (strlen(name) >= SENTINEL16)
		return err_set(err, ERR_INPUT, "a name of %zu bytes is too long", strlen(name));
	int rc = size <= ZIP_WHOLE ? add_whole(w, &h, source, ctx, err) : add_stream(w, &h, source, ctx, err);
	if (rc)
		return -1; /* the source's own words name the file */
	put_central(w, &h, &w->central);
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

static void put_end64(const struct zip_writer *w, uint64_t central_at, struct buf *out)
{
	uint64_t at = central_at + w->central.len;
	put32(out, 0x06064b50);
	put64(out, 44); /* of what follows */
	put16(out, MADE_BY_UNIX << 8 | 45);
	put16(out, 45);
	put32(out, 0);
	put32(out, 0);
	put64(out, w->count);
	put64(out, w->count);
	put64(out, w->central.len);
	put64(out, central_at);
	put32(out, 0x07064b50); /* the locator */
	put32(out, 0);
	put64(out, at);
	put32(out, 1);
}

int zip_writer_end(struct zip_writer *w, struct err *err)
{
	uint64_t at = w->at;
	_cleanup_buf_ struct buf end = BUF_INIT;
	bool many = w->count >= SENTINEL16, big = w->central.len >= SENTINEL32, far = at >= SENTINEL32;
	if (many || big || far)
		put_end64(w, at, &end);
	put32(&end, 0x06054b50);
	put32(&end, 0); /* this disk, and the one where the directory begins */
	put16(&end, many ? SENTINEL16 : (unsigned)w->count);
	put16(&end, many ? SENTINEL16 : (unsigned)w->count);
	put32(&end, big ? SENTINEL32 : (uint32_t)w->central.len);
	put32(&end, far ? SENTINEL32 : (uint32_t)at);
	put16(&end, 0); /* comment */
	if (w->central.len && emit(w, w->central.data, w->central.len, err))
		return -1;
	return emit(w, end.data, end.len, err);
}
