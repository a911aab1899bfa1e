/* pax records: "LENGTH KEY=VALUE\n" (POSIX.1-2017, pax, "Extended Header"). */
#include "archive/tar_impl.h"

#include <string.h>

#include "archive/name.h"

static int decimal(struct slice text, uint64_t *out)
{
	uint64_t n = 0;
	if (text.n == 0 || text.n > 18)
		return -1;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return -1;
		n = n * 10 + (uint64_t)(text.p[i] - '0');
	}
	*out = n;
	return 0;
}

/* Cut one record off the front. */
static int cut_record(struct slice *rest, struct slice *key, struct slice *value, struct err *err)
{
	struct slice length, tail;
	uint64_t n;
	if (!slice_cut(*rest, ' ', &length, &tail) || decimal(length, &n) || n > rest->n ||
	    n <= length.n + 1 || rest->p[n - 1] != '\n')
		return err_set(err, ERR_INPUT, "a pax record has a bad length");
	struct slice body = { tail.p, n - length.n - 2 };
	if (!slice_cut(body, '=', key, value) || key->n == 0)
		return err_set(err, ERR_INPUT, "a pax record without a key");
	if (memchr(key->p, '\0', key->n))
		return err_set(err, ERR_INPUT, "a NUL byte in the key of a pax record");
	*rest = (struct slice){ rest->p + n, rest->n - n };
	return 0;
}

static int set_text(struct buf *out, bool *has, struct slice value, struct err *err)
{
	if (memchr(value.p, '\0', value.n))
		return err_set(err, ERR_INPUT, "a NUL byte in a name of a pax record");
	buf_clear(out);
	buf_add(out, value.p, value.n);
	*has = value.n > 0; /* an empty value takes back what was said */
	return 0;
}

static int set_number(uint64_t *out, bool *has, struct slice value, struct err *err)
{
	*has = true;
	return decimal(value, out) ? err_set(err, ERR_INPUT, "a size in a pax record is not a number") : 0;
}

static int set_charset(struct tar_extra *x, struct slice value, struct err *err)
{
	x->bytes = slice_is(value, "BINARY");
	if (!x->bytes && !slice_is(value, "ISO-IR 10646 2000 UTF-8"))
		return err_set(err, ERR_INPUT, "names in a charset that is not UTF-8");
	return 0;
}

/* What GNU tar calls sparse format 1.0; the two before it were never written by default. */
static int set_sparse(struct tar_extra *x, struct slice key, struct slice value, struct err *err)
{
	bool ignored;
	x->sparse = true;
	if (slice_is(key, "GNU.sparse.major"))
		x->major1 = slice_is(value, "1");
	else if (slice_is(key, "GNU.sparse.minor"))
		x->minor0 = slice_is(value, "0");
	else if (slice_is(key, "GNU.sparse.name"))
		return set_text(&x->sparse_name, &ignored, value, err);
	else if (slice_is(key, "GNU.sparse.realsize"))
		return set_number(&x->real, &x->has_real, value, err);
	return 0;
}

static bool has_prefix(struct slice s, const char *prefix)
{
	size_t n = strlen(prefix);
	return s.n >= n && memcmp(s.p, prefix, n) == 0;
}

static int set_one(struct tar_extra *x, struct slice key, struct slice value, struct err *err)
{
	if (slice_is(key, "path"))
		return set_text(&x->path, &x->has_path, value, err);
	if (slice_is(key, "linkpath"))
		return set_text(&x->target, &x->has_target, value, err);
	if (slice_is(key, "size"))
		return set_number(&x->size, &x->has_size, value, err);
	if (slice_is(key, "hdrcharset"))
		return set_charset(x, value, err);
	if (has_prefix(key, "GNU.sparse."))
		return set_sparse(x, key, value, err);
	return 0; /* owners, times, attributes, comments: not kept */
}

int tar_pax(struct slice records, bool global, struct tar_extra *x, struct err *err)
{
	while (records.n) {
		struct slice key, value;
		if (cut_record(&records, &key, &value, err))
			return -1;
		if (global && (slice_is(key, "path") || slice_is(key, "linkpath") || slice_is(key, "size") ||
			       slice_is(key, "hdrcharset") || has_prefix(key, "GNU.sparse.")))
			return err_set(err, ERR_INPUT, "a global pax header sets what belongs to one entry");
		if (!global && set_one(x, key, value, err))
			return -1;
	}
	if (global)
		return 0;
	const struct buf *texts[] = { &x->path, &x->target, &x->sparse_name };
	for (size_t i = 0; i < 3 && !x->bytes; i++)
		if (!name_is_utf8((struct slice){ texts[i]->data, texts[i]->len }))
			return err_set(err, ERR_INPUT, "a name in a pax record is not UTF-8");
	return 0;
}

void tar_extra_clear(struct tar_extra *x)
{
	struct tar_extra fresh = { .path = x->path, .target = x->target, .sparse_name = x->sparse_name };
	buf_clear(&fresh.path);
	buf_clear(&fresh.target);
	buf_clear(&fresh.sparse_name);
	*x = fresh;
}

void tar_extra_free(struct tar_extra *x)
{
	buf_free(&x->path);
	buf_free(&x->target);
	buf_free(&x->sparse_name);
}
