/* Writing the NAR form.  Small pieces are gathered, file contents go to the sink as they come. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "drv/nar.h"
#include "drv/nar_names.h"

#define GATHER 65536  /* bytes gathered before the sink is called */
#define DIRECT 4096   /* contents of at least this size are not copied */

enum state { BEGIN, WANT_NODE, IN_FOLDER, IN_FILE, WHOLE, FINISHED };

struct nar_writer {
	nar_sink_fn *sink;
	void *ctx;
	enum state state;
	uint64_t size, left;     /* of the file that is being written */
	struct nar_names names;
	struct buf out;
};

struct nar_writer *nar_writer_new(nar_sink_fn *sink, void *ctx)
{
	struct nar_writer *w = mem_alloc(sizeof *w);
	w->sink = sink;
	w->ctx = ctx;
	return w;
}

void nar_writer_free(struct nar_writer *w)
{
	if (!w)
		return;
	buf_free(&w->names.text);
	buf_free(&w->out);
	free(w);
}

static int flush(struct nar_writer *w, struct err *err)
{
	if (w->out.len > 0 && w->sink(w->ctx, w->out.data, w->out.len, err) < 0)
		return -1;
	w->out.len = 0;
	return 0;
}

static int flush_if_full(struct nar_writer *w, struct err *err)
{
	return w->out.len < GATHER ? 0 : flush(w, err);
}

static void put_number(struct nar_writer *w, uint64_t n)
{
	n = htole64(n);
	buf_add(&w->out, &n, sizeof n);
}

static void put_padding(struct nar_writer *w, uint64_t len)
{
	buf_add(&w->out, "\0\0\0\0\0\0\0", nar_padding(len));
}

static void put_text(struct nar_writer *w, const char *text, size_t len)
{
	put_number(w, len);
	buf_add(&w->out, text, len);
	put_padding(w, len);
}

static void put_word(struct nar_writer *w, const char *word)
{
	put_text(w, word, strlen(word));
}

static int misused(struct err *err)
{
	return err_set(err, ERR_FAIL, "the parts of a NAR come in the wrong order");
}

/* "(" "type" type, where a node is due. */
static int begin_node(struct nar_writer *w, const char *type, struct err *err)
{
	if (w->state == BEGIN)
		put_word(w, NAR_MAGIC);
	else if (w->state != WANT_NODE)
		return misused(err);
	put_word(w, "(");
	put_word(w, "type");
	put_word(w, type);
	return 0;
}

static int end_node(struct nar_writer *w, struct err *err)
{
	put_word(w, ")");
	w->state = WHOLE;
	if (w->names.depth > 0) {
		put_word(w, ")"); /* of the entry */
		w->state = IN_FOLDER;
	}
	return flush_if_full(w, err);
}

int nar_begin_folder(struct nar_writer *w, struct err *err)
{
	if (begin_node(w, "directory", err) < 0)
		return -1;
	w->state = IN_FOLDER;
	return nar_names_open(&w->names, err);
}

int nar_entry(struct nar_writer *w, const char *name, struct err *err)
{
	struct slice text = slice_of(name);
	if (w->state != IN_FOLDER)
		return misused(err);
	if (nar_names_next(&w->names, text, err) < 0)
		return -1;
	put_word(w, "entry");
	put_word(w, "(");
	put_word(w, "name");
	put_text(w, text.p, text.n);
	put_word(w, "node");
	w->state = WANT_NODE;
	return 0;
}

int nar_end_folder(struct nar_writer *w, struct err *err)
{
	if (w->state != IN_FOLDER)
		return misused(err);
	nar_names_close(&w->names);
	return end_node(w, err);
}

int nar_link(struct nar_writer *w, const char *target, struct err *err)
{
	size_t len = strlen(target);
	if (len > NAR_TARGET_MAX)
		return err_set(err, ERR_INPUT, "a link's target of more than %d bytes", NAR_TARGET_MAX);
	if (begin_node(w, "symlink", err) < 0)
		return -1;
	put_word(w, "target");
	put_text(w, target, len);
	return end_node(w, err);
}

int nar_begin_file(struct nar_writer *w, bool executable, uint64_t size, struct err *err)
{
	if (begin_node(w, "regular", err) < 0)
		return -1;
	if (executable) {
		put_word(w, "executable");
		put_word(w, "");
	}
	put_word(w, "contents");
	put_number(w, size);
	w->size = w->left = size;
	w->state = IN_FILE;
	return 0;
}

int nar_file_data(struct nar_writer *w, const void *data, size_t len, struct err *err)
{
	if (w->state != IN_FILE)
		return misused(err);
	if (len > w->left)
		return err_set(err, ERR_FAIL, "a file has more than the %llu bytes it began with",
			(unsigned long long)w->size);
	w->left -= len;
	if (len < DIRECT) {
		buf_add(&w->out, data, len);
		return flush_if_full(w, err);
	}
	return flush(w, err) < 0 ? -1 : w->sink(w->ctx, data, len, err);
}

int nar_end_file(struct nar_writer *w, struct err *err)
{
	if (w->state != IN_FILE)
		return misused(err);
	if (w->left > 0)
		return err_set(err, ERR_FAIL, "a file has %llu bytes fewer than the %llu it began with",
			(unsigned long long)w->left, (unsigned long long)w->size);
	put_padding(w, w->size);
	return end_node(w, err);
}

int nar_finish(struct nar_writer *w, struct err *err)
{
	if (w->state != WHOLE)
		return misused(err);
	w->state = FINISHED;
	return flush(w, err);
}
