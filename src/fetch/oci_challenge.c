#include "fetch/oci_challenge.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/buf.h"
#include "core/json.h"
#include "core/mem.h"
#include "fetch/url.h"

#define TOKEN_LIMIT (64u << 10)
#define VALUE_LIMIT 4096
#define ALNUM "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define TCHAR ALNUM "!#$%&'*+-.^_`|~"      /* RFC 9110, 5.6.2 */
#define TOKEN68 ALNUM "-._~+/"             /* 11.2, before its "=" */
#define UNRESERVED ALNUM "-._~"            /* RFC 3986, 2.3 */

struct scan {
	const char *p, *end;
};

static bool at_end(const struct scan *s)
{
	return s->p == s->end;
}

static void skip(struct scan *s, const char *of)
{
	while (!at_end(s) && *s->p && strchr(of, *s->p))
		s->p++;
}

static struct slice take(struct scan *s, const char *of)
{
	const char *start = s->p;
	skip(s, of);
	return (struct slice){ start, (size_t)(s->p - start) };
}

/* A parameter's value: a token, or a text in quotes. */
static int take_value(struct scan *s, struct buf *out)
{
	buf_clear(out);
	buf_str(out, "");
	if (at_end(s) || *s->p != '"') {
		struct slice plain = take(s, TCHAR);
		buf_add(out, plain.p, plain.n);
		return plain.n ? 0 : -1;
	}
	for (s->p++; !at_end(s) && *s->p != '"'; s->p++) {
		if (*s->p == '\\' && ++s->p == s->end)
			return -1;
		if ((unsigned char)*s->p < ' ' || *s->p == 0x7f || out->len == VALUE_LIMIT)
			return -1;
		buf_byte(out, *s->p);
	}
	return at_end(s) ? -1 : (s->p++, 0);
}

/* Behind a scheme one word may stand in the place of parameters: it ends the challenge. */
static void skip_token68(struct scan *s)
{
	struct scan ahead = *s;
	skip(&ahead, TOKEN68);
	if (ahead.p == s->p)
		return;
	skip(&ahead, "=");
	skip(&ahead, " \t");
	if (at_end(&ahead) || *ahead.p == ',')
		s->p = ahead.p;
}

static bool named(struct slice name, const char *what)
{
	return name.n == strlen(what) && strncasecmp(name.p, what, name.n) == 0;
}

static int keep(struct oci_challenge *c, struct slice name, const struct buf *value)
{
	char **to = named(name, "realm") ? &c->realm : named(name, "service") ? &c->service
		: named(name, "scope") ? &c->scope : NULL;
	if (to && *to)
		return -1;
	if (to)
		*to = mem_dup_n(value->data, value->len);
	return 0;
}

int oci_challenge_parse(struct slice text, struct oci_challenge *out, struct err *err)
{
	_cleanup_oci_challenge_ struct oci_challenge c = { 0 };
	_cleanup_buf_ struct buf value = BUF_INIT;
	struct scan s = { text.p, text.p + text.n };
	bool ours = false, bad = false;
	for (skip(&s, " \t,"); !at_end(&s) && !bad; skip(&s, " \t,")) {
		struct slice name = take(&s, TCHAR);
		skip(&s, " \t");
		if (name.n && !at_end(&s) && *s.p == '=') {
			s.p++;
			skip(&s, " \t");
			bad = take_value(&s, &value) < 0 || (ours && keep(&c, name, &value) < 0);
			continue;
		}
		bad = !name.n;
		ours = named(name, "Bearer") && !c.bearer;
		c.bearer = c.bearer || ours;
		c.basic = c.basic || named(name, "Basic");
		skip_token68(&s);
	}
	if (bad)
		return err_set(err, ERR_INPUT, "its WWW-Authenticate header can't be read");
	*out = c;
	c = (struct oci_challenge){ 0 };
	return 0;
}

void oci_challenge_free(struct oci_challenge *c)
{
	free(c->realm);
	free(c->service);
	free(c->scope);
	*c = (struct oci_challenge){ 0 };
}

static void add_query(struct buf *url, const char *name, const char *value)
{
	if (!value)
		return;
	buf_printf(url, "%c%s=", strchr(url->data, '?') ? '&' : '?', name);
	for (; *value; value++) {
		if (strchr(UNRESERVED, *value))
			buf_byte(url, *value);
		else
			buf_printf(url, "%%%02X", (unsigned char)*value);
	}
}

char *oci_challenge_url(const struct oci_challenge *c, bool tls, struct err *err)
{
	_cleanup_buf_ struct buf url = BUF_INIT;
	bool taken = c->realm && (url_has_scheme(c->realm, "https") || (!tls && url_has_scheme(c->realm, "http")));
	if (!taken || strpbrk(c->realm, "# ")) {
		err_set(err, ERR_INPUT, "it names no place that a token may come from (an %s URL)",
			tls ? "https" : "http or https");
		return NULL;
	}
	buf_str(&url, c->realm);
	add_query(&url, "service", c->service);
	add_query(&url, "scope", c->scope);
	return buf_steal(&url);
}

char *oci_token_parse(struct slice body, struct err *err)
{
	_cleanup_json_ struct json *j = json_parse(body, TOKEN_LIMIT, err);
	if (!j)
		return NULL;
	const char *token = json_get_str(j, "token");
	if (!token)
		token = json_get_str(j, "access_token");
	size_t n = token ? strlen(token) : 0, visible = 0;
	while (visible < n && token[visible] > ' ' && token[visible] < 0x7f)
		visible++;
	if (n && visible == n)
		return mem_dup(token);
	err_set(err, ERR_INPUT, "the answer holds no token");
	return NULL;
}
