/*
 * Reading the NAR form, fed with pieces of any size.  The archive comes from
 * outside: it is accepted only where it is byte for byte what a writer makes,
 * and nothing is allocated on the word of a length field.
 */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "core/mem.h"
#include "drv/nar.h"
#include "drv/nar_names.h"

#define WORD_MAX 16 /* bytes of the form's own words */

/* What has to come next. */
enum step {
	MAGIC, OPEN, TYPE, KIND, FILE_FIELD, EXECUTABLE_EMPTY, CONTENTS, CLOSE,
	TARGET, TARGET_TEXT, IN_FOLDER, ENTRY_OPEN, NAME, NAME_TEXT, NODE, ENTRY_CLOSE, END,
	STEPS,
};

/* What is being taken in: a string (its length, then its text), or a file's contents. */
enum part { LENGTH, TEXT, SIZE, DATA, PADDING };

struct nar_reader {
	const struct nar_events *events;
	void *ctx;
	enum step step;
	enum part part;
	bool executable, broken;
	struct buf text;   /* a string so far, with its padding; or the bytes of a length */
	uint64_t len;      /* of the string or contents */
	uint64_t left;     /* of contents or their padding */
	uint64_t at;       /* bytes taken so far, for errors */
	struct nar_names names;
};

/* The steps where only one word will do. */
static const struct {
	const char *word;
	enum step next;
} steps[STEPS] = {
	[MAGIC] = { NAR_MAGIC, OPEN },
	[OPEN] = { "(", TYPE },
	[TYPE] = { "type", KIND },
	[EXECUTABLE_EMPTY] = { "", CONTENTS },
	[CONTENTS] = { "contents", CLOSE },
	[CLOSE] = { ")", ENTRY_CLOSE },
	[TARGET] = { "target", TARGET_TEXT },
	[ENTRY_OPEN] = { "(", NAME },
	[NAME] = { "name", NAME_TEXT },
	[NODE] = { "node", OPEN },
	[ENTRY_CLOSE] = { ")", IN_FOLDER },
};

struct nar_reader *nar_reader_new(const struct nar_events *events, void *ctx)
{
	struct nar_reader *r = mem_alloc(sizeof *r);
	r->events = events;
	r->ctx = ctx;
	return r;
}

void nar_reader_free(struct nar_reader *r)
{
	if (!r)
		return;
	buf_free(&r->text);
	buf_free(&r->names.text);
	free(r);
}

static int bad(struct nar_reader *r, const char *what, struct err *err)
{
	return err_set(err, ERR_INPUT, "not a valid NAR: %s at byte %llu", what, (unsigned long long)r->at);
}

/* The name of the node at work: the last one in the innermost folder; none for the root. */
static const char *node_name(const struct nar_reader *r)
{
	return r->names.depth ? r->names.text.data + r->names.at[r->names.depth - 1] : NULL;
}

static enum step after_node(const struct nar_reader *r)
{
	return r->names.depth ? ENTRY_CLOSE : END;
}

static int begin_folder(struct nar_reader *r, struct err *err)
{
	if (r->events->folder && r->events->folder(r->ctx, node_name(r), err) < 0)
		return -1;
	r->step = IN_FOLDER;
	return nar_names_open(&r->names, err);
}

static int end_folder(struct nar_reader *r, struct err *err)
{
	nar_names_close(&r->names);
	r->step = after_node(r);
	return r->events->end_folder ? r->events->end_folder(r->ctx, err) : 0;
}

static int take_kind(struct nar_reader *r, struct slice word, struct err *err)
{
	r->executable = false;
	if (slice_is(word, "directory"))
		return begin_folder(r, err);
	if (!slice_is(word, "regular") && !slice_is(word, "symlink"))
		return bad(r, "an unknown type of file", err);
	r->step = word.p[0] == 'r' ? FILE_FIELD : TARGET;
	return 0;
}

static int take_file_field(struct nar_reader *r, struct slice word, struct err *err)
{
	r->executable = slice_is(word, "executable");
	if (!r->executable && !slice_is(word, "contents"))
		return bad(r, "a file without contents", err);
	r->step = r->executable ? EXECUTABLE_EMPTY : CLOSE;
	r->part = r->executable ? LENGTH : SIZE;
	return 0;
}

static int take_in_folder(struct nar_reader *r, struct slice word, struct err *err)
{
	if (slice_is(word, ")"))
		return end_folder(r, err);
	if (!slice_is(word, "entry"))
		return bad(r, "neither an entry nor the end of a folder", err);
	r->step = ENTRY_OPEN;
	return 0;
}

static int take_name(struct nar_reader *r, struct slice name, struct err *err)
{
	r->step = NODE;
	return nar_names_next(&r->names, name, err) < 0 ? err_add(err, "not a valid NAR") : 0;
}

static int take_target(struct nar_reader *r, struct slice target, struct err *err)
{
	r->step = CLOSE;
	if (memchr(target.p, '\0', target.n))
		return bad(r, "a link's target with a NUL byte", err);
	r->text.data[target.n] = '\0'; /* over the padding */
	return r->events->link ? r->events->link(r->ctx, node_name(r), r->text.data, err) : 0;
}

static int take_word(struct nar_reader *r, struct slice word, struct err *err)
{
	if (!slice_is(word, steps[r->step].word))
		return err_set(err, ERR_INPUT, "not a valid NAR: '%s' expected before byte %llu", steps[r->step].word,
			(unsigned long long)r->at);
	r->part = r->step == CONTENTS ? SIZE : LENGTH;
	r->step = r->step == CLOSE ? after_node(r) : steps[r->step].next;
	return 0;
}

/* A whole string is there: r->len bytes of r->text. */
static int take_text(struct nar_reader *r, struct err *err)
{
	struct slice text = { r->text.data, (size_t)r->len };
	for (size_t i = text.n; i < r->text.len; i++)
		if (r->text.data[i])
			return bad(r, "padding that is not zero", err);
	r->part = LENGTH;
	switch (r->step) {
	case KIND:
		return take_kind(r, text, err);
	case FILE_FIELD:
		return take_file_field(r, text, err);
	case IN_FOLDER:
		return take_in_folder(r, text, err);
	case NAME_TEXT:
		return take_name(r, text, err);
	case TARGET_TEXT:
		return take_target(r, text, err);
	default:
		return take_word(r, text, err);
	}
}

static int end_contents(struct nar_reader *r, struct err *err)
{
	r->part = LENGTH;
	return r->events->end_file ? r->events->end_file(r->ctx, err) : 0;
}

static int begin_padding(struct nar_reader *r, struct err *err)
{
	r->part = PADDING;
	r->left = nar_padding(r->len);
	return r->left ? 0 : end_contents(r, err);
}

static int begin_contents(struct nar_reader *r, struct err *err)
{
	r->part = DATA;
	r->left = r->len;
	if (r->len > INT64_MAX)
		return bad(r, "a file of a size that can't be", err);
	if (r->events->file && r->events->file(r->ctx, node_name(r), r->executable, r->len, err) < 0)
		return -1;
	return r->left ? 0 : begin_padding(r, err);
}

static int take_length(struct nar_reader *r, struct err *err)
{
	uint64_t len;
	memcpy(&len, r->text.data, sizeof len);
	r->len = le64toh(len);
	buf_clear(&r->text);
	if (r->part == SIZE)
		return begin_contents(r, err);
	size_t limit = r->step == NAME_TEXT ? NAR_NAME_MAX : r->step == TARGET_TEXT ? NAR_TARGET_MAX : WORD_MAX;
	if (r->len > limit)
		return bad(r, "a string that is too long", err);
	r->part = TEXT;
	return r->len ? 0 : take_text(r, err);
}

/* Gather up to want bytes in r->text: how many of the n were taken. */
static size_t gather(struct nar_reader *r, const char *p, size_t n, size_t want)
{
	size_t take = want - r->text.len < n ? want - r->text.len : n;
	buf_add(&r->text, p, take);
	r->at += take;
	return take;
}

static ssize_t feed_string(struct nar_reader *r, const char *p, size_t n, struct err *err)
{
	size_t want = r->part == TEXT ? (size_t)r->len + nar_padding(r->len) : sizeof r->len;
	size_t taken = gather(r, p, n, want);
	if (r->text.len < want)
		return (ssize_t)taken;
	if (r->part != TEXT)
		return take_length(r, err) < 0 ? -1 : (ssize_t)taken;
	if (take_text(r, err) < 0)
		return -1;
	buf_clear(&r->text);
	return (ssize_t)taken;
}

static ssize_t feed_data(struct nar_reader *r, const char *p, size_t n, struct err *err)
{
	size_t take = r->left < n ? (size_t)r->left : n;
	if (r->events->data && r->events->data(r->ctx, p, take, err) < 0)
		return -1;
	r->at += take;
	r->left -= take;
	return r->left == 0 && begin_padding(r, err) < 0 ? -1 : (ssize_t)take;
}

static ssize_t feed_padding(struct nar_reader *r, const char *p, size_t n, struct err *err)
{
	size_t take = r->left < n ? (size_t)r->left : n;
	for (size_t i = 0; i < take; i++)
		if (p[i])
			return bad(r, "padding that is not zero", err);
	r->at += take;
	r->left -= take;
	return r->left == 0 && end_contents(r, err) < 0 ? -1 : (ssize_t)take;
}

/* How many bytes were taken, at least one; -1 on error. */
static ssize_t feed_some(struct nar_reader *r, const char *p, size_t n, struct err *err)
{
	if (r->step == END)
		return bad(r, "something after the end", err);
	if (r->part == DATA)
		return feed_data(r, p, n, err);
	return r->part == PADDING ? feed_padding(r, p, n, err) : feed_string(r, p, n, err);
}

int nar_reader_feed(struct nar_reader *r, const void *data, size_t len, struct err *err)
{
	if (r->broken)
		return bad(r, "it was refused before", err);
	for (const char *p = data, *end = p + len; p < end;) {
		ssize_t taken = feed_some(r, p, (size_t)(end - p), err);
		if (taken < 0) {
			r->broken = true;
			return -1;
		}
		p += taken;
	}
	return 0;
}

int nar_reader_end(struct nar_reader *r, struct err *err)
{
	return r->step == END && !r->broken ? 0 : bad(r, "it is cut off", err);
}
