/* PEP 503 with what PEP 592, 629, 658, 700, 714 and 792 added. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/html.h"
#include "fetch/simple_impl.h"
#include "fetch/url.h"

/* "sha256=<hex>", also where the = itself was quoted. */
static const char *hash_of_text(const char *text, struct arena *a)
{
	if (!text || strncmp(text, "sha256", 6) != 0)
		return NULL;
	text += 6;
	text += *text == '=' ? 1 : str_starts(text, "%3D") || str_starts(text, "%3d") ? 3 : 0;
	return simple_sha256((struct slice){ text, strcspn(text, "&") }, a);
}

/* A fragment may hold several settings: "egg=x&sha256=…". */
static const char *hash_of_fragment(const char *fragment, struct arena *a)
{
	while (fragment && *fragment) {
		const char *hash = hash_of_text(fragment, a);
		if (hash)
			return hash;
		fragment = strchr(fragment, '&');
		fragment = fragment ? fragment + 1 : NULL;
	}
	return NULL;
}

static int64_t size_of(const char *text)
{
	if (!text || strlen(text) > 15 || strspn(text, "0123456789") != strlen(text) || !*text)
		return -1;
	return strtoll(text, NULL, 10);
}

static const char *filled(const char *text)
{
	return text && *text ? text : NULL;
}

static bool read_anchor(const struct html *h, const char *base, struct arena *a, struct simple_file *f)
{
	const char *href = html_attribute(h, "href", a), *fragment;
	if (!href || !slice_trim(slice_of(href)).n)
		return false;
	*f = (struct simple_file){ .url = simple_url(base, href, a, &fragment) };
	_cleanup_free_ char *name = url_file_name(f->url);
	if (!simple_name_ok(name))
		return false;
	f->filename = arena_dup(a, name);
	f->sha256 = hash_of_fragment(fragment, a);
	f->requires_python = filled(html_attribute(h, "data-requires-python", a));
	f->yanked = html_attribute(h, "data-yanked", a);
	f->upload_time = filled(html_attribute(h, "data-upload-time", a));
	f->size = size_of(html_attribute(h, "data-size", a));
	const char *metadata = html_attribute(h, "data-core-metadata", a);
	if (!metadata)
		metadata = html_attribute(h, "data-dist-info-metadata", a);
	f->core_metadata = metadata && strcmp(metadata, "false") != 0;
	f->core_metadata_sha256 = hash_of_text(metadata, a);
	return true;
}

static int read_meta(const struct html *h, struct arena *a, struct simple_page *out, struct err *err)
{
	const char *name = html_attribute(h, "name", a), *content = html_attribute(h, "content", a);
	if (!name || !content)
		return 0;
	if (strcmp(name, "pypi:repository-version") == 0)
		return simple_version(content, err);
	if (strcmp(name, "pypi:project-status") == 0)
		out->status = simple_status(content);
	if (strcmp(name, "pypi:project-status-reason") == 0)
		out->status_reason = content;
	return 0;
}

int simple_html(struct slice body, const char *base, struct arena *a, struct simple_page *out,
	simple_list *files, struct err *err)
{
	struct html h = { .rest = body };
	bool rebased = false;
	size_t tags = 0;
	for (; html_next(&h); tags++) {
		struct simple_file f;
		if (html_is(&h, "meta") && read_meta(&h, a, out, err) < 0)
			return -1;
		if (html_is(&h, "base") && !rebased) {
			const char *href = html_attribute(&h, "href", a);
			rebased = href;
			if (href)
				base = simple_url(base, href, a, NULL);
		}
		if (!html_is(&h, "a") || !read_anchor(&h, base, a, &f))
			continue;
		if (files->count == SIMPLE_FILES_MOST)
			return err_set(err, ERR_INPUT, "the index page lists more than %d files", SIMPLE_FILES_MOST);
		*list_push(files) = f;
	}
	if (!tags)
		return err_set(err, ERR_INPUT, "its page is neither HTML nor JSON of a package index");
	if (str_eq(out->status, "active"))
		out->status_reason = NULL;
	return 0;
}
