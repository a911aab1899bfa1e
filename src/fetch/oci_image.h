/*
 * References to images, "registry.example:5000/vendor/cuda:13.0", and where a registry keeps what they name
 * (OCI distribution specification 1.1, "Pulling content").
 *
 * The registry's host is always named: it is the part before the first "/", and has a ".", a ":" or is
 * "localhost".  A repository is asked for over https; over http only on this machine's own loopback, or where
 * the mirror map says http.
 */
#ifndef FORGE_FETCH_OCI_IMAGE_H
#define FORGE_FETCH_OCI_IMAGE_H

#include "core/err.h"
#include "core/hash.h"
#include "fetch/mirror_map.h"

struct oci_image {
	char *name; /* with the host: "registry.example:5000/vendor/cuda" */
	char *tag;  /* NULL: none */
};

/* An error says what of the text is wrong.  A digest is no part of it. */
int oci_image_parse(const char *text, struct oci_image *out, struct err *err);
void oci_image_free(struct oci_image *image);
#define _cleanup_oci_image_ __attribute__((cleanup(oci_image_free)))

/* "cuda" of that name; lent. */
const char *oci_image_last(const char *name);

/* "sha256:" and 64 lower-case hexadecimal digits. */
int oci_digest_parse(const char *text, struct hash *out, struct err *err);
char *oci_digest(const struct hash *hash); /* owned */

/* The URL of a repository, name as in struct oci_image, mapped: "https://registry.example:5000/v2/vendor/cuda".
 * What it holds is at <URL>/manifests/<tag or digest> and <URL>/blobs/<digest>.  Owned. */
char *oci_repository(const struct mirror_map *m, const char *name, struct err *err);

#endif
