/* Debian's dependencies, resolved by libsolv.  The one place that sees libsolv. */
#ifndef FORGE_LOCK_SOLVE_H
#define FORGE_LOCK_SOLVE_H

#include <stdbool.h>
#include "core/err.h"
#include "core/json.h"
#include "core/str.h"

/*
 * The packages an empty system needs to have all of `wanted` (names) installed: Depends and Pre-Depends,
 * no Recommends; the newest version of each; amd64 and all.  Without `deps` the wanted alone.  files: paths of Packages files.  The answer is a
 * list of {"package","version","path","sha256","size"}, sorted by package.  Runs in a child process,
 * since libsolv holds the whole archive in memory.
 */
struct json *solve_debian(const struct str_list *files, const struct str_list *wanted, bool deps, struct err *err);

/* <0, 0, >0 as dpkg orders two versions. */
int solve_compare(const char *a, const char *b, int *order, struct err *err);

#endif
