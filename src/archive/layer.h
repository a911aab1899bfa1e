/*
 * The layers of an OCI image, applied in order into one folder: its root file system (OCI image
 * specification 1.1, "Image Layer Filesystem Changeset"; Docker's layers are the same).
 *
 * Each is a tar, plain or gzip or zstd, by content.  An entry replaces what earlier layers left at its name,
 * whatever that is; a hard link may name a file of an earlier layer.  An empty file ".wh.NAME" removes NAME,
 * ".wh..wh..opq" all that its folder holds, in both cases only what earlier layers left.  Links in the folders
 * of a name are followed with the image as their "/" (archive/unpack.h, root_links).
 *
 * Refused, beside what every tar may not hold: a whiteout of "", "." or "..", one that is no empty file, one in
 * the middle of a name, and ".wh..wh." of anything but "opq" (the old AUFS's own files).
 *
 * Devices and fifos are left out: the store has no form for them, and a build has a /dev of its own.
 * What stood at their names goes all the same.
 */
#ifndef FORGE_ARCHIVE_LAYER_H
#define FORGE_ARCHIVE_LAYER_H

#include <stdint.h>
#include "archive/unpack.h"
#include "core/hash.h"

struct layers;

/* dirfd stays the caller's and is empty.  Of the options only the limits count, for all layers together. */
struct layers *layers_open(int dirfd, const struct unpack_options *o, struct err *err);
void layers_free(struct layers *l);

/* fd: as unpack_tar().  diff_id: the hash of the layer's tar, decompressed, which must be right (ERR_HASH). */
int layers_add(struct layers *l, int fd, const struct hash *diff_id, struct err *err);

uint64_t layers_left_out(const struct layers *l); /* devices and fifos, so far */

void layers_free_ptr(struct layers **l);
#define _cleanup_layers_ __attribute__((cleanup(layers_free_ptr)))

#endif
