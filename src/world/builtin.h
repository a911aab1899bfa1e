/*
 * The builtin builders: steps that forge does itself, in a worker, because they
 * only move bytes from one checked form to another.  Each reads its parameters
 * from the resolved derivation's environment:
 *
 *	builtin:unpack         src strip             an sdist or other archive -> its folder
 *	builtin:unpack-wheel   src                   a wheel -> site-packages/ bin/ data/ include/
 *	builtin:debian         debs links            binary packages -> a root file system
 *	builtin:oci-rootfs     layers diff_ids links an image's layers, the lowest first, and the hashes of their
 *	                                             tars -> a root file system
 *	builtin:finish         src dist version python label_kind label_text epoch
 *	                                             a build's output -> a folder with the finished wheel; by what rules
 *	                                             is lib/forge/wheel.lua's to say, in the variable of that name
 *
 * (builtin:fetch is a transfer of the poll loop, builtin:fetch-git a worker of its own: fetch/git.h.)
 */
#ifndef FORGE_WORLD_BUILTIN_H
#define FORGE_WORLD_BUILTIN_H

#include <stdbool.h>
#include "core/err.h"
#include "drv/drv.h"
#include "store/store.h"

bool builtin_known(const char *builder);
bool builtin_is_read_only(const char *builder); /* it makes what builds have in their worlds, and never change */

/* Make the output `name` (a new entry) in the folder dirfd.  *note gets a line for the log, or stays
 * NULL; owned by the caller.  Reads the store's objects only, so it is safe in a worker. */
int builtin_run(const struct drv *resolved, const struct store *s, int dirfd, const char *name,
	char **note, struct err *err);

#endif
