/* Requests of kind "oci": which layers an image has. */
#include <stdlib.h>
#include <string.h>

#include "core/arena.h"
#include "core/mem.h"
#include "fetch/oci_image.h"
#include "fetch/oci_manifest.h"
#include "lock/resolve_impl.h"

#define GONE "the registry has no such image, or its API is at another host, which oci-mirror in forge.conf can name"

/* One image that is looked at. */
struct look {
	struct lock_resolver *r;
	const struct request *q;
	char *repository;    /* its URL */
	struct arena arena;
};

static void look_free(struct look *l)
{
	free(l->repository);
	arena_free(&l->arena);
}
#define _cleanup_look_ __attribute__((cleanup(look_free)))

static int begin(struct look *l, struct err *err)
{
	_cleanup_mirror_map_ struct mirror_map map = MIRROR_MAP_INIT(MIRROR_OCI);
	if (mirror_map_load(&map, err) < 0)
		return -1;
	l->repository = oci_repository(&map, l->q->image, err);
	return l->repository ? 0 : -1;
}

/* kind: "manifests" or "blobs".  The text of what stands there under name, in the arena. */
static int get(struct look *l, const char *kind, const char *name, const char *label, uint64_t limit,
	const struct oci_descriptor *expect, struct slice *text, struct hash *sha256, struct err *err)
{
	struct net *net = resolver_net(l->r, err);
	_cleanup_free_ char *url = mem_printf("%s/%s/%s", l->repository, kind, name);
	struct net_ask a = {
		.urls = (const char *const[]){ url }, .url_count = 1, .label = label, .limit = limit, .fd = -1,
		.accept = str_eq(kind, "manifests") ? OCI_MANIFEST_TYPES : NULL, .repository = l->repository, .gone = GONE,
		.expect = expect ? &expect->sha256 : NULL, .size = expect ? expect->size : -1,
	};
	if (!net || net_ask(net, &a, 1, err) < 0)
		return -1;
	struct slice came = buf_slice(&a.body);
	*text = (struct slice){ arena_dup_n(&l->arena, came.p, came.n), came.n };
	if (sha256)
		*sha256 = a.sha256;
	net_ask_clear(&a);
	return 0;
}

/* What tag or digest names: *digest is that of the text. */
static int get_named(struct look *l, struct slice *text, struct hash *digest, struct err *err)
{
	struct oci_descriptor expect = { .size = -1 };
	const char *name = l->q->tag ? l->q->tag : l->q->digest;
	if (!l->q->tag && oci_digest_parse(l->q->digest, &expect.sha256, err) < 0)
		return -1;
	return get(l, "manifests", name, "its manifest", OCI_MANIFEST_LIMIT, l->q->tag ? NULL : &expect, text, digest, err);
}

char *oci_tag_now(struct lock_resolver *r, const struct request *q, struct err *err)
{
	_cleanup_look_ struct look l = { .r = r, .q = q, .arena = ARENA_INIT };
	struct slice text;
	struct hash digest;
	if (begin(&l, err) < 0 || get_named(&l, &text, &digest, err) < 0)
		return NULL;
	return oci_digest(&digest);
}

/* The recipe's digest is the index's, or that of the manifest for this platform. */
static int agree(const struct look *l, const char *digest, const char *manifest, struct err *err)
{
	const char *wanted = l->q->digest;
	if (!wanted || str_eq(wanted, digest) || str_eq(wanted, manifest))
		return 0;
	return err_set(err, ERR_HASH, "the recipe's digest is %s, the tag %s is %s now: change the digest, or leave the tag "
		"out to keep it", wanted, l->q->tag, digest);
}

static struct json *layer_entry(const struct oci_descriptor *layer, const struct hash *diff_id)
{
	struct json *j = json_new_obj();
	_cleanup_free_ char *id = oci_digest(diff_id);
	json_set_str(j, "digest", layer->digest);
	json_set_int(j, "size", layer->size);
	json_set_str(j, "mediaType", layer->type);
	json_set_str(j, "diffId", id);
	return j;
}

static void put(const struct look *l, const char *digest, const char *manifest, const struct oci_manifest *m,
	const struct hash *diff_ids)
{
	struct json *entry = json_new_obj(), *layers = json_new_arr();
	json_set_str(entry, "from", "oci");
	json_set_str(entry, "image", l->q->image);
	json_set_str(entry, "digest", digest);
	json_set_str(entry, "manifest", manifest);
	for (size_t i = 0; i < m->count; i++)
		json_push(layers, layer_entry(&m->layers[i], &diff_ids[i]));
	json_set(entry, "layers", layers);
	lock_put(l->r->lock, l->q->key, entry);
}

/* From an index go on to the manifest that was chosen from it; *manifest, in the arena, is its digest. */
static int follow_index(struct look *l, struct oci_manifest *m, const char **manifest, struct err *err)
{
	struct oci_descriptor chosen = m->chosen;
	struct slice text;
	if (!m->index)
		return 0;
	*manifest = chosen.digest;
	if (get(l, "manifests", chosen.digest, "its manifest for linux/amd64", OCI_MANIFEST_LIMIT, &chosen, &text, NULL, err) < 0 ||
	    oci_manifest_parse(text, &l->arena, m, err) < 0)
		return -1;
	return m->index ? err_set(err, ERR_INPUT, "its index names another index") : 0;
}

int resolve_oci(struct lock_resolver *r, const struct request *q, struct err *err)
{
	_cleanup_look_ struct look l = { .r = r, .q = q, .arena = ARENA_INIT };
	struct oci_manifest m;
	struct slice text;
	struct hash hash;
	if (begin(&l, err) < 0 || get_named(&l, &text, &hash, err) < 0 || oci_manifest_parse(text, &l.arena, &m, err) < 0)
		return -1;
	_cleanup_free_ char *digest = oci_digest(&hash);
	const char *manifest = digest;
	if (follow_index(&l, &m, &manifest, err) < 0 || agree(&l, digest, manifest, err) < 0 ||
	    get(&l, "blobs", m.config.digest, "its configuration", OCI_CONFIG_LIMIT, &m.config, &text, NULL, err) < 0)
		return -1;
	const struct hash *diff_ids = oci_config_parse(text, m.count, &l.arena, err);
	if (!diff_ids)
		return -1;
	put(&l, digest, manifest, &m, diff_ids);
	return 0;
}
