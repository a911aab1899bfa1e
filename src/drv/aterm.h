/* What the files of this room share: the ATerm form with its two changes, and paths from a running hash. */
#ifndef FORGE_DRV_ATERM_H
#define FORGE_DRV_ATERM_H

#include "drv/drv.h"

#define DRV_TEXT_MAX ((size_t)16 << 20) /* bytes of a derivation that is read */

/*
 * The text that a modulo hash is taken of: the derivation with another list of
 * input derivations and, with mask, its own output paths empty, also in env.
 */
struct aterm_view {
	bool mask;
	const struct slice *inputs; /* "(…),(…)" in place of the input derivations; NULL: as they are */
};

void aterm_write(const struct drv *d, const struct aterm_view *view, struct buf *out);
/* One element of the list of input derivations: ("path",["out"]). */
void aterm_write_input(const char *path, const char *const *outputs, size_t count, struct buf *out);

/* The syntax alone, in arena: no order, no name and no path is checked, and other forms of the same
 * thing (a needless escape) are let through. */
struct drv *aterm_read(struct slice text, const char *name, struct arena *a, struct err *err);

/* The sha256 of a derivation's text under a view. */
void aterm_hash(const struct drv *d, const struct aterm_view *view, struct hash *out);

/* makeStorePath for a type whose text was already fed to a running hash. */
void store_path_typed(struct hasher *type, const struct hash *hash, const char *name, struct buf *out);

/* Insert or replace a variable; env stays sorted.  key and value live in arena. */
void drv_env_set(struct drv *d, const char *key, const char *value, struct arena *a);

/* Deferred outputs become input-addressed ones: d has no floating input (any more), id is its drv_hash_id. */
void drv_fill_deferred(struct drv *d, const struct hash *id, struct arena *a);

/* The name of an output's path: "<name>" for "out", else "<name>-<output>". */
void drv_output_path_name(const char *name, size_t name_len, const char *output, struct buf *out);

#endif
