#include "fetch/simple_impl.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "fetch/url.h"

int simple_version(const char *version, struct err *err)
{
	if (version && strtol(version, NULL, 10) > 1)
		return err_set(err, ERR_INPUT, "the index speaks version %.20s of the simple API, forge only 1", version);
	return 0;
}

const char *simple_status(const char *text)
{
	static const char *const known[] = { "archived", "quarantined", "deprecated" };
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (str_eq(text, known[i]))
			return known[i];
	return "active";
}

const char *simple_sha256(struct slice hex, struct arena *a)
{
	if (hex.n != 64)
		return NULL;
	char *out = arena_dup_n(a, hex.p, hex.n);
	for (char *c = out; c < out + 64; c++) {
		if (*c >= 'A' && *c <= 'F')
			*c |= 0x20;
		if (!((*c >= '0' && *c <= '9') || (*c >= 'a' && *c <= 'f')))
			return NULL;
	}
	return out;
}

bool simple_name_ok(const char *filename)
{
	return filename && *filename && !strchr(filename, '/') && strcmp(filename, ".") != 0 &&
		strcmp(filename, "..") != 0;
}

const char *simple_url(const char *base, const char *url, struct arena *a, const char **fragment)
{
	_cleanup_free_ char *joined = url_join(base, url);
	char *mark = strchr(joined, '#');
	if (mark)
		*mark = '\0';
	if (fragment)
		*fragment = mark ? arena_dup(a, mark + 1) : NULL;
	return arena_dup(a, joined);
}

/* JSON begins with a brace; no HTML page does. */
static bool looks_like_json(struct slice body)
{
	if (body.n >= 3 && memcmp(body.p, "\xef\xbb\xbf", 3) == 0)
		body = (struct slice){ body.p + 3, body.n - 3 };
	body = slice_trim(body);
	return body.n && body.p[0] == '{';
}

int simple_parse(struct slice body, const char *content_type, const char *base, struct arena *a,
	struct simple_page *out, struct err *err)
{
	simple_list files = { 0 };
	*out = (struct simple_page){ .status = "active" };
	int rc = looks_like_json(body) ? simple_json(body, base, a, out, &files, err) :
		simple_html(body, base, a, out, &files, err);
	if (rc == 0 && files.count) {
		out->files = arena_alloc(a, files.count * sizeof *files.items);
		memcpy(out->files, files.items, files.count * sizeof *files.items);
		out->count = files.count;
	}
	list_free(&files);
	return rc;
}

/* PEP 503: lower case, runs of - _ . become one -. */
static char *normalise(const char *name)
{
	struct buf out = BUF_INIT;
	bool dash = false;
	for (; *name; name++) {
		char c = *name;
		if (c == '-' || c == '_' || c == '.') {
			dash = true;
			continue;
		}
		if (dash)
			buf_byte(&out, '-');
		dash = false;
		buf_byte(&out, c >= 'A' && c <= 'Z' ? c | 0x20 : c);
	}
	if (dash)
		buf_byte(&out, '-');
	return buf_steal(&out);
}

char *simple_page_url(const char *index, const char *name)
{
	_cleanup_free_ char *folder = url_folder(index), *plain = normalise(name), *quoted = url_quote_path(plain);
	return mem_printf("%s%s/", folder, quoted);
}
