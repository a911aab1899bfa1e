#include "archive/tar_impl.h"

#include <stdlib.h>
#include <string.h>

#include "archive/name.h"
#include "core/mem.h"

#define PAX_LIMIT  (1024 * 1024) /* bytes of one extension header */
#define NAME_LIMIT (64 * 1024)   /* of one GNU long name */

struct tar *tar_new(struct stream *s, uint64_t limit)
{
	struct tar *t = mem_alloc(sizeof *t);
	t->s = s;
	t->left = limit;
	return t;
}

void tar_allow_special(struct tar *t)
{
	t->special = true;
}

void tar_free(struct tar *t)
{
	if (!t)
		return;
	tar_extra_free(&t->x);
	buf_free(&t->name);
	buf_free(&t->target);
	list_free(&t->map);
	free(t);
}

void tar_free_ptr(struct tar **t)
{
	tar_free(*t);
	*t = NULL;
}

/* Have a piece of the stream at hand: 1, 0 at its end. */
static int fill(struct tar *t, struct err *err)
{
	if (t->piece_len)
		return 1;
	int r = stream_next(t->s, &t->piece, &t->piece_len, err);
	if (r <= 0)
		return r;
	if (t->piece_len > t->left)
		return err_set(err, ERR_INPUT, "the archive is larger than its limit");
	t->left -= t->piece_len;
	return 1;
}

static void use(struct tar *t, size_t len)
{
	t->piece += len;
	t->piece_len -= len;
}

/* Like tar_read, but the stream may end before the first byte: 1, 0 at its end. */
static int read_block(struct tar *t, void *out, size_t len, struct err *err)
{
	for (size_t got = 0; got < len; ) {
		int r = fill(t, err);
		if (r < 0 || (r == 0 && got == 0))
			return r;
		if (r == 0)
			return err_set(err, ERR_INPUT, "the archive is cut off");
		size_t n = t->piece_len < len - got ? t->piece_len : len - got;
		memcpy((char *)out + got, t->piece, n);
		use(t, n);
		got += n;
	}
	return 1;
}

int tar_read(struct tar *t, void *out, size_t len, struct err *err)
{
	int r = len ? read_block(t, out, len, err) : 1;
	if (r == 0)
		return err_set(err, ERR_INPUT, "the archive is cut off");
	return r < 0 ? -1 : 0;
}

static int skip_padding(struct tar *t, struct err *err)
{
	char block[TAR_BLOCK];
	size_t n = (size_t)t->padding;
	t->padding = 0;
	return tar_read(t, block, n, err);
}

static int skip_content(struct tar *t, struct err *err)
{
	const uint8_t *data;
	size_t len;
	uint64_t at;
	int r;
	while ((r = tar_data(t, &data, &len, &at, err)) > 0)
		;
	return r < 0 ? -1 : skip_padding(t, err);
}

/* The content of an extension header, whole. */
static int read_extension(struct tar *t, uint64_t size, uint64_t limit, struct buf *out, struct err *err)
{
	if (size > limit)
		return err_set(err, ERR_INPUT, "an extension header of more than %llu bytes",
			(unsigned long long)limit);
	buf_clear(out);
	if (tar_read(t, buf_grow(out, size + 1), size, err))
		return -1;
	out->len = size;
	t->padding = -size % TAR_BLOCK;
	return skip_padding(t, err);
}

static int read_pax(struct tar *t, uint64_t size, bool global, struct err *err)
{
	_cleanup_buf_ struct buf records = BUF_INIT;
	if (read_extension(t, size, PAX_LIMIT, &records, err))
		return -1;
	t->x.any = t->x.any || !global;
	return tar_pax(buf_slice(&records), global, &t->x, err);
}

static int read_long(struct tar *t, uint64_t size, struct buf *out, bool *has, struct err *err)
{
	if (*has)
		return err_set(err, ERR_INPUT, "two long names for one entry");
	if (read_extension(t, size, NAME_LIMIT, out, err))
		return -1;
	size_t n = strnlen(out->data, out->len);
	if (n == 0 || n + 1 < out->len)
		return err_set(err, ERR_INPUT, "a NUL byte in a long name");
	out->len = n;
	*has = t->x.any = true;
	return 0;
}

/* An extension header is read into t->x: 1; h is an entry: 0. */
static int extension(struct tar *t, const struct tar_header *h, struct err *err)
{
	if (!strchr("xgLKX", h->type) || !h->type)
		return 0;
	uint64_t size;
	bool pax = h->type == 'x' || h->type == 'X';
	/* GNU long names may stand together; nothing else may come between a header and its entry. */
	bool apart = !t->x.any || (!pax && h->type != 'g' && !t->x.has_size && !t->x.sparse);
	if (!apart)
		return err_set(err, ERR_INPUT, "an extension header without its entry");
	if (tar_number(h->size, sizeof h->size, &size, err))
		return -1;
	int rc = h->type == 'L' ? read_long(t, size, &t->x.path, &t->x.has_path, err) :
		h->type == 'K' ? read_long(t, size, &t->x.target, &t->x.has_target, err) :
		read_pax(t, size, h->type == 'g', err);
	return rc < 0 ? -1 : 1;
}

static int kind_of(const struct tar *t, const struct tar_header *h, enum tar_kind *kind, struct err *err)
{
	if (t->special && h->type && strchr("346", h->type)) {
		*kind = TAR_SPECIAL;
		return 0;
	}
	switch (h->type) {
	case '0': case '\0': case '7': case 'S':
		*kind = TAR_FILE;
		return 0;
	case '1':
		*kind = TAR_HARDLINK;
		return 0;
	case '2':
		*kind = TAR_SYMLINK;
		return 0;
	case '5':
		*kind = TAR_FOLDER;
		return 0;
	case '3': case '4':
		return err_set(err, ERR_INPUT, "a device");
	case '6':
		return err_set(err, ERR_INPUT, "a fifo");
	default:
		return err_set(err, ERR_INPUT, "an entry of an unknown kind (0x%02x)", (unsigned char)h->type);
	}
}

/* Set t->name and t->target from the header and what extensions said. */
static void set_names(struct tar *t, const struct tar_header *h)
{
	struct tar_extra *x = &t->x;
	const struct buf *name = x->sparse && x->sparse_name.len ? &x->sparse_name : x->has_path ? &x->path : NULL;
	buf_clear(&t->target);
	buf_str(&t->target, "");
	if (name) {
		buf_clear(&t->name);
		buf_str(&t->name, "");
		buf_add(&t->name, name->data, name->len);
	} else {
		tar_header_name(h, &t->name);
	}
	struct slice target = tar_text(h->target, sizeof h->target);
	if (x->has_target)
		target = buf_slice(&x->target);
	buf_add(&t->target, target.p, target.n);
}

/* How the content of a file lies in the archive: t->map, t->padding, e->size. */
static int set_content(struct tar *t, const struct tar_header *h, uint64_t stored, struct tar_entry *e,
	struct err *err)
{
	struct tar_extra *x = &t->x;
	e->size = stored;
	t->padding = -stored % TAR_BLOCK;
	if (h->type == 'S')
		return tar_sparse_gnu(t, h, stored, &e->size, err);
	if (x->sparse) {
		if (!x->major1 || !x->minor0 || !x->has_real)
			return err_set(err, ERR_INPUT, "a sparse file in a form that is not supported (pax 1.0 is)");
		e->size = x->real;
		return tar_sparse_pax(t, &stored, x->real, err);
	}
	*list_push(&t->map) = (struct tar_stretch){ 0, stored };
	return 0;
}

/* V7 tars had no type for folders: a name ending in "/" told. */
static bool is_v7_folder(const struct tar *t, const struct tar_header *h, uint64_t size)
{
	return h->type == '\0' && memcmp(h->magic, "ustar", 5) && size == 0 &&
		t->name.len && t->name.data[t->name.len - 1] == '/';
}

static int set_entry(struct tar *t, const struct tar_header *h, struct tar_entry *e, struct err *err)
{
	uint64_t size, mode;
	*e = (struct tar_entry){ 0 };
	set_names(t, h);
	if (kind_of(t, h, &e->kind, err) || tar_number(h->size, sizeof h->size, &size, err) ||
	    tar_number(h->mode, sizeof h->mode, &mode, err))
		return -1;
	if (t->x.has_size)
		size = t->x.size;
	if (is_v7_folder(t, h, size))
		e->kind = TAR_FOLDER;
	else if (e->kind != TAR_FOLDER && t->name.len && t->name.data[t->name.len - 1] == '/')
		return err_set(err, ERR_INPUT, "the name ends in \"/\" but it is no folder");
	e->exec = mode & 0111;
	e->name = buf_slice(&t->name);
	e->target = buf_slice(&t->target);
	if (e->kind == TAR_FILE)
		return set_content(t, h, size, e, err);
	if (size || t->x.sparse)
		return err_set(err, ERR_INPUT, "an entry that is no file but has content");
	return 0;
}

/* Behind the end mark: nothing but zeros, to the end of the stream. */
static int finish(struct tar *t, struct err *err)
{
	int r;
	if (t->x.any)
		return err_set(err, ERR_INPUT, "an extension header without its entry");
	while ((r = fill(t, err)) > 0) {
		for (size_t i = 0; i < t->piece_len; i++)
			if (t->piece[i])
				return err_set(err, ERR_INPUT, "there are bytes behind the end of the archive");
		t->piece_len = 0;
	}
	return r;
}

int tar_next(struct tar *t, struct tar_entry *e, struct err *err)
{
	static const struct tar_header zero;
	struct tar_header h;
	if (skip_content(t, err))
		return -1;
	t->map.count = t->stretch = 0;
	t->done = 0;
	tar_extra_clear(&t->x);
	for (;;) {
		int r = read_block(t, &h, sizeof h, err);
		if (r == 0)
			return err_set(err, ERR_INPUT, "the archive has no end mark: it is cut off, or not a tar");
		if (r < 0)
			return -1;
		if (memcmp(&h, &zero, sizeof h) == 0)
			return finish(t, err);
		if (tar_header_check(&h, err))
			return -1;
		r = extension(t, &h, err);
		if (r < 0)
			return -1;
		if (r == 0 && set_entry(t, &h, e, err)) {
			_cleanup_free_ char *shown = name_show(t->name.data);
			return err_add(err, "%s", shown);
		}
		if (r == 0)
			return 1;
	}
}

int tar_data(struct tar *t, const uint8_t **data, size_t *len, uint64_t *at, struct err *err)
{
	while (t->stretch < t->map.count && t->done == t->map.items[t->stretch].len) {
		t->stretch++;
		t->done = 0;
	}
	if (t->stretch == t->map.count)
		return 0;
	const struct tar_stretch *m = &t->map.items[t->stretch];
	int r = fill(t, err);
	if (r <= 0)
		return r < 0 ? -1 : err_set(err, ERR_INPUT, "the archive is cut off");
	*len = t->piece_len < m->len - t->done ? t->piece_len : (size_t)(m->len - t->done);
	*data = t->piece;
	*at = m->at + t->done;
	use(t, *len);
	t->done += *len;
	return 1;
}
