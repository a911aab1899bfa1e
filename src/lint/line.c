/* Where in a recipe's text something stands; declared in lint/lint_impl.h. */
#include <string.h>

#include "lint/lint_impl.h"

static bool is_word(char c)
{
	return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Does `word` stand at p by itself? */
static bool stands_at(struct slice text, const char *p, struct slice word)
{
	const char *end = p + word.n;
	return end <= text.p + text.n && memcmp(p, word.p, word.n) == 0 && (p == text.p || !is_word(p[-1])) &&
		(end == text.p + text.n || !is_word(*end));
}

/* Is what follows p, but for spaces and the end of ["name"], one "="? */
static bool is_given(struct slice text, const char *p)
{
	const char *end = text.p + text.n;
	while (p < end && memchr(" \t\"']", *p, 5))
		p++;
	return p < end && *p == '=' && !(p + 1 < end && p[1] == '=');
}

/* The first place of word from `from` on that is in no comment (of the "--" kind, to the end of its line); with given,
 * one where it gets a value.  NULL: none. */
static const char *find(struct slice text, const char *from, const char *word, bool given)
{
	struct slice w = slice_of(word);
	char quote = 0;
	for (const char *p = from, *end = text.p + text.n; w.n && p < end; p++) {
		if (stands_at(text, p, w) && (!given || is_given(text, p + w.n)))
			return p;
		if (*p == '\n')
			quote = 0;
		else if (quote)
			quote = *p == quote ? 0 : quote;
		else if (*p == '"' || *p == '\'')
			quote = *p;
		else if (*p == '-' && p + 1 < end && p[1] == '-' && (p = memchr(p, '\n', (size_t)(end - p))) == NULL)
			return NULL;
	}
	return NULL;
}

static int line_at(struct slice text, const char *at)
{
	int line = at ? 1 : 0;
	for (const char *p = text.p; at && p < at; p++)
		line += *p == '\n';
	return line;
}

int lint_line(struct slice text, const char *field, const char *word)
{
	const char *at = NULL;
	const char *from = field && text.n ? find(text, text.p, field, true) : NULL;
	if (word && from)
		at = find(text, from, word, false);
	if (word && !at && text.n)
		at = find(text, text.p, word, false);
	if (!at)
		at = from;
	if (!at && text.n)
		at = find(text, text.p, "forge.wheel", false);
	return line_at(text, at);
}
