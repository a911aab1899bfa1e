#include "lock/marker.h"

#include <string.h>

#include "core/mem.h"

#define DEPTH_MAX 32

struct reader {
	struct slice rest;
	struct buf *out;
	bool extra;
	int depth;
	struct err *err;
};

/* The names of today, and those older metadata uses (PEP 345) for the same. */
static const char *const variables[][2] = {
	{ "python_version", NULL }, { "python_full_version", NULL }, { "os_name", "os.name" },
	{ "sys_platform", "sys.platform" }, { "platform_release", NULL },
	{ "platform_system", NULL }, { "platform_version", "platform.version" },
	{ "platform_machine", "platform.machine" },
	{ "platform_python_implementation", "platform.python_implementation" },
	{ "implementation_name", NULL }, { "implementation_version", NULL }, { "extra", NULL },
	{ "platform_python_implementation", "python_implementation" },
	{ "extras", NULL }, { "dependency_groups", NULL },
};

static int refuse(struct reader *r, const char *what)
{
	size_t n = r->rest.n < 40 ? r->rest.n : 40;
	if (n == 0)
		return err_set(r->err, ERR_INPUT, "the marker ends where %s should stand", what);
	return err_set(r->err, ERR_INPUT, "%s should stand at \"%.*s\" in the marker", what, (int)n, r->rest.p);
}

static void skip_space(struct reader *r)
{
	while (r->rest.n && (*r->rest.p == ' ' || *r->rest.p == '\t'))
		r->rest = (struct slice){ r->rest.p + 1, r->rest.n - 1 };
}

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
}

static bool take(struct reader *r, const char *text, bool word)
{
	size_t n = strlen(text);
	if (r->rest.n < n || memcmp(r->rest.p, text, n) != 0)
		return false;
	if (word && r->rest.n > n && is_word(r->rest.p[n]))
		return false;
	r->rest = (struct slice){ r->rest.p + n, r->rest.n - n };
	skip_space(r);
	return true;
}

static int read_string(struct reader *r)
{
	char quote = *r->rest.p;
	const char *end = memchr(r->rest.p + 1, quote, r->rest.n - 1);
	if (!end)
		return refuse(r, "a closing quote");
	struct slice text = { r->rest.p + 1, (size_t)(end - r->rest.p - 1) };
	if (memchr(text.p, '\\', text.n))
		return refuse(r, "a text without backslashes");
	char mark = memchr(text.p, '"', text.n) ? '\'' : '"';
	buf_byte(r->out, mark);
	buf_add(r->out, text.p, text.n);
	buf_byte(r->out, mark);
	r->rest = (struct slice){ end + 1, r->rest.n - text.n - 2 };
	skip_space(r);
	return 0;
}

static int read_value(struct reader *r)
{
	if (r->rest.n && (*r->rest.p == '"' || *r->rest.p == '\''))
		return read_string(r);
	size_t n = 0;
	while (n < r->rest.n && is_word(r->rest.p[n]))
		n++;
	struct slice word = { r->rest.p, n };
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
		if (!slice_is(word, variables[i][0]) && !(variables[i][1] && slice_is(word, variables[i][1])))
			continue;
		if (str_starts(variables[i][0], "extra"))
			r->extra = true;
		buf_str(r->out, variables[i][0]);
		r->rest = (struct slice){ r->rest.p + n, r->rest.n - n };
		skip_space(r);
		return 0;
	}
	return refuse(r, "a variable or a text");
}

static int read_operator(struct reader *r)
{
	static const char *const signs[] = { "===", "==", "~=", "!=", "<=", ">=", "<", ">" };
	for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
		if (take(r, signs[i], false)) {
			buf_printf(r->out, " %s ", signs[i]);
			return 0;
		}
	}
	if (take(r, "in", true)) {
		buf_str(r->out, " in ");
		return 0;
	}
	struct slice before = r->rest;
	if (take(r, "not", true) && take(r, "in", true)) {
		buf_str(r->out, " not in ");
		return 0;
	}
	r->rest = before;
	return refuse(r, "a comparison");
}

static int read_any(struct reader *r, size_t *count);

/* A comparison, or one or several of them in parentheses, which are left out around a single one. */
static int read_one(struct reader *r)
{
	if (!take(r, "(", false)) {
		if (read_value(r) < 0 || read_operator(r) < 0)
			return -1;
		return read_value(r);
	}
	if (++r->depth > DEPTH_MAX)
		return err_set(r->err, ERR_INPUT, "the marker is nested more than %d deep", DEPTH_MAX);
	_cleanup_buf_ struct buf inner = BUF_INIT;
	struct buf *outer = r->out;
	size_t count = 0;
	r->out = &inner;
	int rc = read_any(r, &count);
	r->out = outer;
	if (rc < 0)
		return -1;
	if (!take(r, ")", false))
		return refuse(r, "\")\"");
	buf_printf(r->out, count > 1 ? "(%s)" : "%s", inner.data);
	r->depth--;
	return 0;
}

/* What stands between "and" and "or"; *count is how many. */
static int read_any(struct reader *r, size_t *count)
{
	for (;;) {
		if (read_one(r) < 0)
			return -1;
		++*count;
		if (take(r, "and", true))
			buf_str(r->out, " and ");
		else if (take(r, "or", true))
			buf_str(r->out, " or ");
		else
			return 0;
	}
}

int marker_normalise(struct slice text, struct buf *out, bool *extra, struct err *err)
{
	struct reader r = { .rest = text, .out = out, .err = err };
	size_t count = 0;
	skip_space(&r);
	if (read_any(&r, &count) < 0)
		return -1;
	if (r.rest.n)
		return refuse(&r, "\"and\", \"or\" or the end");
	*extra = *extra || r.extra;
	return 0;
}
