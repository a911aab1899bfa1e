/* The NAR hash of what a recipe takes in. */
#ifndef FORGE_LUA_NAR_OF_H
#define FORGE_LUA_NAR_OF_H

#include "core/err.h"
#include "core/hash.h"
#include "core/str.h"

/* A file or folder beneath dirfd.  No link on the way or at its end is followed; links inside a folder
 * are kept as links.  At most 256 MiB. */
int nar_of_path(int dirfd, const char *name, struct hash *out, struct err *err);
/* A single file with that content, not executable. */
int nar_of_text(struct slice text, struct hash *out, struct err *err);

#endif
