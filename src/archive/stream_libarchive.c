/* xz and bzip2 through libarchive's filters, one exactly; no format but "raw" is enabled. */
#include "archive/stream_impl.h"

#include <archive.h>
#include <archive_entry.h>
#include <stdbool.h>
#include <stdlib.h>

#include "core/dynlib.h"
#include "core/mem.h"

#define ARCHIVE_FUNCS(X) \
	X(archive_read_new) X(archive_read_free) X(archive_read_support_filter_xz) \
	X(archive_read_support_filter_bzip2) X(archive_read_support_format_raw) \
	X(archive_read_support_format_empty) X(archive_read_open) X(archive_read_next_header) \
	X(archive_read_data_block) X(archive_error_string) X(archive_filter_code) X(archive_filter_bytes)

static DYNLIB_TABLE(archive_api, ARCHIVE_FUNCS) api;
static const char *const api_names[] = DYNLIB_NAMES(ARCHIVE_FUNCS);

struct filter {
	struct archive *a;
	struct err err; /* of our reading, which libarchive can't carry */
	off_t begin;
	bool empty;
};

static la_ssize_t filter_read(struct archive *a, void *ctx, const void **block)
{
	struct stream *s = ctx;
	struct filter *f = s->state;
	*block = s->in;
	return stream_fill(s, &f->err);
}

static int filter_fail(struct filter *f, struct err *err)
{
	if (f->err.code)
		return err_move(err, &f->err);
	const char *why = api.archive_error_string(f->a);
	return err_set(err, ERR_INPUT, "%s", why ? why : "bad data");
}

static int filter_open(struct stream *s, int code, struct err *err)
{
	struct filter *f = s->state;
	struct archive_entry *entry;
	api.archive_read_support_format_raw(f->a);
	api.archive_read_support_format_empty(f->a);
	if (api.archive_read_open(f->a, s, NULL, filter_read, NULL) != ARCHIVE_OK)
		return filter_fail(f, err);
	int r = api.archive_read_next_header(f->a, &entry);
	f->empty = r == ARCHIVE_EOF;
	if (r != ARCHIVE_OK && r != ARCHIVE_EOF)
		return filter_fail(f, err);
	/* A filter that does not know its own content steps aside, and "raw" would hand the
	 * compressed bytes on. */
	if (api.archive_filter_code(f->a, 0) != code)
		return err_set(err, ERR_INPUT, "bad header");
	return 0;
}

static int filter_begin(struct stream *s, struct err *err)
{
	struct filter *f = s->state = mem_alloc(sizeof *f);
	f->begin = s->at;
	if (dynlib_load("libarchive.so.13", api_names, sizeof api_names / sizeof *api_names, &api, err))
		return -1;
	f->a = api.archive_read_new();
	return f->a ? 0 : err_set(err, ERR_FAIL, "can't start libarchive");
}

static int xz_begin(struct stream *s, struct err *err)
{
	struct filter *f;
	if (filter_begin(s, err))
		return -1;
	f = s->state;
	if (api.archive_read_support_filter_xz(f->a) != ARCHIVE_OK)
		return err_set(err, ERR_FAIL, "this libarchive can't read xz");
	return filter_open(s, ARCHIVE_FILTER_XZ, err);
}

static int bzip2_begin(struct stream *s, struct err *err)
{
	struct filter *f;
	if (filter_begin(s, err))
		return -1;
	f = s->state;
	if (api.archive_read_support_filter_bzip2(f->a) != ARCHIVE_OK)
		return err_set(err, ERR_FAIL, "this libarchive can't read bzip2");
	return filter_open(s, ARCHIVE_FILTER_BZIP2, err);
}

static void filter_end(struct stream *s)
{
	struct filter *f = s->state;
	if (f && f->a)
		api.archive_read_free(f->a);
	if (f)
		err_clear(&f->err);
	free(f);
}

/* All of the file must be part of the content: bzip2's filter ends quietly before what is not. */
static int filter_finished(struct stream *s, struct filter *f, struct err *err)
{
	if (s->at < s->end || api.archive_filter_bytes(f->a, -1) < s->end - f->begin)
		return err_set(err, ERR_INPUT, "there are bytes behind the end");
	return 0;
}

static int filter_next(struct stream *s, const uint8_t **data, size_t *len, struct err *err)
{
	struct filter *f = s->state;
	if (f->empty)
		return filter_finished(s, f, err);
	for (;;) {
		const void *block;
		la_int64_t at;
		int r = api.archive_read_data_block(f->a, &block, len, &at);
		if (r == ARCHIVE_EOF)
			return filter_finished(s, f, err);
		if (r != ARCHIVE_OK)
			return filter_fail(f, err);
		if (*len == 0)
			continue;
		*data = block;
		return 1;
	}
}

const struct stream_ops stream_xz = { "xz", xz_begin, filter_next, filter_end };
const struct stream_ops stream_bzip2 = { "bzip2", bzip2_begin, filter_next, filter_end };
