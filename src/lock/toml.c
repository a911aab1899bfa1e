#include "lock/toml.h"

#include <stdarg.h>
#include <string.h>

#include "core/buf.h"

#define LIST_LIMIT 1000
#define KEY_LIMIT  2000

/* A walk over TOML text: strings and comments are stepped over, so that what they hold is never taken
 * for a table or a key. */
struct walk {
	const char *name;
	const char *p, *end;
	size_t line;
};

static int refuse(const struct walk *w, struct err *err, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

static int refuse(const struct walk *w, struct err *err, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	_cleanup_buf_ struct buf what = BUF_INIT;
	buf_vprintf(&what, fmt, args);
	va_end(args);
	return err_set(err, ERR_INPUT, "%s, line %zu: %s", w->name, w->line, what.data);
}

static bool at(const struct walk *w, const char *text)
{
	size_t n = strlen(text);
	return (size_t)(w->end - w->p) >= n && memcmp(w->p, text, n) == 0;
}

static void step(struct walk *w)
{
	w->line += *w->p == '\n';
	w->p++;
}

static void skip_blank(struct walk *w, bool lines)
{
	while (w->p < w->end) {
		if (*w->p == '#')
			while (w->p < w->end && *w->p != '\n')
				w->p++;
		else if (strchr(lines ? " \t\r\n" : " \t", *w->p) && *w->p)
			step(w);
		else
			return;
	}
}

/* Where a string of several lines begins with a line end, that is none of its text. */
static void drop_line_end(struct slice *text)
{
	size_t n = text->n > 0 && text->p[0] == '\n' ? 1 : text->n > 1 && memcmp(text->p, "\r\n", 2) == 0 ? 2 : 0;
	text->p += n;
	text->n -= n;
}

/* Past the string (of any of the four forms) at whose opening quote we are; *inner is what it holds, raw. */
static int skip_string(struct walk *w, struct slice *inner, struct err *err)
{
	char three[4] = { *w->p, *w->p, *w->p, '\0' };
	bool many = at(w, three), escapes = *w->p == '"';
	const char *mark = many ? three : three + 2;
	w->p += strlen(mark);
	inner->p = w->p;
	while (w->p < w->end && !at(w, mark)) {
		if (*w->p == '\n' && !many)
			return refuse(w, err, "a string is not closed");
		if (*w->p == '\\' && escapes && w->p + 1 < w->end)
			step(w);
		step(w);
	}
	if (w->p >= w->end)
		return refuse(w, err, "a string is not closed");
	/* One or two quotes may stand before the closing three. */
	for (int more = 0; many && more < 2 && w->end - w->p > 3 && w->p[3] == *mark; more++)
		w->p++;
	inner->n = (size_t)(w->p - inner->p);
	w->p += strlen(mark);
	if (many)
		drop_line_end(inner);
	return 0;
}

/* The text of a string; of escapes only those a requirement can need. */
static int read_string(struct walk *w, struct buf *out, struct err *err)
{
	static const char from[] = "\"\\t", to[] = "\"\\\t";
	struct slice raw;
	bool escapes = *w->p == '"';
	if (skip_string(w, &raw, err) < 0)
		return -1;
	for (size_t i = 0; i < raw.n; i++) {
		char c = raw.p[i];
		if (c == '\\' && escapes) {
			const char *found = ++i < raw.n && raw.p[i] ? strchr(from, raw.p[i]) : NULL;
			if (!found)
				return refuse(w, err, "a string holds an escape that is not read here");
			c = to[found - from];
		}
		buf_byte(out, c);
	}
	return 0;
}

/* Past a value that is not wanted: strings, and line ends within brackets. */
static int skip_value(struct walk *w, struct err *err)
{
	struct slice ignored;
	int depth = 0;
	while (w->p < w->end && (depth > 0 || *w->p != '\n')) {
		if (*w->p == '#') {
			skip_blank(w, false);
			continue;
		}
		if (*w->p == '"' || *w->p == '\'') {
			if (skip_string(w, &ignored, err) < 0)
				return -1;
			continue;
		}
		if (*w->p == '[' || *w->p == '{')
			depth++;
		else if (*w->p == ']' || *w->p == '}')
			depth--;
		step(w);
	}
	return 0;
}

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

/* A part of a key, added to out: of a quoted one what stands in the quotes.  With dots, escapes or control bytes it is no
 * looked-for key, and is kept from looking like one. */
static int read_key_part(struct walk *w, struct buf *out, struct err *err)
{
	struct slice part = { w->p, 0 };
	if (w->p < w->end && (*w->p == '"' || *w->p == '\'')) {
		if (skip_string(w, &part, err) < 0)
			return -1;
	} else {
		while (w->p < w->end && is_bare(*w->p))
			w->p++;
		part.n = (size_t)(w->p - part.p);
		if (!part.n)
			return refuse(w, err, "a key is missing");
	}
	for (size_t i = 0; i < part.n; i++)
		buf_byte(out, is_bare(part.p[i]) ? part.p[i] : '?');
	return out->len > KEY_LIMIT ? refuse(w, err, "a key is longer than %d bytes", KEY_LIMIT) : 0;
}

/* A key, its parts joined by dots, added to out. */
static int read_key(struct walk *w, struct buf *out, struct err *err)
{
	for (;;) {
		skip_blank(w, false);
		if (read_key_part(w, out, err) < 0)
			return -1;
		skip_blank(w, false);
		if (w->p >= w->end || *w->p != '.')
			return 0;
		buf_byte(out, '.');
		step(w);
	}
}

static int read_array(struct walk *w, const char *key, struct str_list *out, struct err *err)
{
	if (w->p >= w->end || *w->p != '[')
		return refuse(w, err, "%s is not a list", key);
	step(w);
	for (;;) {
		skip_blank(w, true);
		if (w->p < w->end && *w->p == ']')
			break;
		if (w->p >= w->end || (*w->p != '"' && *w->p != '\''))
			return refuse(w, err, "%s holds something that is not a string", key);
		if (out->count == LIST_LIMIT)
			return refuse(w, err, "%s holds too many strings", key);
		_cleanup_buf_ struct buf text = BUF_INIT;
		if (read_string(w, &text, err) < 0)
			return -1;
		str_list_take(out, buf_steal(&text));
		skip_blank(w, true);
		if (w->p < w->end && *w->p == ',')
			step(w);
		else if (w->p >= w->end || *w->p != ']')
			return refuse(w, err, "%s lacks a comma or its end", key);
	}
	step(w);
	return 0;
}

/* "[table]", or "[[table]]", which is one of a list and holds no looked-for key. */
static int read_header(struct walk *w, struct buf *table, struct err *err)
{
	bool twice = at(w, "[[");
	buf_clear(table);
	w->p += twice ? 2 : 1;
	if (read_key(w, table, err) < 0)
		return -1;
	if (!at(w, twice ? "]]" : "]"))
		return refuse(w, err, "a table's name lacks its \"]\"");
	w->p += twice ? 2 : 1;
	buf_str(table, twice ? "[]." : ".");
	return 0;
}

/* The key has the name of a table that holds a looked-for key. */
static bool is_table_of(const char *key, const struct toml_key *wanted)
{
	size_t n = strlen(key);
	return strncmp(key, wanted->name, n) == 0 && wanted->name[n] == '.';
}

/* The value of the looked-for key. */
static int take(struct walk *w, struct toml_key *key, struct err *err)
{
	const char *dot = strrchr(key->name, '.');
	if (key->found)
		return refuse(w, err, "%s stands there twice", key->name);
	key->found = true;
	return key->list ? read_array(w, dot ? dot + 1 : key->name, key->list, err) : skip_value(w, err);
}

/* "key = value" in table. */
static int read_pair(struct walk *w, const struct buf *table, struct toml_key *keys, size_t count, struct err *err)
{
	_cleanup_buf_ struct buf key = BUF_INIT;
	buf_add(&key, table->data ? table->data : "", table->len);
	if (read_key(w, &key, err) < 0)
		return -1;
	if (w->p >= w->end || *w->p != '=')
		return refuse(w, err, "\"=\" is missing behind a key");
	step(w);
	skip_blank(w, false);
	for (size_t i = 0; i < count; i++) {
		if (str_eq(key.data, keys[i].name))
			return take(w, &keys[i], err);
		if (is_table_of(key.data, &keys[i]))
			return refuse(w, err, "%s is not written as a table [%s]", key.data, key.data);
	}
	return skip_value(w, err);
}

int toml_read(struct slice text, const char *name, struct toml_key *keys, size_t count, struct err *err)
{
	static const char mark[] = "\xef\xbb\xbf";
	struct walk w = { name, text.p, text.p + text.n, 1 };
	_cleanup_buf_ struct buf table = BUF_INIT;
	if (memchr(w.p, 0, text.n)) /* and texts could end early */
		return err_set(err, ERR_INPUT, "%s: a NUL byte: this is no TOML", name);
	if (at(&w, mark))
		w.p += sizeof mark - 1;
	for (;;) {
		skip_blank(&w, true);
		if (w.p >= w.end)
			return 0;
		int rc = *w.p == '[' ? read_header(&w, &table, err) : read_pair(&w, &table, keys, count, err);
		if (rc < 0)
			return -1;
		skip_blank(&w, false);
		if (w.p < w.end && *w.p != '\n' && *w.p != '\r')
			return refuse(&w, err, "something stands behind the end of the line's value");
	}
}
