/* What the files of manifests share: see the form in manifest.c. */
#ifndef FORGE_COMPILE_MANIFEST_IMPL_H
#define FORGE_COMPILE_MANIFEST_IMPL_H

#include <stdint.h>
#include "compile/manifest.h"

#define MANIFEST_MAGIC "forge manifest 1\n"

/* Take n bytes, or a number, off the front of rest; false if it is too short. */
bool part_take(struct slice *rest, size_t n, struct slice *out);
bool part_take_u32(struct slice *rest, uint32_t *n);

#endif
