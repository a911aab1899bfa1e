#include "wheel/version.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"

/* ASCII only: the C library's classes follow the locale. */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_sep(char c) { return c == '.' || c == '-' || c == '_'; }
static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

/* What is still to be read, and the normalised text so far. */
struct reader {
	const char *p, *end;
	struct buf out;
};

/* A part of the output, by offsets, since the buffer moves while it grows. */
struct span {
	size_t from, to;
};

static bool at(const struct reader *r, char c)
{
	return r->p < r->end && *r->p == c;
}

/* Digits at p, written without leading zeros; "0" where there are none and a default is wanted. */
static bool read_number(struct reader *r, bool or_zero, struct span *span)
{
	const char *start = r->p;
	while (r->p < r->end && is_digit(*r->p))
		r->p++;
	const char *digits = start;
	if (start == r->p && !or_zero)
		return false;
	while (digits + 1 < r->p && *digits == '0')
		digits++;
	span->from = r->out.len;
	if (start == r->p)
		buf_byte(&r->out, '0');
	else
		buf_add(&r->out, digits, (size_t)(r->p - digits));
	span->to = r->out.len;
	return true;
}

/* One of the spellings at p, in any case; they must stand longest first. */
static const char *read_word(struct reader *r, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		size_t n = strlen(words[i]);
		if ((size_t)(r->end - r->p) < n)
			continue;
		size_t k = 0;
		while (k < n && lower(r->p[k]) == words[i][k])
			k++;
		if (k == n) {
			r->p += n;
			return words[i];
		}
	}
	return NULL;
}

/* [sep] word [sep] [number], written as prefix and number; false and nothing moved if it is not there. */
static bool read_part(struct reader *r, const char *const *words, size_t count, const char **word,
	const char *(*prefix)(const char *word), struct span *number)
{
	const char *start = r->p;
	if (r->p < r->end && is_sep(*r->p))
		r->p++;
	*word = read_word(r, words, count);
	if (!*word) {
		r->p = start;
		return false;
	}
	buf_str(&r->out, prefix(*word));
	/* The grammar allows a separator with no number after it ("1.0a-"); one before a word is that word's. */
	if (r->p < r->end && is_sep(r->p[0]) && (r->end - r->p == 1 || !is_alpha(r->p[1])))
		r->p++;
	read_number(r, true, number);
	return true;
}

static const char *pre_prefix(const char *word)
{
	switch (word[0]) {
	case 'a': return "a";
	case 'b': return "b";
	default: return "rc"; /* c, rc, pre, preview */
	}
}

static const char *post_prefix(const char *word) { return ".post"; }
static const char *dev_prefix(const char *word) { return ".dev"; }

/* Parts of letters and digits, joined by any separator; written lower-case, joined by dots. */
static bool read_local(struct reader *r)
{
	for (;;) {
		const char *start = r->p;
		bool number = true;
		for (; r->p < r->end && (is_digit(*r->p) || is_alpha(*r->p)); r->p++)
			number = number && is_digit(*r->p);
		if (r->p == start)
			return false;
		while (number && start + 1 < r->p && *start == '0')
			start++;
		for (; start < r->p; start++)
			buf_byte(&r->out, lower(*start));
		if (r->p == r->end)
			return true;
		if (!is_sep(*r->p++))
			return false;
		buf_byte(&r->out, '.');
	}
}

static bool read_release(struct reader *r, struct span *epoch, struct span *release)
{
	struct span part;
	if (!read_number(r, false, &part))
		return false;
	*epoch = (struct span){ 0, 0 };
	if (at(r, '!')) {
		r->p++;
		/* An epoch of 0 is not written. */
		if (r->out.len == 1 && r->out.data[0] == '0')
			buf_clear(&r->out);
		else {
			*epoch = part;
			buf_byte(&r->out, '!');
		}
		if (!read_number(r, false, &part))
			return false;
	}
	*release = part;
	while (r->end - r->p >= 2 && r->p[0] == '.' && is_digit(r->p[1])) {
		r->p++;
		buf_byte(&r->out, '.');
		read_number(r, false, &part);
		release->to = part.to;
	}
	return true;
}

static struct slice cut(const char *text, struct span s)
{
	return (struct slice){ text + s.from, s.to - s.from };
}

static bool read_version(struct reader *r, struct version *v)
{
	static const char *const pre[] = { "alpha", "beta", "preview", "pre", "rc", "a", "b", "c" };
	static const char *const post[] = { "post", "rev", "r" };
	static const char *const dev[] = { "dev" };
	struct span epoch, release, number, s_pre = { 0, 0 }, s_post = { 0, 0 }, s_dev = { 0, 0 }, local = { 0, 0 };
	const char *word;
	if (at(r, 'v') || at(r, 'V'))
		r->p++;
	if (!read_release(r, &epoch, &release))
		return false;
	if (read_part(r, pre, sizeof pre / sizeof *pre, &word, pre_prefix, &number)) {
		v->pre_kind = pre_prefix(word)[0];
		s_pre = number;
	}
	if (r->end - r->p >= 2 && r->p[0] == '-' && is_digit(r->p[1])) { /* "1.0-3" is 1.0.post3 */
		r->p++;
		buf_str(&r->out, ".post");
		v->has_post = read_number(r, false, &s_post);
	} else if (read_part(r, post, sizeof post / sizeof *post, &word, post_prefix, &s_post)) {
		v->has_post = true;
	}
	v->has_dev = read_part(r, dev, 1, &word, dev_prefix, &s_dev);
	if (at(r, '+')) {
		r->p++;
		buf_byte(&r->out, '+');
		local.from = r->out.len;
		if (!read_local(r))
			return false;
		local.to = r->out.len;
	}
	if (r->p != r->end)
		return false;
	v->text = buf_steal(&r->out);
	v->epoch = epoch.to ? cut(v->text, epoch) : SLICE("0");
	v->release = cut(v->text, release);
	v->pre = cut(v->text, s_pre);
	v->post = cut(v->text, s_post);
	v->dev = cut(v->text, s_dev);
	v->local = cut(v->text, local);
	return true;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct slice strip(struct slice s)
{
	while (s.n && is_space(s.p[0]))
		s.p++, s.n--;
	while (s.n && is_space(s.p[s.n - 1]))
		s.n--;
	return s;
}

int version_parse(struct slice text, struct version *out, struct err *err)
{
	struct slice s = strip(text);
	struct reader r = { s.p, s.p + s.n, BUF_INIT };
	*out = (struct version){ 0 };
	if (s.n > VERSION_LIMIT)
		return err_set(err, ERR_INPUT, "a version of %zu characters is too long", s.n);
	if (!read_version(&r, out)) {
		buf_free(&r.out);
		*out = (struct version){ 0 };
		return err_set(err, ERR_INPUT, "\"%.*s\" is not a version (PEP 440)", (int)text.n, text.p);
	}
	return 0;
}

void version_free(struct version *v)
{
	free(v->text);
	*v = (struct version){ 0 };
}

struct slice version_public(const struct version *v)
{
	size_t n = strlen(v->text);
	return (struct slice){ v->text, v->local.n ? n - v->local.n - 1 : n };
}

bool version_is_prerelease(const struct version *v)
{
	return v->pre_kind || v->has_dev;
}

int version_local_parse(struct slice text, char **out, struct err *err)
{
	struct reader r = { text.p, text.p + text.n, BUF_INIT };
	if (text.n > VERSION_LIMIT || !read_local(&r)) {
		buf_free(&r.out);
		return err_set(err, ERR_INPUT, "\"%.*s\" is not a local version (PEP 440)", (int)text.n, text.p);
	}
	*out = buf_steal(&r.out);
	return 0;
}
