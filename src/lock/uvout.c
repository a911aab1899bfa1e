#include "lock/uvout.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/hash.h"
#include "core/mem.h"
#include "lock/requirement.h"
#include "wheel/name.h"

/* Takes " --hash=sha256:…" pieces off the end of *line, which is trimmed. */
static int take_hashes(struct slice *line, struct str_list *hashes, struct err *err)
{
	static const char option[] = " --hash=";
	struct slice rest = { NULL, 0 };
	char *at = memmem(line->p, line->n, option, sizeof option - 1);
	if (at) {
		rest = (struct slice){ at, line->n - (size_t)(at - line->p) };
		line->n -= rest.n;
	}
	while (rest.n) {
		struct slice piece;
		rest = slice_trim(rest);
		slice_cut(rest, ' ', &piece, &rest);
		struct hash hash;
		bool known = piece.n == 7 + 7 + 64 && memcmp(piece.p, "--hash=sha256:", 14) == 0;
		if (!known || hash_parse((struct slice){ piece.p + 14, 64 }, &hash, NULL) < 0)
			return err_set(err, ERR_INPUT, "\"%.*s\" is not a sha256 hash",
				(int)(piece.n < 80 ? piece.n : 80), piece.p);
		str_list_take(hashes, hash_hex(&hash));
		rest = slice_trim(rest);
	}
	return 0;
}

static int parse_pin(struct slice line, struct uvpin *pin, struct err *err)
{
	_cleanup_requirement_ struct requirement r = { 0 };
	if (take_hashes(&line, &pin->hashes, err) < 0 || requirement_parse(slice_trim(line), &r, err) < 0)
		return -1;
	pin->name = wheel_normalise_name(r.name);
	pin->version = requirement_pin(&r);
	if (!pin->version)
		return err_set(err, ERR_INPUT, "%s is not pinned to a version of the index", r.name);
	if (pin->hashes.count == 0)
		return err_set(err, ERR_INPUT, "%s %s has no hash", r.name, pin->version);
	return 0;
}

/* The next line without its line end, with those that end in a backslash joined to one. */
static bool next_line(struct slice *rest, struct buf *line, size_t *number)
{
	buf_clear(line);
	bool more = true;
	while (more && rest->n) {
		struct slice piece;
		slice_cut(*rest, '\n', &piece, rest);
		++*number;
		if (piece.n && piece.p[piece.n - 1] == '\r')
			piece.n--;
		more = piece.n && piece.p[piece.n - 1] == '\\';
		if (line->len)
			buf_byte(line, ' ');
		buf_add(line, piece.p, piece.n - (more ? 1 : 0));
		if (!more)
			return true;
	}
	return line->len > 0;
}

int uvout_parse(struct slice text, struct uvpins *out, struct err *err)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	size_t number = 0;
	if (text.n > UVOUT_LIMIT)
		return err_set(err, ERR_INPUT, "uv printed %zu bytes, at most %u are read", text.n, UVOUT_LIMIT);
	while (next_line(&text, &line, &number)) {
		struct slice s = slice_trim(buf_slice(&line));
		if (s.n == 0 || *s.p == '#')
			continue;
		struct uvpin *pin = list_push(&out->list);
		if (parse_pin(s, pin, err) < 0)
			return err_add(err, "uv's answer, line %zu", number);
	}
	return 0;
}

void uvpins_free(struct uvpins *p)
{
	for (size_t i = 0; i < p->list.count; i++) {
		free(p->list.items[i].name);
		free(p->list.items[i].version);
		str_list_free(&p->list.items[i].hashes);
	}
	list_free(&p->list);
}
