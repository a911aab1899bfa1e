/* Requests for repositories, NVIDIA's releases and images; declared in request_impl.h. */
#include <string.h>

#include "core/mem.h"
#include "fetch/git_map.h"
#include "fetch/oci_image.h"
#include "fetch/url.h"
#include "lock/request_impl.h"

#define PATH_LIMIT 200

/* true, false, or a list of names. */
static int read_submodules(const struct json *j, struct request *r, struct err *err)
{
	const struct json *given = json_get(j, "submodules");
	r->submodules = json_bool(given, false);
	if (!given || json_kind(given) == JSON_BOOL)
		return 0;
	if (request_list(j, "submodules", &r->list, err) < 0)
		return -1;
	for (size_t i = 0; i < r->list.count; i++)
		if (!r->list.items[i][0] || strpbrk(r->list.items[i], ", \t\n"))
			return err_set(err, ERR_INPUT, "field \"submodules\": \"%.200s\" is not the path of one", r->list.items[i]);
	str_list_sort(&r->list);
	str_list_uniq(&r->list);
	return 0;
}

static int read_subdir(const struct json *j, struct request *r, struct err *err)
{
	const char *text = json_get_str(j, "subdir");
	if (!json_get(j, "subdir"))
		return 0;
	if (!text)
		return err_set(err, ERR_INPUT, "field \"subdir\" must be a string");
	bool plain = *text && strlen(text) <= PATH_LIMIT;
	for (const char *p = text; *p; p++)
		plain = plain && (unsigned char)*p >= 0x20 && *p != 0x7f;
	if (!plain)
		return err_set(err, ERR_INPUT, "field \"subdir\" can't be \"%.200s\"", text);
	r->subdir = mem_dup(text);
	return 0;
}

int request_read_git(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "url", "rev", "submodules", "subdir", NULL };
	const char *url = json_get_str(j, "url");
	if (request_check_fields(j, fields, err) < 0)
		return -1;
	if (!url)
		return err_set(err, ERR_INPUT, "field \"url\" must be a string");
	if (git_url_check(url, err) < 0)
		return err_add(err, "field \"url\"");
	r->url = mem_dup(url);
	if (request_text(j, "rev", "/._+-@=,!%#", &r->rev, err) < 0 || read_submodules(j, r, err) < 0 ||
	    read_subdir(j, r, err) < 0)
		return -1;
	_cleanup_free_ char *some = request_join(&r->list, ","), *shown = url_redact(url);
	r->key = mem_printf("git %s %s%s%s%s%s", url, r->rev, r->submodules ? " submodules" : *some ? " submodules=" : "", some,
		r->subdir ? " subdir=" : "", r->subdir ? r->subdir : "");
	r->words = mem_printf("%s of %s%s", r->rev, shown, r->submodules || *some ? " with submodules" : "");
	return 0;
}

static int read_urls(const struct json *j, struct request *r, struct err *err)
{
	if (request_list(j, "urls", &r->urls, err) < 0)
		return -1;
	for (size_t i = 0; i < r->urls.count; i++) {
		const char *url = r->urls.items[i];
		if (!url_has_scheme(url, "https") && !url_has_scheme(url, "http") && !url_has_scheme(url, "file"))
			return err_set(err, ERR_INPUT, "field \"urls\": \"%.200s\" is no https, http or file URL", url);
	}
	return 0;
}

int request_read_redist(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "release", "sha256", "urls", "components", NULL };
	const char *hex = json_get_str(j, "sha256");
	if (request_check_fields(j, fields, err) < 0 || request_text(j, "release", ".", &r->version, err) < 0)
		return -1;
	if (!hex || strlen(hex) != 64 || hash_parse(slice_of(hex), &r->sha256, NULL) < 0)
		return err_set(err, ERR_INPUT, "field \"sha256\" must be the 64 digits of the JSON's");
	if (read_urls(j, r, err) < 0 || request_list(j, "components", &r->list, err) < 0)
		return -1;
	for (size_t i = 0; i < r->list.count; i++)
		if (!request_is_plain(r->list.items[i], "_-"))
			return err_set(err, ERR_INPUT, "field \"components\" can't hold \"%.200s\"", r->list.items[i]);
	str_list_sort(&r->list);
	str_list_uniq(&r->list);
	_cleanup_free_ char *components = request_join(&r->list, " "), *digits = hash_hex(&r->sha256);
	r->key = mem_printf("redist %s %s %s", r->version, digits, components);
	r->words = mem_printf("%s of NVIDIA's CUDA %s", components, r->version);
	return 0;
}

int request_read_oci(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "image", "digest", NULL };
	const char *text = json_get_str(j, "image"), *digest = json_get_str(j, "digest");
	struct oci_image image = { 0 };
	struct hash hash;
	if (request_check_fields(j, fields, err) < 0)
		return -1;
	if (!text || (json_get(j, "digest") && !digest))
		return err_set(err, ERR_INPUT, "field \"%s\" must be a string", text ? "digest" : "image");
	if (oci_image_parse(text, &image, err) < 0)
		return err_add(err, "field \"image\"");
	r->image = image.name;
	r->tag = image.tag;
	r->digest = mem_dup(digest);
	if (digest && oci_digest_parse(digest, &hash, err) < 0)
		return err_add(err, "field \"digest\"");
	if (!digest && !r->tag)
		return err_set(err, ERR_INPUT, "field \"image\": \"%s\" needs a tag, or a digest beside it", text);
	r->key = mem_printf("oci %s%s%s", text, digest ? "@" : "", digest ? digest : "");
	r->words = mem_printf("the image %s%s%.19s", text, digest ? "@" : "", digest ? digest : "");
	return 0;
}
