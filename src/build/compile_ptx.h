/*
 * PTX, in workers.  That of a large kernel is above 100 MB, and workers are many: so it is never held whole, but read
 * in parts that end where a statement does (no name, and nothing that tells what a name stands for, goes over that).
 */
#ifndef FORGE_BUILD_COMPILE_PTX_H
#define FORGE_BUILD_COMPILE_PTX_H

#include "core/err.h"
#include "core/hash.h"

/* Is the PTX, read to its end, right for other lists of architectures than `list` once their names are put in
 * (arch_names_can_move)? */
int ptx_can_move(int ptx, const char *list, bool *can, struct err *err);

/* The PTX `from` into `to`, with the names of another list (arch_names_move). */
int ptx_move(int from, const char *from_list, int to, const char *to_list, struct err *err);

/* All of it into a hash. */
int ptx_hash(int ptx, struct hasher *h, struct err *err);

#endif
