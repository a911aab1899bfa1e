#include "archive/name.h"

#include <limits.h>
#include <string.h>

#include "core/mem.h"

#define SHOW_LIMIT 120

static int add_component(struct slice part, struct buf *out, struct err *err)
{
	if (part.n == 0 || slice_is(part, "."))
		return 0;
	if (slice_is(part, ".."))
		return err_set(err, ERR_INPUT, "the name has a \"..\"");
	if (part.n > NAME_MAX)
		return err_set(err, ERR_INPUT, "a part of the name is longer than %d bytes", NAME_MAX);
	if (out->len)
		buf_byte(out, '/');
	buf_add(out, part.p, part.n);
	return 0;
}

int name_clean(struct slice raw, struct buf *out, bool *slash, struct err *err)
{
	buf_clear(out);
	buf_str(out, "");
	if (raw.n == 0)
		return err_set(err, ERR_INPUT, "the name is empty");
	if (raw.p[0] == '/')
		return err_set(err, ERR_INPUT, "the name is absolute");
	if (memchr(raw.p, '\0', raw.n))
		return err_set(err, ERR_INPUT, "the name has a NUL byte");
	*slash = raw.p[raw.n - 1] == '/';
	struct slice part, rest = raw;
	for (bool more = true; more; ) {
		more = slice_cut(rest, '/', &part, &rest);
		if (add_component(part, out, err))
			return -1;
	}
	return 0;
}

int name_check_target(const char *name, const char *target, struct err *err)
{
	if (target[0] == '\0')
		return err_set(err, ERR_INPUT, "a link without a target");
	if (target[0] == '/')
		return err_set(err, ERR_INPUT, "a link to an absolute path");
	size_t depth = 0, up = 0;
	for (const char *p = name; *p; p++)
		depth += *p == '/';
	bool descended = false;
	struct slice part, rest = slice_of(target);
	for (bool more = true; more; ) {
		more = slice_cut(rest, '/', &part, &rest);
		if (slice_is(part, "..")) {
			if (descended)
				return err_set(err, ERR_INPUT, "a link whose target has \"..\" behind a name");
			if (++up > depth)
				return err_set(err, ERR_INPUT, "a link that leads out of the folder");
		} else if (part.n && !slice_is(part, ".")) {
			descended = true;
		}
	}
	return 0;
}

/* Length of the UTF-8 character at the front of text, 0 if there is none (RFC 3629). */
static size_t utf8_char(struct slice text)
{
	const unsigned char *p = (const unsigned char *)text.p;
	if (text.n == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	size_t n = p[0] >= 0xc2 && p[0] <= 0xdf ? 2 : (p[0] & 0xf0) == 0xe0 ? 3 :
		p[0] >= 0xf0 && p[0] <= 0xf4 ? 4 : 0;
	if (n == 0 || text.n < n)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
	    (p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return n;
}

bool name_is_utf8(struct slice text)
{
	while (text.n) {
		size_t n = utf8_char(text);
		if (n == 0)
			return false;
		text = (struct slice){ text.p + n, text.n - n };
	}
	return true;
}

static bool is_control(char c)
{
	return (unsigned char)c < 0x20 || c == 0x7f;
}

bool name_has_control(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (is_control(text.p[i]))
			return true;
	return false;
}

char *name_show(const char *name)
{
	struct buf b = BUF_INIT;
	struct slice rest = slice_of(name);
	buf_str(&b, "");
	while (rest.n && b.len < SHOW_LIMIT) {
		size_t n = utf8_char(rest);
		if (n == 0 || is_control(*rest.p) || *rest.p == '\\') {
			n = 1;
			buf_printf(&b, "\\x%02x", (unsigned char)*rest.p);
		} else {
			buf_add(&b, rest.p, n);
		}
		rest = (struct slice){ rest.p + n, rest.n - n };
	}
	if (rest.n)
		buf_str(&b, "...");
	return buf_steal(&b);
}
