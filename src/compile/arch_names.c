#include "compile/arch_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const families[] = { "CUB_", "THRUST_" };

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* FAMILY_<version>_SM_<list>, and _NS or not, at p: its length, 0 if there is none.  *list_at: where its list is. */
static size_t match(const char *p, const char *end, const char *list, size_t *list_at)
{
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		size_t n = strlen(families[i]), len = strlen(list), digits = 0;
		const struct slice middle = SLICE("_SM_"), tail = SLICE("_NS");
		if ((size_t)(end - p) < n || memcmp(p, families[i], n) != 0)
			continue;
		while (p + n + digits < end && isdigit((unsigned char)p[n + digits]))
			digits++;
		n += digits;
		if (digits == 0 || (size_t)(end - p) < n + middle.n + len || memcmp(p + n, middle.p, middle.n) != 0 ||
				memcmp(p + n + middle.n, list, len) != 0)
			continue;
		*list_at = n + middle.n;
		n += middle.n + len;
		return (size_t)(end - p) >= n + tail.n && memcmp(p + n, tail.p, tail.n) == 0 ? n + tail.n : n;
	}
	return 0;
}

/* A walk from family name to family name.  Each byte is looked at once, however many there are of one and none of the
 * other: megabytes of text hold thousands. */
struct walk {
	const char *next[sizeof families / sizeof *families]; /* where each comes next; NULL: not looked for yet */
	const char *raw;                                      /* no raw string that began before it goes on; NULL: the text's begin */
};

/* The next place from p on where a family's name begins; end if there is none. */
static const char *next_family(struct walk *w, const char *p, const char *end)
{
	const char *best = end;
	for (size_t i = 0; i < sizeof families / sizeof *families; i++) {
		if (!w->next[i] || w->next[i] < p)
			w->next[i] = memmem(p, (size_t)(end - p), families[i], strlen(families[i]));
		if (!w->next[i])
			w->next[i] = end;
		if (w->next[i] < best)
			best = w->next[i];
	}
	return best;
}

/* Is p, behind all that were asked for, within a raw string, R"mark(…)mark", which may go over many lines? */
static bool is_in_raw(struct walk *w, struct slice text, const char *p)
{
	const char *end = text.p + text.n, *r = w->raw ? w->raw : text.p;
	while ((r = memmem(r, (size_t)(p - r), "R\"", 2)) != NULL) {
		const char *mark = r + 2, *open = memchr(mark, '(', (size_t)(end - mark));
		_cleanup_buf_ struct buf close = BUF_INIT;
		if (!open || open - mark > 16)
			return true; /* none, or the R ends a name before a string: let it be one */
		buf_printf(&close, ")%.*s\"", (int)(open - mark), mark);
		const char *stop = memmem(open, (size_t)(end - open), close.data, close.len);
		if (!stop || p < stop + close.len)
			return true;
		r = stop + close.len;
	}
	w->raw = p; /* a name begins there, and no raw string */
	return false;
}

/* Is p within a string of its line?  Preprocessed text has no comments. */
static bool is_in_string(const char *line, const char *p)
{
	char quote = '\0';
	for (const char *c = line; c < p; c++) {
		if (quote && *c == '\\')
			c++;
		else if (*c == quote)
			quote = '\0';
		else if (!quote && (*c == '"' || *c == '\''))
			quote = *c;
	}
	return quote != '\0';
}

bool arch_names_hash(struct slice text, const char *list, struct hasher *h, size_t *count)
{
	const char *p = text.p, *end = text.p + text.n, *done = p;
	struct walk walk = { 0 };
	*count = 0;
	while ((p = next_family(&walk, p, end)) < end) {
		size_t at = 0, n = match(p, end, list, &at);
		bool whole = n && (p == text.p || !is_name_byte(p[-1])) && (p + n == end || !is_name_byte(p[n]));
		if (!whole) {
			p++;
			continue;
		}
		const char *line = memrchr(text.p, '\n', (size_t)(p - text.p));
		if (is_in_string(line ? line + 1 : text.p, p) || is_in_raw(&walk, text, p))
			return false;
		hash_update(h, done, (size_t)(p + at - done));
		hash_update(h, "@", 1);
		done = p + at + strlen(list);
		p += n;
		++*count;
	}
	hash_update(h, done, (size_t)(end - done));
	return true;
}

/* The name that a mangled one has at `p`, by the digits before it: its length, 0 if they do not tell it. */
static size_t mangled(const char *begin, const char *p, const char *end, const char *list, size_t *digits_at, size_t *list_at)
{
	const char *d = p;
	size_t n = match(p, end, list, list_at), said = 0;
	while (d > begin && isdigit((unsigned char)d[-1]))
		d--;
	for (const char *c = d; c < p && said < 1000; c++)
		said = said * 10 + (size_t)(*c - '0');
	*digits_at = (size_t)(p - d);
	if (n == 0 || d == p || *d == '0')
		return 0;
	if (n != said && n > strlen("_NS") && n - strlen("_NS") == said)
		n = said; /* what follows only looks like the tail of it */
	return n == said ? n : 0;
}

/* The name in which p stands is the one that this line of PTX declares, and that is a variable's; or the line
 * declares nothing and uses it. */
static bool is_of_variable(const char *begin, const char *p, const char *end)
{
	const char *line = memrchr(begin, '\n', (size_t)(p - begin)), *stop = memchr(p, '\n', (size_t)(end - p));
	struct slice text = { line ? line + 1 : begin, 0 };
	text.n = (size_t)((stop ? stop : end) - text.p);
	static const char *const functions[] = { ".func", ".entry", ".callprototype", ".alias", "call", ".section", ".file", ".loc", "\"" };
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (memmem(text.p, text.n, functions[i], strlen(functions[i])))
			return false;
	return true;
}

/* A declaration of a function may stand on a line of its own behind ".func": names that open a parameter list or
 * are labels of one are seen by what follows them. */
static bool names_a_function(const char *p, const char *end)
{
	while (p < end && is_name_byte(*p))
		p++;
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == ','))
		p++;
	return p < end && *p == '(';
}

bool arch_names_can_move(struct slice ptx, const char *list)
{
	const char *p = ptx.p, *end = ptx.p + ptx.n;
	struct walk walk = { 0 };
	while ((p = next_family(&walk, p, end)) < end) {
		size_t digits, at;
		if (!match(p, end, list, &at)) {
			p++;
			continue;
		}
		size_t n = mangled(ptx.p, p, end, list, &digits, &at);
		if (!n || !is_of_variable(ptx.p, p, end) || names_a_function(p, end))
			return false;
		p += n;
	}
	return true;
}

/* An identifier that is such a name and nothing more. */
static bool is_identifier(const char *begin, const char *p, const char *end, size_t n)
{
	return n && (p == begin || !is_name_byte(p[-1])) && (p + n == end || !is_name_byte(p[n]));
}

bool arch_names_stub_can_move(struct slice stub, const char *list)
{
	const char *p = stub.p, *end = stub.p + stub.n;
	struct walk walk = { 0 };
	while ((p = next_family(&walk, p, end)) < end) {
		size_t digits, at, n = match(p, end, list, &at);
		if (n && !is_identifier(stub.p, p, end, n) && !mangled(stub.p, p, end, list, &digits, &at))
			return false;
		p += n ? n : 1;
	}
	return true;
}

void arch_names_move(struct slice ptx, const char *from, const char *to, struct buf *out)
{
	const char *p = ptx.p, *end = ptx.p + ptx.n, *done = p;
	struct walk walk = { 0 };
	while ((p = next_family(&walk, p, end)) < end) {
		size_t digits = 0, at, n = match(p, end, from, &at), length = mangled(ptx.p, p, end, from, &digits, &at);
		if (!n || (!length && !is_identifier(ptx.p, p, end, n))) {
			p++;
			continue;
		}
		n = length ? length : n;
		buf_add(out, done, (size_t)(p - (length ? digits : 0) - done));
		if (length)
			buf_printf(out, "%zu", n - strlen(from) + strlen(to));
		buf_add(out, p, at);
		buf_str(out, to);
		done = p + at + strlen(from);
		p += n;
	}
	buf_add(out, done, (size_t)(end - done));
}
