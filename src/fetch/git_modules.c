#include "fetch/git_modules.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/buf.h"
#include "core/mem.h"

#define MODULES_MAX 1000

struct reader {
	const char *at, *end;
	int line;
	struct git_modules *out;
	struct git_module *module; /* of the section; NULL: one that is not ours */
};

void git_modules_free(struct git_modules *m)
{
	for (size_t i = 0; i < m->list.count; i++) {
		free(m->list.items[i].name);
		free(m->list.items[i].path);
		free(m->list.items[i].url);
	}
	list_free(&m->list);
}

const struct git_module *git_modules_at(const struct git_modules *m, const char *path)
{
	for (size_t i = 0; i < m->list.count; i++)
		if (str_eq(m->list.items[i].path, path))
			return &m->list.items[i];
	return NULL;
}

static int fail(const struct reader *r, const char *why, struct err *err)
{
	return err_set(err, ERR_INPUT, ".gitmodules:%d: %s", r->line, why);
}

static int peek(const struct reader *r)
{
	return r->at < r->end ? (unsigned char)*r->at : -1;
}

static int take(struct reader *r)
{
	int c = peek(r);
	if (c >= 0)
		r->at++;
	if (c == '\n')
		r->line++;
	return c;
}

static void skip_blanks(struct reader *r)
{
	while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\r')
		r->at++;
}

static void skip_line(struct reader *r)
{
	for (int c = take(r); c >= 0 && c != '\n';)
		c = take(r);
}

static struct git_module *module_named(struct reader *r, const char *name)
{
	for (size_t i = 0; i < r->out->list.count; i++)
		if (str_eq(r->out->list.items[i].name, name))
			return &r->out->list.items[i];
	struct git_module *m = list_push(&r->out->list);
	m->name = mem_dup(name);
	return m;
}

/* The part of a section's head in double quotes; the opening one was taken. */
static int read_subsection(struct reader *r, struct buf *out, struct err *err)
{
	for (int c = take(r); c != '"'; c = take(r)) {
		if (c == '\\')
			c = take(r);
		if (c < 0 || c == '\n')
			return fail(r, "a section's name has no end", err);
		buf_byte(out, (char)c);
	}
	return 0;
}

/* [name] or [name "subsection"]; the bracket was taken. */
static int read_section(struct reader *r, struct err *err)
{
	_cleanup_buf_ struct buf name = BUF_INIT, sub = BUF_INIT;
	while (isalnum(peek(r)) || peek(r) == '-' || peek(r) == '.')
		buf_byte(&name, (char)take(r));
	skip_blanks(r);
	bool quoted = peek(r) == '"';
	if (quoted) {
		take(r);
		if (read_subsection(r, &sub, err) < 0)
			return -1;
	}
	if (take(r) != ']')
		return fail(r, "a section's head ends in ]", err);
	if (!name.len || (quoted && !sub.len))
		return fail(r, "a section without a name", err);
	r->module = NULL;
	if (!quoted || strcasecmp(name.data, "submodule") != 0)
		return 0;
	if (r->out->list.count >= MODULES_MAX)
		return fail(r, "more submodules than forge takes", err);
	r->module = module_named(r, sub.data);
	return 0;
}

/* After a backslash: one character of a value, or -1 for a line that goes on, or -2. */
static int escaped(struct reader *r)
{
	switch (take(r)) {
	case '\n': return -1;
	case 'n': return '\n';
	case 't': return '\t';
	case 'b': return '\b';
	case '"': return '"';
	case '\\': return '\\';
	default: return -2;
	}
}

/* A value to the end of its line: quotes, escapes and comments understood, blanks at the end taken off. */
static int read_value(struct reader *r, struct buf *out, struct err *err)
{
	bool quoted = false;
	size_t keep = 0; /* what is not a blank at the end */
	skip_blanks(r);
	for (int c = peek(r); c >= 0 && c != '\n'; c = peek(r)) {
		take(r);
		if (c == '"') {
			quoted = !quoted;
			continue;
		}
		if ((c == '#' || c == ';') && !quoted) {
			while (peek(r) >= 0 && peek(r) != '\n')
				r->at++;
			break;
		}
		bool literal = c == '\\';
		if (literal && (c = escaped(r)) == -2)
			return fail(r, "a backslash before what needs none", err);
		if (c == -1)
			continue;
		buf_byte(out, (char)c);
		if (quoted || literal || !strchr(" \t\r", c))
			keep = out->len;
	}
	if (quoted)
		return fail(r, "a quote has no end", err);
	out->len = keep;
	return 0;
}

static int read_variable(struct reader *r, struct err *err)
{
	_cleanup_buf_ struct buf name = BUF_INIT, value = BUF_INIT;
	while (isalnum(peek(r)) || peek(r) == '-')
		buf_byte(&name, (char)take(r));
	if (!name.len)
		return fail(r, "it is not in git's form", err);
	skip_blanks(r);
	if (peek(r) == '=') {
		take(r);
		if (read_value(r, &value, err) < 0)
			return -1;
	} else if (peek(r) >= 0 && peek(r) != '\n') {
		return fail(r, "it is not in git's form", err);
	}
	char **field = !r->module ? NULL : strcasecmp(name.data, "path") == 0 ? &r->module->path
		: strcasecmp(name.data, "url") == 0 ? &r->module->url : NULL;
	if (field) {
		free(*field);
		*field = mem_dup_n(value.data ? value.data : "", value.len);
	}
	return 0;
}

static int read_all(struct reader *r, struct err *err)
{
	if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0)
		r->at += 3;
	for (int c = peek(r); c >= 0; c = peek(r)) {
		int rc = 0;
		if (c == '#' || c == ';') {
			skip_line(r);
		} else if (isspace(c)) {
			take(r);
		} else if (c == '[') {
			take(r);
			rc = read_section(r, err);
		} else {
			rc = read_variable(r, err);
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

int git_modules_parse(struct slice text, struct git_modules *out, struct err *err)
{
	struct reader r = { .at = text.p, .end = text.p + text.n, .line = 1, .out = out };
	if (text.n > GIT_MODULES_LIMIT)
		return err_set(err, ERR_INPUT, ".gitmodules is larger than %u bytes", GIT_MODULES_LIMIT);
	if (memchr(text.p, '\0', text.n))
		return err_set(err, ERR_INPUT, ".gitmodules holds a NUL byte");
	return read_all(&r, err);
}
