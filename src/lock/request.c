#include "lock/request.h"

#include <stdlib.h>
#include <string.h>

#include "core/buf.h"
#include "core/mem.h"
#include "fetch/git_map.h"
#include "fetch/oci_image.h"
#include "fetch/url.h"
#include "lock/requirement.h"
#include "wheel/version.h"

#define LIST_LIMIT 1000
#define PATH_LIMIT 200

/* Every character of text is a letter, a digit or in `more`; it is not empty and begins alphanumeric. */
static bool is_plain(const char *text, const char *more)
{
	size_t n = strlen(text);
	for (size_t i = 0; i < n; i++) {
		char c = text[i];
		bool alnum = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (!alnum && (i == 0 || !strchr(more, c)))
			return false;
	}
	return n > 0 && n <= 200;
}

static int read_text(const struct json *j, const char *field, const char *more, char **out, struct err *err)
{
	const char *text = json_get_str(j, field);
	if (!text)
		return err_set(err, ERR_INPUT, "field \"%s\" must be a string", field);
	if (!is_plain(text, more))
		return err_set(err, ERR_INPUT, "field \"%s\" can't be \"%.200s\"", field, text);
	*out = mem_dup(text);
	return 0;
}

static int read_list(const struct json *j, const char *field, struct str_list *out, struct err *err)
{
	const struct json *list = json_get(j, field);
	if (json_kind(list) != JSON_ARR || json_count(list) == 0 || json_count(list) > LIST_LIMIT)
		return err_set(err, ERR_INPUT, "field \"%s\" must be a list of 1 to %d strings", field, LIST_LIMIT);
	for (size_t i = 0; i < json_count(list); i++) {
		const char *text = json_str(json_at(list, i));
		if (!text)
			return err_set(err, ERR_INPUT, "field \"%s\": item %zu must be a string", field, i + 1);
		str_list_add(out, text);
	}
	return 0;
}

static int check_fields(const struct json *j, const char *const *known, struct err *err)
{
	_cleanup_str_list_ struct str_list keys = STR_LIST_INIT;
	json_keys(j, &keys);
	for (size_t i = 0; i < keys.count; i++) {
		bool found = str_eq(keys.items[i], "kind");
		for (size_t k = 0; known[k] && !found; k++)
			found = str_eq(keys.items[i], known[k]);
		if (!found)
			return err_set(err, ERR_INPUT, "unknown field \"%.200s\"", keys.items[i]);
	}
	return 0;
}

static char *join(const struct str_list *l, const char *between)
{
	struct buf out = BUF_INIT;
	for (size_t i = 0; i < l->count; i++)
		buf_printf(&out, "%s%s", i ? between : "", l->items[i]);
	return buf_steal(&out);
}

static int read_release(const struct json *j, const char *what, const char *of, struct request *r, struct err *err)
{
	static const char *const fields[] = { "name", "version", NULL };
	_cleanup_version_ struct version v = { 0 };
	if (check_fields(j, fields, err) < 0 || read_text(j, "name", "._-", &r->name, err) < 0 ||
	    read_text(j, "version", ".!+_-", &r->version, err) < 0)
		return -1;
	if (version_parse(slice_of(r->version), &v, err) < 0)
		return err_add(err, "field \"version\"");
	r->key = mem_printf("%s %s %s", what, r->name, r->version);
	r->words = mem_printf("%s %s %s", of, r->name, r->version);
	return 0;
}

/* "3.13", or "3.14t": without the GIL. */
static bool is_python(const char *version)
{
	size_t digits = str_starts(version, "3.") ? strspn(version + 2, "0123456789") : 0;
	return digits >= 1 && digits <= 3 && (!version[2 + digits] || str_eq(version + 2 + digits, "t"));
}

static int read_deps(const struct json *j, struct request *r, struct err *err)
{
	const struct json *deps = json_get(j, "deps");
	if (deps && json_kind(deps) != JSON_BOOL)
		return err_set(err, ERR_INPUT, "field \"deps\" must be true or false");
	r->deps = json_bool(deps, true);
	return 0;
}

static int read_wheels(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "python", "requires", "deps", NULL };
	_cleanup_str_list_ struct str_list raw = STR_LIST_INIT;
	if (check_fields(j, fields, err) < 0 || read_text(j, "python", ".", &r->python, err) < 0)
		return -1;
	if (!is_python(r->python))
		return err_set(err, ERR_INPUT, "field \"python\" must be like \"3.13\" or \"3.14t\", not \"%s\"", r->python);
	if (read_deps(j, r, err) < 0 || read_list(j, "requires", &raw, err) < 0 || requirements_normalise(&raw, &r->list, err) < 0)
		return -1;
	_cleanup_free_ char *key = join(&r->list, " ");
	_cleanup_free_ char *words = join(&r->list, ", ");
	r->key = mem_printf("%s %s %s", r->deps ? "wheels" : "wheels-only", r->python, key);
	r->words = mem_printf("the wheels for Python %s of %s", r->python, words);
	return 0;
}

static int read_components(const struct json *j, struct request *r, struct err *err)
{
	if (json_get(j, "components") && read_list(j, "components", &r->components, err) < 0)
		return -1;
	for (size_t i = 0; i < r->components.count; i++)
		if (!is_plain(r->components.items[i], "-"))
			return err_set(err, ERR_INPUT, "field \"components\" can't hold \"%.200s\"",
				r->components.items[i]);
	str_list_add(&r->components, "main");
	str_list_sort(&r->components);
	str_list_uniq(&r->components);
	return 0;
}

static int read_debian(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "suite", "packages", "components", "deps", NULL };
	if (check_fields(j, fields, err) < 0 || read_text(j, "suite", ".-", &r->suite, err) < 0 ||
	    read_list(j, "packages", &r->list, err) < 0 || read_components(j, r, err) < 0 || read_deps(j, r, err) < 0)
		return -1;
	/* No "=": what a package's own entry is called can't be what a closure is called. */
	for (size_t i = 0; i < r->list.count; i++)
		if (!is_plain(r->list.items[i], "+.-"))
			return err_set(err, ERR_INPUT, "field \"packages\": \"%.200s\" is not a package's name",
				r->list.items[i]);
	str_list_sort(&r->list);
	str_list_uniq(&r->list);
	_cleanup_free_ char *key = join(&r->list, " ");
	_cleanup_free_ char *components = join(&r->components, ",");
	bool plain = str_eq(components, "main");
	r->key = mem_printf("%s %s%s%s %s", r->deps ? "debian" : "debian-only", r->suite, plain ? "" : "/", plain ? "" : components, key);
	r->words = mem_printf("the Debian packages of %s for %s", r->suite, key);
	return 0;
}

static int read_debian_source(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "suite", "source", NULL };
	if (check_fields(j, fields, err) < 0 || read_text(j, "suite", ".-", &r->suite, err) < 0 ||
	    read_text(j, "source", "+.-", &r->name, err) < 0)
		return -1;
	r->key = mem_printf("debian-source %s %s", r->suite, r->name);
	r->words = mem_printf("the Debian source package %s of %s", r->name, r->suite);
	return 0;
}

/* true, false, or a list of names. */
static int read_submodules(const struct json *j, struct request *r, struct err *err)
{
	const struct json *given = json_get(j, "submodules");
	r->submodules = json_bool(given, false);
	if (!given || json_kind(given) == JSON_BOOL)
		return 0;
	if (read_list(j, "submodules", &r->list, err) < 0)
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

static int read_git(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "url", "rev", "submodules", "subdir", NULL };
	const char *url = json_get_str(j, "url");
	if (check_fields(j, fields, err) < 0)
		return -1;
	if (!url)
		return err_set(err, ERR_INPUT, "field \"url\" must be a string");
	if (git_url_check(url, err) < 0)
		return err_add(err, "field \"url\"");
	r->url = mem_dup(url);
	if (read_text(j, "rev", "/._+-@=,!%#", &r->rev, err) < 0 || read_submodules(j, r, err) < 0 ||
	    read_subdir(j, r, err) < 0)
		return -1;
	_cleanup_free_ char *some = join(&r->list, ","), *shown = url_redact(url);
	r->key = mem_printf("git %s %s%s%s%s%s", url, r->rev, r->submodules ? " submodules" : *some ? " submodules=" : "", some,
		r->subdir ? " subdir=" : "", r->subdir ? r->subdir : "");
	r->words = mem_printf("%s of %s%s", r->rev, shown, r->submodules || *some ? " with submodules" : "");
	return 0;
}

static int read_urls(const struct json *j, struct request *r, struct err *err)
{
	if (read_list(j, "urls", &r->urls, err) < 0)
		return -1;
	for (size_t i = 0; i < r->urls.count; i++) {
		const char *url = r->urls.items[i];
		if (!url_has_scheme(url, "https") && !url_has_scheme(url, "http") && !url_has_scheme(url, "file"))
			return err_set(err, ERR_INPUT, "field \"urls\": \"%.200s\" is no https, http or file URL", url);
	}
	return 0;
}

static int read_redist(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "release", "sha256", "urls", "components", NULL };
	const char *hex = json_get_str(j, "sha256");
	if (check_fields(j, fields, err) < 0 || read_text(j, "release", ".", &r->version, err) < 0)
		return -1;
	if (!hex || strlen(hex) != 64 || hash_parse(slice_of(hex), &r->sha256, NULL) < 0)
		return err_set(err, ERR_INPUT, "field \"sha256\" must be the 64 digits of the JSON's");
	if (read_urls(j, r, err) < 0 || read_list(j, "components", &r->list, err) < 0)
		return -1;
	for (size_t i = 0; i < r->list.count; i++)
		if (!is_plain(r->list.items[i], "_-"))
			return err_set(err, ERR_INPUT, "field \"components\" can't hold \"%.200s\"", r->list.items[i]);
	str_list_sort(&r->list);
	str_list_uniq(&r->list);
	_cleanup_free_ char *components = join(&r->list, " "), *digits = hash_hex(&r->sha256);
	r->key = mem_printf("redist %s %s %s", r->version, digits, components);
	r->words = mem_printf("%s of NVIDIA's CUDA %s", components, r->version);
	return 0;
}

static int read_oci(const struct json *j, struct request *r, struct err *err)
{
	static const char *const fields[] = { "image", "digest", NULL };
	const char *text = json_get_str(j, "image"), *digest = json_get_str(j, "digest");
	struct oci_image image = { 0 };
	struct hash hash;
	if (check_fields(j, fields, err) < 0)
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

int request_parse(const struct json *j, struct request *out, struct err *err)
{
	_cleanup_request_ struct request r = { 0 };
	const char *kind = json_get_str(j, "kind");
	int rc;
	if (str_eq(kind, "sdist")) {
		r.kind = REQUEST_SDIST;
		rc = read_release(j, "sdist", "the sdist of", &r, err);
	} else if (str_eq(kind, "tags")) {
		r.kind = REQUEST_TAGS;
		rc = read_release(j, "tags", "the tags of the wheels of", &r, err);
	} else if (str_eq(kind, "wheels")) {
		r.kind = REQUEST_WHEELS;
		rc = read_wheels(j, &r, err);
	} else if (str_eq(kind, "debian")) {
		r.kind = REQUEST_DEBIAN;
		rc = read_debian(j, &r, err);
	} else if (str_eq(kind, "debian-source")) {
		r.kind = REQUEST_DEBIAN_SOURCE;
		rc = read_debian_source(j, &r, err);
	} else if (str_eq(kind, "git")) {
		r.kind = REQUEST_GIT;
		rc = read_git(j, &r, err);
	} else if (str_eq(kind, "redist")) {
		r.kind = REQUEST_REDIST;
		rc = read_redist(j, &r, err);
	} else if (str_eq(kind, "oci")) {
		r.kind = REQUEST_OCI;
		rc = read_oci(j, &r, err);
	} else {
		return err_set(err, ERR_INPUT,
			"forge.locked: kind must be \"sdist\", \"tags\", \"wheels\", \"debian\", \"debian-source\", \"git\", "
			"\"redist\" or \"oci\"%s%.40s%s",
			kind ? ", not \"" : "", kind ? kind : "", kind ? "\"" : "");
	}
	if (rc < 0)
		return err_add(err, "forge.locked of kind \"%s\"", kind);
	*out = r;
	r = (struct request){ 0 };
	return 0;
}

void request_free(struct request *r)
{
	free(r->key);
	free(r->words);
	free(r->name);
	free(r->version);
	free(r->python);
	free(r->suite);
	free(r->url);
	free(r->rev);
	free(r->subdir);
	free(r->image);
	free(r->tag);
	free(r->digest);
	str_list_free(&r->components);
	str_list_free(&r->urls);
	str_list_free(&r->list);
	*r = (struct request){ 0 };
}
