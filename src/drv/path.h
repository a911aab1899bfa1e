/*
 * Store paths: names, digests and how they are computed (Nix manual, "Complete
 * Store Path Calculation"), for the store directory /forge/store.  Pure.
 */
#ifndef FORGE_DRV_PATH_H
#define FORGE_DRV_PATH_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/hash.h"

#define STORE_DIR "/forge/store"
#define STORE_PATH_DIGEST 32  /* characters of the base-32 digest */
#define STORE_NAME_MAX 211

enum drv_method {
	DRV_FLAT, /* sha256 of the file's bytes */
	DRV_NAR,  /* sha256 of the NAR form ("r:sha256") */
	DRV_TEXT, /* a text object with references (derivations) */
};

/* A name holds letters, digits and + - . _ ? =, 1 to 211 of them, and is not "." or ".." nor begins
 * ".-" or "..-". */
int store_name_check(struct slice name, struct err *err);

/* "/forge/store/<digest>-<name>" or "<digest>-<name>"; on success *name is what follows the digest. */
int store_path_check(struct slice path, struct slice *name, struct err *err);
/* What follows "/forge/store/". The path must be one. */
const char *store_path_base(const char *path);

/* makeStorePath: type as "source", "text:…", "output:out". Appends the whole path. */
void store_path_make(const char *type, const struct hash *hash, const char *name, struct buf *out);
/* Content-addressed by NAR or flat hash; refs (sorted store paths) only with DRV_NAR, may be NULL. */
void store_path_fixed(enum drv_method method, const struct hash *hash, const char *name,
	const struct str_list *refs, struct buf *out);
/* A text object: hash of its bytes, references sorted. */
void store_path_text(const struct hash *hash, const char *name, const struct str_list *refs,
	struct buf *out);

#endif
