/*
 * The ATerm text of a derivation, written once for all hashes that are taken of it: that of its path, and the two
 * by which it is known (drv_hash_modulo, drv_hash_id in drv.h), which see the text with other inputs.
 */
#ifndef FORGE_DRV_TEXT_H
#define FORGE_DRV_TEXT_H

#include "core/list.h"
#include "drv/drv.h"

struct drv_text_part {
	size_t at, end; /* in the text */
};

/* An input derivation, which stands for a hash by what it is, not by its path. */
struct drv_text_input {
	struct hash hash;
	const struct drv_input *input;
};

/* Zeroed at first; what it has allocated is used again for the next derivation. */
struct drv_text {
	struct buf text;
	struct drv_text_part inputs;          /* the elements of the list of input derivations */
	LIST(struct drv_text_part) own;       /* own output paths, also those in env, in the order of the text */
	LIST(struct drv_text_input) by_hash;  /* work of drv_text_hash: the input derivations in the order of their hashes … */
	struct buf instead, hex;              /* … the elements that stand for them, one hash */
};
void drv_text_free(struct drv_text *t);

/* d is in order already. */
void drv_text_write(const struct drv *d, struct drv_text *t);

/* Of the derivation that was written: its path; its two hashes. */
void drv_text_path(const struct drv *d, const struct drv_text *t, struct buf *out);
int drv_text_hash(const struct drv *d, struct drv_text *t, drv_modulo_fn *input, void *ctx, struct hash *modulo,
	struct hash *id, struct err *err);

#define _cleanup_drv_text_ __attribute__((cleanup(drv_text_free)))

#endif
