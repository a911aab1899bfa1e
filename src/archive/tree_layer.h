/*
 * Layers of an image laid over one another in one tree (OCI image specification, "Image Layer Filesystem
 * Changeset"): what a layer names takes the place of what earlier layers left there, and a whiteout removes
 * only what they left, in whatever order the layer's entries stand.
 */
#ifndef FORGE_ARCHIVE_TREE_LAYER_H
#define FORGE_ARCHIVE_TREE_LAYER_H

#include "archive/tree.h"

/* From here on entries are the next layer's.  Once called, all that the tree is given is layers. */
void tree_layer(struct tree *t);

/* Before a layer's entry is made: what stands at the clean name goes, with all below it; a folder stays where
 * the entry is one too. */
int tree_take(struct tree *t, const char *name, bool folder, struct err *err);

/* Remove what earlier layers left at name in folder, or (name NULL) everywhere in folder: clean names, name
 * without a slash.  What is not there is no error. */
int tree_whiteout(struct tree *t, const char *folder, const char *name, struct err *err);

#endif
