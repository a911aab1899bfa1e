/* Paths as the tracer's log and manifests have them (inside this room). */
#ifndef FORGE_COMPILE_PATH_H
#define FORGE_COMPILE_PATH_H

#include <stdbool.h>
#include <stddef.h>

#define COMPILE_PATH_MAX 4096u /* bytes, with the NUL */

/* Absolute, without empty parts, "." and ".."; not "/" itself. */
bool path_is_clean(const char *path);

#endif
