/* NARs from outside: what is accepted, in pieces of any size, is written back byte for byte. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "drv/nar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int to_buf(void *ctx, const void *data, size_t len, struct err *err)
{
	(void)err;
	buf_add(ctx, data, len);
	return 0;
}

/* A name or place that the reader let through and the writer does not is a fault of one of them. */
static int must(int rc)
{
	if (rc < 0)
		abort();
	return rc;
}

static void enter(void *w, const char *name)
{
	if (name)
		must(nar_entry(w, name, NULL));
}

static int on_folder(void *w, const char *name, struct err *err)
{
	enter(w, name);
	return nar_begin_folder(w, err); /* too deep for both of them */
}

static int on_end_folder(void *w, struct err *err)
{
	return must(nar_end_folder(w, err));
}

static int on_link(void *w, const char *name, const char *target, struct err *err)
{
	enter(w, name);
	return must(nar_link(w, target, err));
}

static int on_file(void *w, const char *name, bool executable, uint64_t size, struct err *err)
{
	enter(w, name);
	return must(nar_begin_file(w, executable, size, err));
}

static int on_data(void *w, const void *data, size_t len, struct err *err)
{
	return must(nar_file_data(w, data, len, err));
}

static int on_end_file(void *w, struct err *err)
{
	return must(nar_end_file(w, err));
}

static const struct nar_events events = { on_folder, on_end_folder, on_link, on_file, on_data, on_end_file };

static int read_nar(const uint8_t *data, size_t size, size_t piece, struct buf *again)
{
	struct nar_writer *w = nar_writer_new(to_buf, again);
	struct nar_reader *r = nar_reader_new(&events, w);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < size; i += piece)
		rc = nar_reader_feed(r, data + i, size - i < piece ? size - i : piece, NULL);
	if (rc == 0)
		rc = nar_reader_end(r, NULL);
	if (rc == 0)
		must(nar_finish(w, NULL));
	nar_reader_free(r);
	nar_writer_free(w);
	return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_buf_ struct buf again = BUF_INIT, in_pieces = BUF_INIT;
	int rc = read_nar(data, size, size + 1, &again);
	if (read_nar(data, size, 5, &in_pieces) != rc)
		abort();
	if (rc == 0 && (again.len != size || memcmp(again.data, data, size) != 0 ||
		in_pieces.len != size || memcmp(in_pieces.data, data, size) != 0))
		abort();
	return 0;
}
