/* What the files of this room share: the ATerm form, and paths from a running hash. */
#ifndef FORGE_DRV_ATERM_H
#define FORGE_DRV_ATERM_H

#include "drv/text.h"

#define DRV_TEXT_MAX ((size_t)16 << 20) /* bytes of a derivation that is read */

/* The text, appended; with marks (NULL: not wanted) where in it the parts are that hashes see otherwise. */
void aterm_write(const struct drv *d, struct drv_text *marks, struct buf *out);
/* One element of the list of input derivations: ("path",["out"]). */
void aterm_write_input(const char *path, const char *const *outputs, size_t count, struct buf *out);

/* The syntax alone, in arena: no order, no name and no path is checked, and other forms of the same
 * thing (a needless escape) are let through. */
struct drv *aterm_read(struct slice text, const char *name, struct arena *a, struct err *err);

/* makeStorePath for a type whose text was already fed to a running hash. */
void store_path_typed(struct hasher *type, const struct hash *hash, const char *name, struct buf *out);

/* Insert or replace a variable; env stays sorted.  key and value live in arena. */
void drv_env_set(struct drv *d, const char *key, const char *value, struct arena *a);

/* Deferred outputs become input-addressed ones: d has no floating input (any more), id is its drv_hash_id. */
void drv_fill_deferred(struct drv *d, const struct hash *id, struct arena *a);

/* The name of an output's path: "<name>" for "out", else "<name>-<output>". */
void drv_output_path_name(const char *name, size_t name_len, const char *output, struct buf *out);

#endif
