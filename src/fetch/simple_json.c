/* PEP 691 with what PEP 700, 714 and 792 added. */
#include <string.h>

#include "core/json.h"
#include "fetch/simple_impl.h"

#define JSON_LIMIT (64u << 20)

static const char *kept(const char *text, struct arena *a)
{
	return text && *text ? arena_dup(a, text) : NULL;
}

static const char *sha256_in(const struct json *hashes, struct arena *a)
{
	const char *hex = json_get_str(hashes, "sha256");
	return hex ? simple_sha256(slice_of(hex), a) : NULL;
}

/* true, or an object of hashes, under the name it has now or had before PEP 714. */
static void read_metadata(const struct json *entry, struct simple_file *f, struct arena *a)
{
	const struct json *m = json_get(entry, "core-metadata");
	if (!m)
		m = json_get(entry, "dist-info-metadata");
	f->core_metadata = json_kind(m) == JSON_OBJ || json_bool(m, false);
	f->core_metadata_sha256 = sha256_in(m, a);
}

static bool read_file(const struct json *entry, const char *base, struct arena *a, struct simple_file *f)
{
	const char *name = json_get_str(entry, "filename"), *url = json_get_str(entry, "url");
	if (!simple_name_ok(name) || !url || !*url)
		return false;
	const struct json *yanked = json_get(entry, "yanked");
	*f = (struct simple_file){
		.filename = arena_dup(a, name),
		.url = simple_url(base, url, a, NULL),
		.sha256 = sha256_in(json_get(entry, "hashes"), a),
		.requires_python = kept(json_get_str(entry, "requires-python"), a),
		.size = json_get_int(entry, "size", -1),
		.upload_time = kept(json_get_str(entry, "upload-time"), a),
	};
	if (f->size < 0)
		f->size = -1;
	f->yanked = json_bool(yanked, false) ? "" : kept(json_str(yanked), a);
	read_metadata(entry, f, a);
	return true;
}

int simple_json(struct slice body, const char *base, struct arena *a, struct simple_page *out,
	simple_list *files, struct err *err)
{
	if (body.n >= 3 && memcmp(body.p, "\xef\xbb\xbf", 3) == 0)
		body = (struct slice){ body.p + 3, body.n - 3 };
	_cleanup_json_ struct json *page = json_parse(body, JSON_LIMIT, err);
	if (!page)
		return err_add(err, "its page");
	if (simple_version(json_get_str(json_get(page, "meta"), "api-version"), err) < 0)
		return -1;
	const struct json *list = json_get(page, "files"), *status = json_get(page, "project-status");
	if (json_kind(list) != JSON_ARR)
		return err_set(err, ERR_INPUT, "the index page is JSON without a list of files");
	if (json_count(list) > SIMPLE_FILES_MOST)
		return err_set(err, ERR_INPUT, "the index page lists more than %d files", SIMPLE_FILES_MOST);
	out->name = kept(json_get_str(page, "name"), a);
	out->status = simple_status(json_get_str(status, "status"));
	if (!str_eq(out->status, "active"))
		out->status_reason = kept(json_get_str(status, "reason"), a);
	for (size_t i = 0; i < json_count(list); i++) {
		struct simple_file f;
		if (read_file(json_at(list, i), base, a, &f))
			*list_push(files) = f;
	}
	return 0;
}
