/* Inside the room: what the builtin builders share. */
#ifndef FORGE_WORLD_BUILTIN_IMPL_H
#define FORGE_WORLD_BUILTIN_IMPL_H

#include "core/str.h"
#include "world/builtin.h"

/* Of the derivation's environment, lent; NULL and err where it is missing. */
const char *builtin_parameter(const struct drv *d, const char *key, struct err *err);

/* Open a store object; path is a whole store path. */
int builtin_open(const struct store *s, struct slice path, int flags, struct err *err);

/* Links that nothing unpacked has brought, as JSON {"/usr/bin/cc":"gcc-12"}; what is there already stays. */
int builtin_links(const char *text, int dirfd, struct err *err);

/* rootfs.c */
int builtin_oci_rootfs(const struct drv *d, const struct store *s, int dirfd, char **note, struct err *err);

#endif
