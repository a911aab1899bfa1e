#include "lock/requirement.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "lock/marker.h"
#include "wheel/name.h"
#include "wheel/version.h"

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static struct slice after(struct slice s, size_t n)
{
	return (struct slice){ s.p + n, s.n - n };
}

static struct slice skip_space(struct slice s)
{
	while (s.n && (*s.p == ' ' || *s.p == '\t'))
		s = after(s, 1);
	return s;
}

/* A name of a project or an extra: letters, digits and . _ -, a letter or digit at both ends. */
static size_t name_length(struct slice s)
{
	size_t n = 0;
	while (n < s.n && (is_alnum(s.p[n]) || strchr("._-", s.p[n])) && s.p[n] != '\0')
		n++;
	while (n && !is_alnum(s.p[n - 1]))
		n--;
	return n && is_alnum(s.p[0]) ? n : 0;
}

static char *joined(struct str_list *parts)
{
	struct buf out = BUF_INIT;
	str_list_sort(parts);
	str_list_uniq(parts);
	for (size_t i = 0; i < parts->count; i++)
		buf_printf(&out, "%s%s", i ? "," : "", parts->items[i]);
	return buf_steal(&out);
}

/* "[a, b]" at the head of *rest, or nothing. */
static int read_extras(struct slice *rest, char **out, struct err *err)
{
	_cleanup_str_list_ struct str_list extras = STR_LIST_INIT;
	struct slice s = skip_space(*rest);
	if (s.n && *s.p == '[') {
		s = skip_space(after(s, 1));
		while (s.n && *s.p != ']') {
			size_t n = name_length(s);
			if (!n)
				return err_set(err, ERR_INPUT, "the extras are not a list of names");
			str_list_take(&extras, mem_dup_n(s.p, n));
			s = skip_space(after(s, n));
			if (s.n && *s.p == ']')
				break;
			if (!s.n || *s.p != ',')
				return err_set(err, ERR_INPUT, "the extras lack a comma or \"]\"");
			s = skip_space(after(s, 1));
			if (s.n && *s.p == ']')
				return err_set(err, ERR_INPUT, "the extras end in a comma");
		}
		if (!s.n)
			return err_set(err, ERR_INPUT, "the extras lack their \"]\"");
		s = after(s, 1);
	}
	*rest = s;
	*out = joined(&extras);
	return 0;
}

/* PEP 440: a wildcard stands only behind == and !=, after a release without suffix; ~= needs two
 * numbers; a local version only behind == and !=. */
static int check_specifier(struct slice op, struct slice version, struct err *err)
{
	bool equal = slice_is(op, "==") || slice_is(op, "!=");
	bool wild = version.n > 2 && memcmp(version.p + version.n - 2, ".*", 2) == 0;
	_cleanup_version_ struct version v = { 0 };
	if (version_parse(wild ? (struct slice){ version.p, version.n - 2 } : version, &v, err) < 0)
		return -1;
	if (wild && (!equal || v.pre_kind || v.has_post || v.has_dev || v.local.n))
		return err_set(err, ERR_INPUT, "\"%.*s%.*s\" can't have a wildcard",
			(int)op.n, op.p, (int)version.n, version.p);
	if (v.local.n && !equal)
		return err_set(err, ERR_INPUT, "\"%.*s\" can't compare a local version", (int)op.n, op.p);
	if (slice_is(op, "~=") && !memchr(v.release.p, '.', v.release.n))
		return err_set(err, ERR_INPUT, "\"~=\" needs a version of two numbers or more");
	return 0;
}

/* One "op version" at the head of *s. */
static int read_specifier(struct slice *s, struct str_list *list, struct err *err)
{
	static const char *const ops[] = { "===", "==", "~=", "!=", "<=", ">=", "<", ">" };
	struct slice op = { NULL, 0 };
	for (size_t i = 0; i < sizeof ops / sizeof *ops && !op.p; i++) {
		size_t n = strlen(ops[i]);
		if (s->n >= n && memcmp(s->p, ops[i], n) == 0)
			op = (struct slice){ s->p, n };
	}
	if (!op.p)
		return err_set(err, ERR_INPUT, "\"%.*s\" is neither a version comparison nor a marker",
			(int)(s->n < 40 ? s->n : 40), s->p);
	struct slice rest = skip_space(after(*s, op.n));
	size_t n = 0;
	while (n < rest.n && !strchr(" \t,;)", rest.p[n]))
		n++;
	struct slice version = { rest.p, n };
	if (!n)
		return err_set(err, ERR_INPUT, "a version is missing behind \"%.*s\"", (int)op.n, op.p);
	if (!slice_is(op, "===") && check_specifier(op, version, err) < 0)
		return -1;
	str_list_take(list, mem_printf("%.*s%.*s", (int)op.n, op.p, (int)n, version.p));
	*s = skip_space(after(rest, n));
	return 0;
}

static int read_specifiers(struct slice *rest, char **out, struct err *err)
{
	_cleanup_str_list_ struct str_list list = STR_LIST_INIT;
	struct slice s = skip_space(*rest);
	bool paren = s.n && *s.p == '(';
	if (paren)
		s = skip_space(after(s, 1));
	while (s.n && *s.p != ';' && *s.p != ')') {
		if (read_specifier(&s, &list, err) < 0)
			return -1;
		if (s.n && *s.p == ',')
			s = skip_space(after(s, 1));
		else if (s.n && *s.p != ';' && *s.p != ')')
			return err_set(err, ERR_INPUT, "a comma is missing before \"%.*s\"",
				(int)(s.n < 40 ? s.n : 40), s.p);
	}
	if (paren != (s.n && *s.p == ')'))
		return err_set(err, ERR_INPUT, "the parentheses around the versions don't match");
	*rest = skip_space(paren ? after(s, 1) : s);
	*out = joined(&list);
	return 0;
}

/* "@ URL", which ends at white space: a ";" may be part of it. */
static int read_url(struct slice *rest, char **out, struct err *err)
{
	struct slice s = skip_space(after(*rest, 1));
	size_t n = 0;
	while (n < s.n && s.p[n] != ' ' && s.p[n] != '\t')
		n++;
	struct slice url = { s.p, n };
	if (!n || !memchr(s.p, ':', n))
		return err_set(err, ERR_INPUT, "a URL is missing behind \"@\"");
	if (s.p[n - 1] == ';' && n < s.n)
		return err_set(err, ERR_INPUT, "a space is missing between the URL and \";\"");
	*out = mem_dup_n(url.p, url.n);
	*rest = skip_space(after(s, n));
	return 0;
}

static int read_parts(struct slice text, struct requirement *r, struct err *err)
{
	if (text.n > REQUIREMENT_LIMIT)
		return err_set(err, ERR_INPUT, "a requirement of %zu characters, at most %d are read",
			text.n, REQUIREMENT_LIMIT);
	for (size_t i = 0; i < text.n; i++)
		if (((unsigned char)text.p[i] < ' ' && text.p[i] != '\t') || text.p[i] == 0x7f)
			return err_set(err, ERR_INPUT, "a requirement can't hold control characters");
	struct slice s = skip_space(text);
	size_t n = name_length(s);
	if (!n)
		return err_set(err, ERR_INPUT, "it doesn't begin with a project's name");
	r->name = mem_dup_n(s.p, n);
	s = after(s, n);
	if (read_extras(&s, &r->extras, err) < 0)
		return -1;
	s = skip_space(s);
	if (s.n && *s.p == '@') {
		r->specifier = mem_dup("");
		if (read_url(&s, &r->url, err) < 0)
			return -1;
	} else if (read_specifiers(&s, &r->specifier, err) < 0) {
		return -1;
	}
	_cleanup_buf_ struct buf marker = BUF_INIT;
	bool extra = false;
	if (s.n && *s.p != ';')
		return err_set(err, ERR_INPUT, "\"%.*s\" is too much", (int)(s.n < 40 ? s.n : 40), s.p);
	if (s.n && marker_normalise(after(s, 1), &marker, &extra, err) < 0)
		return -1;
	r->marker = buf_steal(&marker);
	return 0;
}

int requirement_parse(struct slice text, struct requirement *out, struct err *err)
{
	_cleanup_requirement_ struct requirement r = { 0 };
	if (read_parts(text, &r, err) < 0)
		return err_add(err, "requirement \"%.*s\"", (int)(text.n < 200 ? text.n : 200), text.p ? text.p : "");
	*out = r;
	r = (struct requirement){ 0 };
	return 0;
}

void requirement_free(struct requirement *r)
{
	free(r->name);
	free(r->extras);
	free(r->specifier);
	free(r->url);
	free(r->marker);
	*r = (struct requirement){ 0 };
}

void requirement_write(const struct requirement *r, struct buf *out)
{
	_cleanup_free_ char *name = wheel_normalise_name(r->name);
	buf_str(out, name);
	if (*r->extras)
		buf_printf(out, "[%s]", r->extras);
	if (r->url)
		buf_printf(out, " @ %s%s", r->url, *r->marker ? " " : "");
	buf_str(out, r->specifier);
	if (*r->marker)
		buf_printf(out, "; %s", r->marker);
}

bool requirement_is_extra(const struct requirement *r)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	bool extra = false;
	return *r->marker && marker_normalise(slice_of(r->marker), &out, &extra, NULL) == 0 && extra;
}

char *requirement_pin(const struct requirement *r)
{
	const char *s = r->specifier;
	if (r->url || strncmp(s, "==", 2) != 0 || strchr(s, ',') || strchr(s, '*') || s[2] == '=')
		return NULL;
	return mem_dup(s + 2);
}

int requirements_normalise(const struct str_list *in, struct str_list *out, struct err *err)
{
	for (size_t i = 0; i < in->count; i++) {
		_cleanup_requirement_ struct requirement r = { 0 };
		if (requirement_parse(slice_of(in->items[i]), &r, err) < 0)
			return -1;
		_cleanup_buf_ struct buf text = BUF_INIT;
		requirement_write(&r, &text);
		str_list_take(out, buf_steal(&text));
	}
	str_list_sort(out);
	str_list_uniq(out);
	return 0;
}
