/*
 * Manifests, indexes and configurations of images: OCI image specification 1.1, and Docker's (image manifest
 * version 2, schema 2; manifest list), which differ in the media types only.
 */
#ifndef FORGE_FETCH_OCI_MANIFEST_H
#define FORGE_FETCH_OCI_MANIFEST_H

#include <stdbool.h>
#include <stdint.h>
#include "core/arena.h"
#include "core/err.h"
#include "core/hash.h"
#include "core/str.h"

#define OCI_MANIFEST_LIMIT (4u << 20)  /* bytes; the specification asks registries for as much */
#define OCI_CONFIG_LIMIT (8u << 20)
#define OCI_LAYERS_MAX 512

/* What is asked for: Accept */
#define OCI_MANIFEST_TYPES "application/vnd.oci.image.index.v1+json, application/vnd.oci.image.manifest.v1+json, " \
	"application/vnd.docker.distribution.manifest.list.v2+json, application/vnd.docker.distribution.manifest.v2+json"

struct oci_descriptor {
	const char *type;   /* media type; "" where an index does not say */
	const char *digest; /* "sha256:…" */
	struct hash sha256;
	int64_t size;
};

struct oci_manifest {
	bool index;
	struct oci_descriptor chosen;  /* of an index: the manifest for linux/amd64 */
	struct oci_descriptor config;  /* of a manifest, … */
	struct oci_descriptor *layers; /* … the lowest first */
	size_t count;
};

/* Everything in out is in the arena. */
int oci_manifest_parse(struct slice text, struct arena *a, struct oci_manifest *out, struct err *err);

/* The hashes of the layers' tars ("diff_ids") in the configuration of an image with `count` layers, in the arena;
 * NULL where it is not of such an image for linux/amd64. */
struct hash *oci_config_parse(struct slice text, size_t count, struct arena *a, struct err *err);

/* Is that the media type of a layer: a tar, as it is, gzip or zstd? */
bool oci_is_layer(const char *type);

#endif
