#include "index/page.h"

#include <string.h>

#include "core/json.h"

/* Text for an HTML attribute or element. */
static void html(const char *text, struct buf *out)
{
	for (; *text; text++) {
		switch (*text) {
		case '&': buf_str(out, "&amp;"); break;
		case '<': buf_str(out, "&lt;"); break;
		case '>': buf_str(out, "&gt;"); break;
		case '"': buf_str(out, "&quot;"); break;
		default: buf_byte(out, *text);
		}
	}
}

/* A file name as one segment of a URL path (RFC 3986): "+" is written %2B, since some servers take it for a space. */
static void url_segment(const char *name, struct buf *out)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!=";
	for (; *name; name++) {
		if (strchr(plain, *name))
			buf_byte(out, *name);
		else
			buf_printf(out, "%%%02X", (unsigned char)*name);
	}
}

static void begin(const char *title, struct buf *out)
{
	buf_str(out, "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
		"<meta name=\"pypi:repository-version\" content=\"1.1\">\n<title>");
	html(title, out);
	buf_str(out, "</title>\n</head>\n<body>\n");
}

static void end(struct buf *out)
{
	buf_str(out, "</body>\n</html>\n");
}

void page_project_html(const char *project, const char *files, const struct index_wheel *const *wheels, size_t count,
	struct buf *out)
{
	begin(project, out);
	for (size_t i = 0; i < count; i++) {
		const struct index_wheel *w = wheels[i];
		buf_printf(out, "<a href=\"%s", files);
		url_segment(w->file, out);
		buf_printf(out, "#sha256=%s\"", w->sha256);
		if (w->requires_python) {
			buf_str(out, " data-requires-python=\"");
			html(w->requires_python, out);
			buf_byte(out, '"');
		}
		/* not under its older name as well: the pips that know only that one (Debian 12's 23.0) refuse a wheel
		 * whose Name is not written as it was asked for, and read it wrongly from JSON (PEP 714) */
		buf_printf(out, " data-core-metadata=\"sha256=%s\">", w->metadata_sha256);
		html(w->file, out);
		buf_str(out, "</a><br>\n");
	}
	end(out);
}

static struct json *meta(void)
{
	struct json *j = json_new_obj();
	json_set_str(j, "api-version", "1.1");
	return j;
}

static struct json *sha256_of(const char *hex)
{
	struct json *j = json_new_obj();
	json_set_str(j, "sha256", hex);
	return j;
}

void page_project_json(const char *project, const char *folder, const struct index_wheel *const *wheels, size_t count,
	struct buf *out)
{
	_cleanup_json_ struct json *page = json_new_obj();
	struct json *files = json_new_arr(), *versions = json_new_arr();
	const char *last = "";
	for (size_t i = 0; i < count; i++) {
		const struct index_wheel *w = wheels[i];
		_cleanup_buf_ struct buf url = BUF_INIT;
		struct json *file = json_new_obj();
		buf_str(&url, folder);
		url_segment(w->file, &url);
		json_set_str(file, "filename", w->file);
		json_set_str(file, "url", url.data);
		json_set(file, "hashes", sha256_of(w->sha256));
		json_set_str(file, "requires-python", w->requires_python);
		json_set_int(file, "size", w->size);
		json_set(file, "core-metadata", sha256_of(w->metadata_sha256));
		json_push(files, file);
		if (strcmp(last, w->version) != 0)
			json_push(versions, json_new_str(w->version));
		last = w->version;
	}
	json_set(page, "meta", meta());
	json_set_str(page, "name", project);
	json_set(page, "files", files);
	json_set(page, "versions", versions);
	json_write(page, 1, out);
	buf_byte(out, '\n');
}

void page_root_html(const struct str_list *projects, struct buf *out)
{
	begin("Simple index", out);
	for (size_t i = 0; i < projects->count; i++)
		buf_printf(out, "<a href=\"%s/\">%s</a><br>\n", projects->items[i], projects->items[i]);
	end(out);
}

void page_root_json(const struct str_list *projects, struct buf *out)
{
	_cleanup_json_ struct json *page = json_new_obj();
	struct json *list = json_new_arr();
	for (size_t i = 0; i < projects->count; i++) {
		struct json *p = json_new_obj();
		json_set_str(p, "name", projects->items[i]);
		json_push(list, p);
	}
	json_set(page, "meta", meta());
	json_set(page, "projects", list);
	json_write(page, 1, out);
	buf_byte(out, '\n');
}
