/*
 * Worlds: what a build may see (DESIGN 5).  A world is data in the derivation,
 * the JSON text of its env variable `world`:
 *
 *	{"mounts":[{"at":"/","layers":["/forge/store/…-base"]},
 *	           {"at":"/env/site-packages","layers":["/forge/store/…/site-packages",…]}],
 *	 "files":{"/env/pyvenv.cfg":"home = /usr/bin\n"},
 *	 "links":{"/usr/bin/cc":"gcc-12"}}
 *
 * Layers are listed topmost first; a sub-folder that an object does not have is
 * left out.  The paths are those of the resolved derivation.
 */
#ifndef FORGE_WORLD_WORLD_H
#define FORGE_WORLD_WORLD_H

#include "core/arena.h"
#include "core/err.h"
#include "sandbox/sandbox.h"
#include "store/store.h"

struct world {
	struct sandbox_mount *mounts; /* all in the arena */
	size_t mount_count;
	struct sandbox_file *files;
	size_t file_count;
};

/* Read the text and find each layer's folder in the store.  A layer is only ever a folder inside a
 * store object, reached without following a link. */
int world_read(const char *text, const struct store *s, struct arena *a, struct world *out,
	struct err *err);

#endif
