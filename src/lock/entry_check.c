/* The form of each kind of entry; declared in entry.h. */
#include <string.h>

#include "core/hash.h"
#include "core/mem.h"
#include "fetch/git.h"
#include "fetch/oci_image.h"
#include "fetch/oci_manifest.h"
#include "lock/entry.h"

#define ITEM_LIMIT 10000

static int text_field(const struct json *e, const char *field, struct err *err)
{
	const char *text = json_get_str(e, field);
	if (text && *text)
		return 0;
	return err_set(err, ERR_INPUT, json_get(e, field) ? "\"%s\" is not a string of some length"
	                                                  : "\"%s\" is missing", field);
}

static int list_field(const struct json *e, const char *field, struct err *err)
{
	const struct json *list = json_get(e, field);
	if (!list)
		return err_set(err, ERR_INPUT, "\"%s\" is missing", field);
	if (json_kind(list) != JSON_ARR || json_count(list) > ITEM_LIMIT)
		return err_set(err, ERR_INPUT, "\"%s\" is not a list of at most %d", field, ITEM_LIMIT);
	for (size_t i = 0; i < json_count(list); i++)
		if (!json_str(json_at(list, i)))
			return err_set(err, ERR_INPUT, "\"%s\" holds something that is not a string", field);
	return 0;
}

static int hash_fields(const struct json *e, struct err *err)
{
	if (text_field(e, "sha256", err) < 0)
		return -1;
	const char *hex = json_get_str(e, "sha256");
	if (strlen(hex) != 64 || strspn(hex, "0123456789abcdefABCDEF") != 64)
		return err_set(err, ERR_INPUT, "\"sha256\" is not 64 hexadecimal digits");
	if (!json_get(e, "size"))
		return err_set(err, ERR_INPUT, "\"size\" is missing");
	if (json_get_int(e, "size", -1) < 0)
		return err_set(err, ERR_INPUT, "\"size\" is not a number of bytes");
	return 0;
}

static int content_fields(const struct json *e, const char *from, struct err *err)
{
	if (text_field(e, "from", err) < 0 || hash_fields(e, err) < 0)
		return -1;
	if (!str_eq(json_get_str(e, "from"), from))
		return err_set(err, ERR_INPUT, "\"from\" is not \"%s\"", from);
	return 0;
}

static int pypi_fields(const struct json *e, struct err *err)
{
	if (content_fields(e, "pypi", err) < 0 || text_field(e, "name", err) < 0 ||
	    text_field(e, "version", err) < 0 || text_field(e, "file", err) < 0)
		return -1;
	if (strchr(json_get_str(e, "file"), '/'))
		return err_set(err, ERR_INPUT, "\"file\" is not a plain file name");
	return 0;
}

static int check_pypi(const struct json *e, const char *file, struct err *err)
{
	if (pypi_fields(e, err) < 0)
		return -1;
	return str_eq(json_get_str(e, "file"), file) ? 0 :
		err_set(err, ERR_INPUT, "\"file\" is not the one of the key");
}

static int check_sdist(const struct json *e, struct err *err)
{
	if (pypi_fields(e, err) < 0 || list_field(e, "requires", err) < 0)
		return -1;
	return list_field(e, "build_requires", err);
}

/* A path below the mirror: no part of it leads up or is empty. */
static bool is_pool_path(const char *path)
{
	struct slice part, rest = slice_of(path);
	bool more = true;
	while (more) {
		more = slice_cut(rest, '/', &part, &rest);
		if (part.n == 0 || slice_is(part, ".") || slice_is(part, ".."))
			return false;
	}
	return true;
}

/* key: "debian <suite> <name>=<version>" */
static int check_deb(const struct json *e, const char *key, struct err *err)
{
	if (content_fields(e, "debian", err) < 0 || text_field(e, "suite", err) < 0 ||
	    text_field(e, "package", err) < 0 || text_field(e, "version", err) < 0 ||
	    text_field(e, "path", err) < 0)
		return -1;
	if (!is_pool_path(json_get_str(e, "path")))
		return err_set(err, ERR_INPUT, "\"path\" leads out of the mirror");
	_cleanup_free_ char *right = mem_printf("debian %s %s=%s", json_get_str(e, "suite"),
		json_get_str(e, "package"), json_get_str(e, "version"));
	return str_eq(right, key) ? 0 :
		err_set(err, ERR_INPUT, "\"suite\", \"package\" and \"version\" are not those of the key");
}

/* key: "debian-source <suite> <source>" */
static int check_debian_source(const struct json *e, const char *key, struct err *err)
{
	if (content_fields(e, "debian", err) < 0 || text_field(e, "suite", err) < 0 ||
	    text_field(e, "source", err) < 0 || text_field(e, "version", err) < 0 || text_field(e, "path", err) < 0)
		return -1;
	if (!is_pool_path(json_get_str(e, "path")))
		return err_set(err, ERR_INPUT, "\"path\" leads out of the mirror");
	_cleanup_free_ char *right = mem_printf("debian-source %s %s", json_get_str(e, "suite"), json_get_str(e, "source"));
	return str_eq(right, key) ? 0 : err_set(err, ERR_INPUT, "\"suite\" and \"source\" are not those of the key");
}

static int check_component(const struct json *e, struct err *err)
{
	if (text_field(e, "name", err) < 0 || text_field(e, "version", err) < 0 || text_field(e, "path", err) < 0 ||
	    hash_fields(e, err) < 0)
		return -1;
	return is_pool_path(json_get_str(e, "path")) ? 0 :
		err_set(err, ERR_INPUT, "\"path\" leads out of the release's folder");
}

static int check_redist(const struct json *e, struct err *err)
{
	const struct json *list = json_get(e, "components");
	if (json_kind(list) != JSON_ARR || json_count(list) > ITEM_LIMIT)
		return err_set(err, ERR_INPUT, "\"components\" is not a list of at most %d", ITEM_LIMIT);
	for (size_t i = 0; i < json_count(list); i++)
		if (check_component(json_at(list, i), err) < 0)
			return err_add(err, "component %zu", i + 1);
	return 0;
}

static int check_git(const struct json *e, const char *key, struct err *err)
{
	const struct json *submodules = json_get(e, "submodules");
	struct hash hash;
	if (text_field(e, "from", err) < 0 || text_field(e, "url", err) < 0 || text_field(e, "rev", err) < 0 ||
	    text_field(e, "narHash", err) < 0)
		return -1;
	if (!str_eq(json_get_str(e, "from"), "git"))
		return err_set(err, ERR_INPUT, "\"from\" is not \"git\"");
	if (!git_is_commit(json_get_str(e, "rev")))
		return err_set(err, ERR_INPUT, "\"rev\" is not the %d digits of a commit", GIT_REV_LEN);
	if (hash_parse(slice_of(json_get_str(e, "narHash")), &hash, NULL) < 0)
		return err_set(err, ERR_INPUT, "\"narHash\" is not a sha256");
	if (json_kind(submodules) != JSON_BOOL && list_field(e, "submodules", err) < 0)
		return -1;
	/* What its pyproject.toml doesn't tell is not there. */
	if ((json_get(e, "requires") && list_field(e, "requires", err) < 0) ||
	    (json_get(e, "build_requires") && list_field(e, "build_requires", err) < 0))
		return -1;
	_cleanup_free_ char *right = mem_printf("git %s ", json_get_str(e, "url"));
	return str_starts(key, right) ? 0 : err_set(err, ERR_INPUT, "\"url\" is not that of the key");
}

static int digest_field(const struct json *e, const char *field, struct err *err)
{
	struct hash hash;
	if (text_field(e, field, err) < 0)
		return -1;
	return oci_digest_parse(json_get_str(e, field), &hash, err) < 0 ? err_add(err, "\"%s\"", field) : 0;
}

static int check_layer(const struct json *l, struct err *err)
{
	if (digest_field(l, "digest", err) < 0 || digest_field(l, "diffId", err) < 0 || text_field(l, "mediaType", err) < 0)
		return -1;
	if (json_get_int(l, "size", -1) < 0)
		return err_set(err, ERR_INPUT, "\"size\" is not a number of bytes");
	if (!oci_is_layer(json_get_str(l, "mediaType")))
		return err_set(err, ERR_INPUT, "\"mediaType\" is not that of a layer");
	return 0;
}

/* key: "oci <image>[:<tag>][@<digest>]"; the digest is that of the index or of the manifest chosen from it */
static int check_oci(const struct json *e, const char *key, struct err *err)
{
	const struct json *layers = json_get(e, "layers");
	const char *image = json_get_str(e, "image"), *wanted = strchr(key, '@');
	_cleanup_oci_image_ struct oci_image plain = { 0 };
	if (text_field(e, "from", err) < 0 || text_field(e, "image", err) < 0 || digest_field(e, "digest", err) < 0 ||
	    digest_field(e, "manifest", err) < 0)
		return -1;
	if (!str_eq(json_get_str(e, "from"), "oci"))
		return err_set(err, ERR_INPUT, "\"from\" is not \"oci\"");
	if (oci_image_parse(image, &plain, err) < 0)
		return err_add(err, "\"image\"");
	size_t n = strlen("oci ") + strlen(image);
	if (strlen(key) < n || strncmp(key + strlen("oci "), image, strlen(image)) != 0 || (key[n] != ':' && key[n] != '@'))
		return err_set(err, ERR_INPUT, "\"image\" is not that of the key");
	if (wanted && !str_eq(wanted + 1, json_get_str(e, "digest")) && !str_eq(wanted + 1, json_get_str(e, "manifest")))
		return err_set(err, ERR_INPUT, "neither \"digest\" nor \"manifest\" is that of the key");
	if (json_kind(layers) != JSON_ARR || !json_count(layers) || json_count(layers) > OCI_LAYERS_MAX)
		return err_set(err, ERR_INPUT, "\"layers\" is not a list of 1 to %d", OCI_LAYERS_MAX);
	for (size_t i = 0; i < json_count(layers); i++)
		if (check_layer(json_at(layers, i), err) < 0)
			return err_add(err, "layer %zu", i + 1);
	return 0;
}

int entry_check_items(const struct json *entries, const char *key, struct err *err)
{
	_cleanup_str_list_ struct str_list items = STR_LIST_INIT;
	entry_items(entries, key, &items);
	for (size_t i = 0; i < items.count; i++)
		if (!json_get(entries, items.items[i]))
			return err_set(err, ERR_INPUT, "it names \"%s\", which has no entry", items.items[i]);
	return 0;
}

int entry_check(const struct json *e, const char *key, struct err *err)
{
	if (json_kind(e) != JSON_OBJ)
		return err_set(err, ERR_INPUT, "it is not an object");
	if (str_starts(key, "pypi "))
		return check_pypi(e, key + strlen("pypi "), err);
	if (str_starts(key, "sdist "))
		return check_sdist(e, err);
	if (str_starts(key, "git "))
		return check_git(e, key, err);
	if (str_starts(key, "debian-source "))
		return check_debian_source(e, key, err);
	if (str_starts(key, "oci "))
		return check_oci(e, key, err);
	if (str_starts(key, "tags "))
		return list_field(e, "tags", err);
	if (str_starts(key, "redist "))
		return check_redist(e, err);
	if (str_starts(key, "debian "))
		return strchr(key, '=') ? check_deb(e, key, err) : list_field(e, entry_list(key), err);
	if (str_starts(key, "wheels ") || str_starts(key, "wheels-only ") || str_starts(key, "debian-only "))
		return list_field(e, entry_list(key), err);
	if (str_starts(key, "tool "))
		return text_field(e, "file", err);
	return err_set(err, ERR_INPUT, "this forge knows no such kind of entry");
}
