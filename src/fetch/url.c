#include "fetch/url.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/buf.h"
#include "core/mem.h"
#include "core/str.h"

/* The five parts of RFC 3986, appendix B; p is NULL where a part is absent. */
struct parts {
	struct slice scheme, authority, path, query, fragment;
};

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t scheme_length(const char *url)
{
	size_t n = 0;
	if (!is_alpha(url[0]))
		return 0;
	while (is_alpha(url[n]) || is_digit(url[n]) || (url[n] && strchr("+-.", url[n])))
		n++;
	return url[n] == ':' ? n : 0;
}

static struct parts split(const char *url)
{
	struct parts u = { 0 };
	size_t n = scheme_length(url);
	if (n) {
		u.scheme = (struct slice){ url, n };
		url += n + 1;
	}
	if (str_starts(url, "//")) {
		n = strcspn(url + 2, "/?#");
		u.authority = (struct slice){ url + 2, n };
		url += 2 + n;
	}
	n = strcspn(url, "?#");
	u.path = (struct slice){ url, n };
	url += n;
	if (*url == '?') {
		n = strcspn(url + 1, "#");
		u.query = (struct slice){ url + 1, n };
		url += 1 + n;
	}
	if (*url == '#')
		u.fragment = slice_of(url + 1);
	return u;
}

static char *compose(const struct parts *u)
{
	struct buf out = BUF_INIT;
	if (u->scheme.p) {
		buf_add(&out, u->scheme.p, u->scheme.n);
		buf_byte(&out, ':');
	}
	if (u->authority.p) {
		buf_str(&out, "//");
		buf_add(&out, u->authority.p, u->authority.n);
	}
	buf_add(&out, u->path.p, u->path.n);
	if (u->query.p) {
		buf_byte(&out, '?');
		buf_add(&out, u->query.p, u->query.n);
	}
	if (u->fragment.p) {
		buf_byte(&out, '#');
		buf_add(&out, u->fragment.p, u->fragment.n);
	}
	return buf_steal(&out);
}

/* RFC 3986, 5.2.4, a segment at a time. */
static char *remove_dots(struct slice path)
{
	struct buf out = BUF_INIT;
	bool rooted = path.n && path.p[0] == '/';
	for (size_t i = 0; i < path.n;) {
		size_t start = i;
		if (path.p[i] == '/')
			i++;
		size_t name = i;
		while (i < path.n && path.p[i] != '/')
			i++;
		struct slice segment = { path.p + name, i - name };
		bool last = i == path.n;
		if (slice_is(segment, ".") || slice_is(segment, "..")) {
			if (segment.n == 2)
				while (out.len && out.data[--out.len] != '/')
					;
			if (last)
				buf_byte(&out, '/');
		} else {
			buf_add(&out, path.p + start, i - start);
		}
	}
	if (rooted && (!out.len || out.data[0] != '/')) {
		_cleanup_free_ char *rest = buf_steal(&out);
		return mem_printf("/%s", rest);
	}
	return buf_steal(&out);
}

static int hex_digit(char c)
{
	if (is_digit(c))
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_escape(const char *p, const char *end)
{
	return end - p >= 3 && p[0] == '%' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0;
}

static void quote(struct slice text, struct buf *out)
{
	const char *end = text.p + text.n;
	for (const char *p = text.p; p < end; p++) {
		if (is_escape(p, end)) {
			buf_printf(out, "%%%02X", hex_digit(p[1]) << 4 | hex_digit(p[2]));
			p += 2;
		} else if (*p && (is_alpha(*p) || is_digit(*p) || strchr("-._~!$&'()*+,;=:@/", *p))) {
			buf_byte(out, *p);
		} else {
			buf_printf(out, "%%%02X", (unsigned char)*p);
		}
	}
}

char *url_quote_path(const char *path)
{
	struct buf out = BUF_INIT;
	quote(slice_of(path), &out);
	return buf_steal(&out);
}

char *url_join(const char *base, const char *ref)
{
	struct slice trimmed = slice_trim(slice_of(ref));
	_cleanup_free_ char *text = mem_dup_n(trimmed.p, trimmed.n);
	struct parts b = split(base), r = split(text), t = r;
	_cleanup_buf_ struct buf merged = BUF_INIT, quoted = BUF_INIT;
	if (!r.scheme.p) {
		t.scheme = b.scheme;
		if (!r.authority.p) {
			t.authority = b.authority;
			if (!r.path.n) {
				t.path = b.path;
				if (!r.query.p)
					t.query = b.query;
			} else if (r.path.p[0] != '/') {
				size_t keep = b.path.n;
				while (keep && b.path.p[keep - 1] != '/')
					keep--;
				buf_add(&merged, b.path.p, keep);
				if (!keep && b.authority.p)
					buf_byte(&merged, '/');
				buf_add(&merged, r.path.p, r.path.n);
				t.path = buf_slice(&merged);
			}
		}
	}
	quote(t.path, &quoted);
	_cleanup_free_ char *path = remove_dots(buf_slice(&quoted));
	t.path = slice_of(path);
	return compose(&t);
}

/* Decoded once; NULL where a NUL byte comes out. */
static char *decode(struct slice text)
{
	struct buf out = BUF_INIT;
	const char *end = text.p + text.n;
	for (const char *p = text.p; p < end; p++) {
		char c = *p;
		if (is_escape(p, end)) {
			c = (char)(hex_digit(p[1]) << 4 | hex_digit(p[2]));
			p += 2;
		}
		if (!c) {
			buf_free(&out);
			return NULL;
		}
		buf_byte(&out, c);
	}
	return buf_steal(&out);
}

static struct slice host_of(struct slice authority)
{
	for (size_t i = authority.n; i > 0; i--)
		if (authority.p[i - 1] == '@')
			return (struct slice){ authority.p + i, authority.n - i };
	return authority;
}

char *url_file_name(const char *url)
{
	struct parts u = split(url);
	struct slice path = u.path;
	while (path.n && path.p[path.n - 1] == '/')
		path.n--;
	size_t start = path.n;
	while (start && path.p[start - 1] != '/')
		start--;
	_cleanup_free_ char *name = decode((struct slice){ path.p + start, path.n - start });
	if (!name || strchr(name, '/'))
		return NULL;
	if (str_eq(name, "") || str_eq(name, ".") || str_eq(name, "..")) {
		struct slice host = host_of(u.authority);
		return host.n ? mem_dup_n(host.p, host.n) : NULL;
	}
	return steal_ptr(name);
}

char *url_redact(const char *url)
{
	struct parts u = split(url);
	if (u.authority.p)
		u.authority = host_of(u.authority);
	return compose(&u);
}

char *url_hint(const char *url)
{
	struct parts u = split(url);
	return u.path.n ? mem_dup_n(u.path.p, u.path.n) : mem_dup("/");
}

static bool same_text(struct slice a, struct slice b)
{
	return a.n == b.n && strncasecmp(a.p, b.p, a.n) == 0;
}

char *url_lend_user(const char *url, const char *of)
{
	struct parts u = split(url), o = split(of);
	if (!u.authority.p || !o.authority.p || !u.scheme.p || !o.scheme.p)
		return mem_dup(url);
	struct slice host = host_of(o.authority);
	if (same_text(u.scheme, o.scheme) && same_text(u.authority, host))
		u.authority = o.authority;
	return compose(&u);
}

bool url_has_scheme(const char *url, const char *scheme)
{
	size_t n = scheme_length(url);
	return n && n == strlen(scheme) && strncasecmp(url, scheme, n) == 0;
}

char *url_local_path(const char *url)
{
	struct parts u = split(url);
	bool here = !u.authority.n || same_text(u.authority, SLICE("localhost"));
	if (!here || !u.path.n || u.path.p[0] != '/')
		return NULL;
	return decode(u.path);
}

char *url_folder(const char *url)
{
	return mem_printf("%s%s", url, str_ends(url, "/") ? "" : "/");
}
