/* NVIDIA's redistrib_<release>.json: for each component of a CUDA release its version and, for each platform, one
 * archive: {"release_label":"13.0.2","cuda_nvcc":{"version":"13.0.88","linux-x86_64":{"relative_path","sha256","size"}}}. */
#ifndef FORGE_LOCK_REDIST_H
#define FORGE_LOCK_REDIST_H

#include "core/err.h"
#include "core/json.h"
#include "core/str.h"

/* The components `names` for x86_64 Linux, in that order, as a lock's entry has them; a new reference.  Fields that
 * the text lacks are left out, size is -1: entry_check() names them.  NULL (ERR_INPUT): no JSON, another release
 * than `release`, no such component, none for this platform. */
struct json *redist_read(struct slice text, const char *release, const struct str_list *names, struct err *err);

#endif
