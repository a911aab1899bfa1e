#include "fetch/oci_manifest.h"

#include "core/buf.h"
#include "core/json.h"
#include "core/mem.h"
#include "fetch/oci_image.h"

#define INDEX_MAX 1000
#define LAYER_BYTES (64ll << 30)

static const char *const layer_types[] = {
	"application/vnd.oci.image.layer.v1.tar", "application/vnd.oci.image.layer.v1.tar+gzip",
	"application/vnd.oci.image.layer.v1.tar+zstd", "application/vnd.docker.image.rootfs.diff.tar",
	"application/vnd.docker.image.rootfs.diff.tar.gzip", "application/vnd.docker.image.rootfs.diff.tar.zstd",
};

bool oci_is_layer(const char *type)
{
	for (size_t i = 0; i < sizeof layer_types / sizeof *layer_types; i++)
		if (str_eq(type, layer_types[i]))
			return true;
	return false;
}

/* A media type as RFC 6838 has it, so that it can be shown and kept. */
static bool is_type(const char *type)
{
	for (const char *p = type; *p; p++)
		if (*p <= ' ' || *p >= 0x7f || *p == '"')
			return false;
	return strlen(type) <= 255;
}

static int read_descriptor(const struct json *j, int64_t most, struct arena *a, struct oci_descriptor *out,
	struct err *err)
{
	const char *type = json_get_str(j, "mediaType"), *digest = json_get_str(j, "digest");
	if (!digest || oci_digest_parse(digest, &out->sha256, err) < 0)
		return digest ? -1 : err_set(err, ERR_INPUT, "it has no digest");
	out->size = json_get_int(j, "size", -1);
	if (out->size < 0 || out->size > most)
		return err_set(err, ERR_INPUT, "its size is not a number of bytes up to %lld", (long long)most);
	if (type && !is_type(type))
		return err_set(err, ERR_INPUT, "its mediaType is none");
	out->type = arena_dup(a, type ? type : "");
	out->digest = arena_dup(a, digest);
	return 0;
}

/* "linux/arm64, linux/arm/v7": what an index has, as far as it fits into a line. */
static void add_platform(const struct json *platform, struct buf *out)
{
	const char *os = json_get_str(platform, "os"), *architecture = json_get_str(platform, "architecture");
	if (!os || !architecture || !is_type(os) || !is_type(architecture) || out->len > 120)
		return;
	buf_printf(out, "%s%.20s/%.20s", out->len ? ", " : "", os, architecture);
}

/* 2: for every amd64, 1: for its newer ones only ("v2" and up), 0: another platform. */
static int fit(const struct json *platform)
{
	const char *variant = json_get_str(platform, "variant");
	if (!str_eq(json_get_str(platform, "os"), "linux") || !str_eq(json_get_str(platform, "architecture"), "amd64"))
		return 0;
	return !variant || !*variant || str_eq(variant, "v1") ? 2 : 1;
}

static int choose(const struct json *list, struct arena *a, struct oci_manifest *out, struct err *err)
{
	_cleanup_buf_ struct buf platforms = BUF_INIT;
	const struct json *best = NULL;
	int best_fit = 0;
	if (json_kind(list) != JSON_ARR || json_count(list) > INDEX_MAX)
		return err_set(err, ERR_INPUT, "the index is not a list of at most %d manifests", INDEX_MAX);
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *platform = json_get(json_at(list, i), "platform");
		int fits = fit(platform);
		add_platform(platform, &platforms);
		if (fits > best_fit) {
			best = json_at(list, i);
			best_fit = fits;
		}
	}
	if (!best)
		return err_set(err, ERR_INPUT, "it is not for linux/amd64 (the index has %s)",
			platforms.len ? platforms.data : "no platforms");
	out->index = true;
	if (read_descriptor(best, OCI_MANIFEST_LIMIT, a, &out->chosen, err) < 0)
		return err_add(err, "the index, for linux/amd64");
	return 0;
}

static int read_layer(const struct json *j, struct arena *a, struct oci_descriptor *out, struct err *err)
{
	if (read_descriptor(j, LAYER_BYTES, a, out, err) < 0)
		return -1;
	if (oci_is_layer(out->type))
		return 0;
	if (strstr(out->type, "nondistributable") || strstr(out->type, "foreign"))
		return err_set(err, ERR_INPUT, "the registry does not have it (%s)", out->type);
	return err_set(err, ERR_INPUT, "\"%s\" is no layer of an image", out->type);
}

static int read_manifest(const struct json *j, struct arena *a, struct oci_manifest *out, struct err *err)
{
	const struct json *layers = json_get(j, "layers");
	if (read_descriptor(json_get(j, "config"), OCI_CONFIG_LIMIT, a, &out->config, err) < 0)
		return err_add(err, "the manifest's config");
	out->count = json_count(layers);
	if (json_kind(layers) != JSON_ARR || !out->count || out->count > OCI_LAYERS_MAX)
		return err_set(err, ERR_INPUT, "the manifest has not 1 to %d layers", OCI_LAYERS_MAX);
	out->layers = arena_alloc(a, out->count * sizeof *out->layers);
	for (size_t i = 0; i < out->count; i++)
		if (read_layer(json_at(layers, i), a, &out->layers[i], err) < 0)
			return err_add(err, "the manifest's layer %zu", i + 1);
	return 0;
}

int oci_manifest_parse(struct slice text, struct arena *a, struct oci_manifest *out, struct err *err)
{
	_cleanup_json_ struct json *j = json_parse(text, OCI_MANIFEST_LIMIT, err);
	if (!j)
		return err_add(err, "the manifest");
	*out = (struct oci_manifest){ 0 };
	if (json_get_int(j, "schemaVersion", 2) == 1)
		return err_set(err, ERR_INPUT, "the manifest is of the old form (schema 1): push the image anew with a newer tool");
	/* One text that is both would be read as one by some and as the other by others. */
	if (!json_get(j, "manifests") == !json_get(j, "layers"))
		return err_set(err, ERR_INPUT, "the manifest is neither that of an image nor an index of such");
	if (json_get(j, "manifests"))
		return choose(json_get(j, "manifests"), a, out, err);
	return read_manifest(j, a, out, err);
}

struct hash *oci_config_parse(struct slice text, size_t count, struct arena *a, struct err *err)
{
	_cleanup_json_ struct json *j = json_parse(text, OCI_CONFIG_LIMIT, err);
	const char *os = json_get_str(j, "os"), *architecture = json_get_str(j, "architecture");
	const struct json *ids = json_get(json_get(j, "rootfs"), "diff_ids");
	struct hash *out = arena_alloc(a, (count + 1) * sizeof *out);
	if (!j) {
		err_add(err, "the configuration");
		return NULL;
	}
	if (!str_eq(os, "linux") || !str_eq(architecture, "amd64")) {
		err_set(err, ERR_INPUT, "it is not for linux/amd64 (it is for %.20s/%.20s)", os && is_type(os) ? os : "?",
			architecture && is_type(architecture) ? architecture : "?");
		return NULL;
	}
	if (json_kind(ids) != JSON_ARR || json_count(ids) != count) {
		err_set(err, ERR_INPUT, "the configuration does not name %zu layers, as the manifest does", count);
		return NULL;
	}
	for (size_t i = 0; i < count; i++) {
		const char *digest = json_str(json_at(ids, i));
		if (oci_digest_parse(digest ? digest : "", &out[i], err) < 0) {
			err_add(err, "the configuration's layer %zu", i + 1);
			return NULL;
		}
	}
	return out;
}
