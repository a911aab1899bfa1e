#include "fetch/html.h"

#include <string.h>
#include <strings.h>

#include "core/buf.h"

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool same(struct slice text, const char *word)
{
	return text.n == strlen(word) && strncasecmp(text.p, word, text.n) == 0;
}

static void skip(struct slice *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

/* Past the next occurrence of mark, or to the end. */
static void skip_past(struct slice *s, const char *mark)
{
	const char *at = memmem(s->p, s->n, mark, strlen(mark));
	skip(s, at ? (size_t)(at - s->p) + strlen(mark) : s->n);
}

/* What stands in these elements is no markup until their own end tag. */
static bool is_raw(struct slice name)
{
	return same(name, "script") || same(name, "style") || same(name, "title") || same(name, "textarea");
}

static void skip_raw(struct slice *s, struct slice name)
{
	for (; s->n; skip(s, 1)) {
		const char *at = memchr(s->p, '<', s->n);
		if (!at)
			break;
		skip(s, (size_t)(at - s->p));
		if (s->n > name.n + 2 && s->p[1] == '/' && strncasecmp(s->p + 2, name.p, name.n) == 0 &&
				!is_letter(s->p[2 + name.n]))
			return;
	}
	skip(s, s->n);
}

/* The length of a tag's attributes: to the > that stands outside quotes. */
static size_t attributes_length(struct slice s)
{
	char quote = 0;
	bool value = false; /* after =, where a quote opens */
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		if (quote) {
			quote = c == quote ? 0 : quote;
		} else if (c == '>') {
			return i;
		} else if (value && (c == '"' || c == '\'')) {
			quote = c;
			value = false;
		} else if (!is_space(c)) {
			value = c == '=';
		}
	}
	return s.n;
}

bool html_next(struct html *h)
{
	struct slice *s = &h->rest;
	if (h->name.n && !h->closing && is_raw(h->name))
		skip_raw(s, h->name);
	for (;;) {
		const char *at = s->n ? memchr(s->p, '<', s->n) : NULL;
		if (!at)
			return false;
		skip(s, (size_t)(at - s->p) + 1);
		if (s->n >= 3 && memcmp(s->p, "!--", 3) == 0) {
			skip(s, 1); /* not more: "<!-->" is a whole comment */
			skip_past(s, "-->");
			continue;
		}
		h->closing = s->n && s->p[0] == '/';
		if (h->closing)
			skip(s, 1);
		if (s->n && is_letter(s->p[0]))
			break;
		if (s->n && (s->p[0] == '!' || s->p[0] == '?'))
			skip_past(s, ">");
	}
	size_t n = 0;
	while (n < s->n && !is_space(s->p[n]) && s->p[n] != '>' && s->p[n] != '/')
		n++;
	h->name = (struct slice){ s->p, n };
	skip(s, n);
	n = attributes_length(*s);
	h->attributes = (struct slice){ s->p, n };
	skip(s, n < s->n ? n + 1 : n);
	return true;
}

bool html_is(const struct html *h, const char *name)
{
	return !h->closing && same(h->name, name);
}

static void add_utf8(struct buf *out, unsigned c)
{
	if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
		c = 0xfffd;
	if (c < 0x80) {
		buf_byte(out, (char)c);
	} else if (c < 0x800) {
		buf_byte(out, (char)(0xc0 | c >> 6));
		buf_byte(out, (char)(0x80 | (c & 0x3f)));
	} else if (c < 0x10000) {
		buf_byte(out, (char)(0xe0 | c >> 12));
		buf_byte(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_byte(out, (char)(0x80 | (c & 0x3f)));
	} else {
		buf_byte(out, (char)(0xf0 | c >> 18));
		buf_byte(out, (char)(0x80 | (c >> 12 & 0x3f)));
		buf_byte(out, (char)(0x80 | (c >> 6 & 0x3f)));
		buf_byte(out, (char)(0x80 | (c & 0x3f)));
	}
}

static int digit(char c, unsigned base)
{
	int d = c >= '0' && c <= '9' ? c - '0' : is_letter(c) ? (c | 0x20) - 'a' + 10 : 99;
	return d < (int)base ? d : -1;
}

/* "#38", "#x26": bytes read, 0 where it is none. */
static size_t numeric(struct slice s, struct buf *out)
{
	unsigned base = 10, value = 0;
	size_t i = 1;
	if (s.n > 1 && (s.p[1] | 0x20) == 'x') {
		base = 16;
		i = 2;
	}
	size_t first = i;
	for (; i < s.n && digit(s.p[i], base) >= 0; i++)
		if (value <= 0x10ffff)
			value = value * base + (unsigned)digit(s.p[i], base);
	if (i == first)
		return 0;
	add_utf8(out, value);
	return i < s.n && s.p[i] == ';' ? i + 1 : i;
}

/* After &: the references that the exporters of indexes write.  Another one stays as it is. */
static size_t reference(struct slice s, struct buf *out)
{
	static const struct { const char *name, *text; } known[] = {
		{ "amp;", "&" }, { "lt;", "<" }, { "gt;", ">" }, { "quot;", "\"" }, { "apos;", "'" },
		{ "AMP;", "&" }, { "LT;", "<" }, { "GT;", ">" }, { "QUOT;", "\"" }, { "nbsp;", "\xc2\xa0" },
		{ "plus;", "+" }, { "num;", "#" }, { "equals;", "=" }, { "percnt;", "%" }, { "colon;", ":" },
		{ "sol;", "/" }, { "comma;", "," }, { "period;", "." }, { "excl;", "!" }, { "lowbar;", "_" },
		{ "Tab;", "\t" }, { "NewLine;", "\n" },
	};
	if (s.n && s.p[0] == '#')
		return numeric(s, out);
	for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
		size_t n = strlen(known[i].name);
		if (s.n >= n && memcmp(s.p, known[i].name, n) == 0) {
			buf_str(out, known[i].text);
			return n;
		}
	}
	return 0;
}

static const char *decode(struct slice raw, struct arena *a)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	while (raw.n) {
		char c = raw.p[0];
		skip(&raw, 1);
		size_t n = c == '&' ? reference(raw, &out) : 0;
		if (n)
			skip(&raw, n);
		else if (c)
			buf_byte(&out, c);
		else
			add_utf8(&out, 0);
	}
	return arena_dup_n(a, out.data ? out.data : "", out.len);
}

/* One attribute off the front; false at the end. */
static bool next_attribute(struct slice *s, struct slice *name, struct slice *value)
{
	while (s->n && (is_space(s->p[0]) || s->p[0] == '/'))
		skip(s, 1);
	if (!s->n)
		return false;
	size_t n = 1; /* a leading = is part of a name */
	while (n < s->n && !is_space(s->p[n]) && s->p[n] != '=' && s->p[n] != '/')
		n++;
	*name = (struct slice){ s->p, n };
	*value = (struct slice){ "", 0 };
	skip(s, n);
	while (s->n && is_space(s->p[0]))
		skip(s, 1);
	if (!s->n || s->p[0] != '=')
		return true;
	skip(s, 1);
	while (s->n && is_space(s->p[0]))
		skip(s, 1);
	if (s->n && (s->p[0] == '"' || s->p[0] == '\'')) {
		char quote = s->p[0];
		skip(s, 1);
		const char *end = memchr(s->p, quote, s->n);
		n = end ? (size_t)(end - s->p) : s->n;
		*value = (struct slice){ s->p, n };
		skip(s, end ? n + 1 : n);
	} else {
		for (n = 0; n < s->n && !is_space(s->p[n]); n++)
			;
		*value = (struct slice){ s->p, n };
		skip(s, n);
	}
	return true;
}

const char *html_attribute(const struct html *h, const char *name, struct arena *a)
{
	struct slice s = h->attributes, found, value;
	while (next_attribute(&s, &found, &value))
		if (same(found, name))
			return decode(value, a);
	return NULL;
}
