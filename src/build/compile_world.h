/*
 * The files that a compile sees, as forge sees them from outside: below /build in the build's physical folder, which
 * is hostile and may change at any moment; elsewhere in the layers of the view's mounts, which never change.  No link
 * is followed, only plain files are read.
 */
#ifndef FORGE_BUILD_COMPILE_WORLD_H
#define FORGE_BUILD_COMPILE_WORLD_H

#include <stdbool.h>
#include <sys/stat.h>
#include "build/compile_known.h"
#include "build/compile_service.h"
#include "core/hash.h"

#define COMPILE_INPUT_MAX (1u << 30) /* bytes of one file */

/* path is absolute, below /build.  -1 with *missing: there is none, which is no error. */
int compile_open_input(int build, const char *path, struct stat *st, bool *missing, struct err *err);
int compile_hash_input(int fd, struct hash *out, struct err *err);

struct compile_world;
/* The view is lent until the close; known, which may be NULL, likewise. */
struct compile_world *compile_world_open(const struct compile_view *view, struct compile_known *known, struct err *err);
void compile_world_close(struct compile_world *w);
static inline void compile_world_closep(struct compile_world **w)
{
	compile_world_close(*w);
}
#define _cleanup_compile_world_ __attribute__((cleanup(compile_world_closep)))

/* A descriptor of the physical folder at /build; the world's. */
int compile_world_build(const struct compile_world *w);

/* For struct manifest_check, with the world as ctx.  path is absolute and clean. */
int compile_world_hash(void *world, const char *path, struct hash *out); /* 1; 0: missing; -1: odd */
int compile_world_exists(void *world, const char *path);                 /* an enum manifest_kind */

/* A text that identifies all of the view that is at /env or below. */
void compile_env_id(const struct compile_view *view, struct buf *out);

#endif
