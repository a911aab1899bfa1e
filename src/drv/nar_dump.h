/*
 * The NAR form of what stands on disk.  The one file of this room that does
 * I/O, and it only reads: evaluation and the store both need it.
 *
 * Everything is opened through descriptors and no link is followed, not even
 * at the root (a link is dumped as a link).  Executable is what its owner may
 * execute.  Devices, pipes and sockets are refused, and a file that shrinks
 * while it is read is an error.  Streams: memory does not grow with file sizes.
 */
#ifndef FORGE_DRV_NAR_DUMP_H
#define FORGE_DRV_NAR_DUMP_H

#include "core/err.h"
#include "core/hash.h"
#include "drv/nar.h"

/* name: one component beneath dirfd (or any path, where the caller trusts the folders on the way). */
int nar_dump(int dirfd, const char *name, nar_sink_fn *sink, void *ctx, struct err *err);

/* The sha256 of the NAR and its length in bytes; size may be NULL. */
int nar_hash(int dirfd, const char *name, struct hash *out, uint64_t *size, struct err *err);

#endif
