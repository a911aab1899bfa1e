#include "wheel/record.h"

#include <stdlib.h>
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"
#include "wheel/utf8.h"

/* What is left of the text, and the line for messages. */
struct reader {
	const char *p, *end;
	unsigned line;
};

static bool line_ends(const struct reader *r)
{
	return r->p == r->end || *r->p == '\n' || (*r->p == '\r' && (r->p + 1 == r->end || r->p[1] == '\n'));
}

static void skip_line_end(struct reader *r)
{
	if (r->p < r->end && *r->p == '\r')
		r->p++;
	if (r->p < r->end && *r->p == '\n')
		r->p++;
	r->line++;
}

/* A quoted field may hold commas and line breaks; "" in it is one quote. */
static int read_quoted(struct reader *r, struct buf *out, struct err *err)
{
	for (r->p++; r->p < r->end; r->p++) {
		if (*r->p == '"') {
			if (r->p + 1 == r->end || r->p[1] != '"') {
				r->p++;
				return 0;
			}
			r->p++;
		}
		buf_byte(out, *r->p);
	}
	return err_set(err, ERR_INPUT, "line %u: a quote is not closed", r->line);
}

static int read_field(struct reader *r, struct buf *out, struct err *err)
{
	buf_clear(out);
	if (r->p < r->end && *r->p == '"') {
		if (read_quoted(r, out, err))
			return -1;
		if (!line_ends(r) && *r->p != ',')
			return err_set(err, ERR_INPUT, "line %u: text after a closing quote", r->line);
		return 0;
	}
	for (; !line_ends(r) && *r->p != ','; r->p++)
		buf_byte(out, *r->p);
	return 0;
}

static int parse_size(const struct buf *field, int64_t *size)
{
	*size = field->len ? 0 : -1;
	if (field->len > 18)
		return -1;
	for (size_t i = 0; i < field->len; i++) {
		if (field->data[i] < '0' || field->data[i] > '9')
			return -1;
		*size = *size * 10 + (field->data[i] - '0');
	}
	return 0;
}

/* Takes the strings out of the fields. */
static int add_row(struct record *out, struct buf field[3], unsigned line, struct err *err)
{
	int64_t size;
	if (!field[0].len || memchr(field[0].data, '\0', field[0].len))
		return err_set(err, ERR_INPUT, "line %u: no path", line);
	if (parse_size(&field[2], &size))
		return err_set(err, ERR_INPUT, "line %u: the size \"%s\" is not a number", line, field[2].data);
	struct record_row *row = list_push(&out->rows);
	row->path = buf_steal(&field[0]);
	row->hash = buf_steal(&field[1]);
	row->size = size;
	for (char *p = row->path; *p; p++)
		if (*p == '\\')
			*p = '/';
	return 0;
}

static int read_row(struct reader *r, struct record *out, struct err *err)
{
	struct buf field[3] = { BUF_INIT, BUF_INIT, BUF_INIT };
	unsigned line = r->line;
	int n = 0, rc = 0;
	for (;;) {
		rc = read_field(r, &field[n++], err);
		if (rc || n == 3 || line_ends(r))
			break;
		r->p++;
	}
	if (!rc && (n != 3 || !line_ends(r)))
		rc = err_set(err, ERR_INPUT, "line %u: not three fields", line);
	if (!rc)
		rc = add_row(out, field, line, err);
	for (int i = 0; i < 3; i++)
		buf_free(&field[i]);
	return rc;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct record_row *)a)->path, ((const struct record_row *)b)->path);
}

int record_parse(struct slice text, struct record *out, struct err *err)
{
	*out = (struct record){ 0 };
	struct reader r = { text.p, text.p + text.n, 1 };
	if (text.n > RECORD_LIMIT)
		return err_set(err, ERR_INPUT, "RECORD is larger than %u bytes", RECORD_LIMIT);
	if (!utf8_valid(text))
		return err_set(err, ERR_INPUT, "RECORD is not UTF-8");
	for (; r.p < r.end; skip_line_end(&r))
		if (!line_ends(&r) && read_row(&r, out, err)) {
			record_free(out);
			return err_add(err, "RECORD");
		}
	if (out->rows.count)
		qsort(out->rows.items, out->rows.count, sizeof *out->rows.items, by_path);
	for (size_t i = 1; i < out->rows.count; i++)
		if (by_path(&out->rows.items[i - 1], &out->rows.items[i]) == 0) {
			err_set(err, ERR_INPUT, "RECORD lists %s twice", out->rows.items[i].path);
			record_free(out);
			return -1;
		}
	return 0;
}

void record_free(struct record *r)
{
	for (size_t i = 0; i < r->rows.count; i++) {
		free(r->rows.items[i].path);
		free(r->rows.items[i].hash);
	}
	list_free(&r->rows);
}

struct record_row *record_find(const struct record *r, const char *path)
{
	struct record_row key = { .path = (char *)path };
	if (!r->rows.count)
		return NULL;
	return bsearch(&key, r->rows.items, r->rows.count, sizeof key, by_path);
}

void record_line(const char *path, const char *hash, int64_t size, struct buf *out)
{
	if (strpbrk(path, ",\"\r\n")) {
		buf_byte(out, '"');
		for (; *path; path++) {
			if (*path == '"')
				buf_byte(out, '"');
			buf_byte(out, *path);
		}
		buf_byte(out, '"');
	} else {
		buf_str(out, path);
	}
	buf_printf(out, ",%s,", hash);
	if (size >= 0)
		buf_printf(out, "%lld", (long long)size);
	buf_byte(out, '\n');
}

void record_hash(enum digest_kind kind, const uint8_t *digest, size_t len, struct buf *out)
{
	buf_str(out, kind == DIGEST_SHA512 ? "sha512=" : kind == DIGEST_SHA384 ? "sha384=" : "sha256=");
	size_t from = out->len;
	enc_base64(digest, len, out);
	for (size_t i = from; i < out->len; i++) {
		if (out->data[i] == '=') {
			out->len = i;
			out->data[i] = '\0';
			break;
		}
		out->data[i] = out->data[i] == '+' ? '-' : out->data[i] == '/' ? '_' : out->data[i];
	}
}

int record_check_begin(struct record_check *c, const struct record_row *row, struct err *err)
{
	*c = (struct record_check){ .row = row };
	if (!*row->hash)
		return 0;
	const char *sign = strchr(row->hash, '=');
	enum digest_kind kind = sign ? digest_named(row->hash, (size_t)(sign - row->hash)) : DIGEST_NONE;
	if (kind == DIGEST_NONE)
		return err_set(err, ERR_INPUT, "RECORD holds %s to \"%.40s\"; only sha256, sha384 and sha512 will do",
			row->path, row->hash);
	digest_begin(&c->digest, kind);
	return 0;
}

void record_check_update(struct record_check *c, const void *data, size_t len)
{
	c->size += len;
	if (c->digest.kind != DIGEST_NONE)
		digest_update(&c->digest, data, len);
}

int record_check_end(struct record_check *c, struct err *err)
{
	if (c->row->size >= 0 && (uint64_t)c->row->size != c->size)
		return err_set(err, ERR_HASH, "%s is %llu bytes, RECORD says %lld", c->row->path,
			(unsigned long long)c->size, (long long)c->row->size);
	if (c->digest.kind == DIGEST_NONE)
		return 0;
	uint8_t out[DIGEST_MAX];
	enum digest_kind kind = c->digest.kind;
	_cleanup_buf_ struct buf have = BUF_INIT;
	record_hash(kind, out, digest_end(&c->digest, out), &have);
	if (strcmp(have.data, c->row->hash) != 0)
		return err_set(err, ERR_HASH, "%s has %s, RECORD says %s", c->row->path, have.data, c->row->hash);
	return 0;
}
