/*
 * Making files below one folder, through descriptors.  All names are clean ones
 * (archive/name.h).  Parents that are missing are made.  No link is ever
 * followed (openat2: RESOLVE_BENEATH, RESOLVE_NO_SYMLINKS), but in a root file
 * system (options.root_links) the links in a name's folders are, with the
 * folder as their "/" (RESOLVE_IN_ROOT): they can't lead out of it either.
 *
 * What stands there already is kept, but a file made by this very tree may be
 * replaced by another file (its old bytes gone, its hard links untouched).
 */
#ifndef FORGE_ARCHIVE_TREE_H
#define FORGE_ARCHIVE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "archive/unpack.h"
#include "core/err.h"

struct tree;

/* dirfd stays the caller's.  Without options.merge the folder must be empty. */
struct tree *tree_open(int dirfd, const struct unpack_options *o, struct err *err);
void tree_free(struct tree *t);

/* 0755.  A folder that is there already is shared. */
int tree_folder(struct tree *t, const char *name, struct err *err);

/* A file of exactly `size` bytes (counted against the limit at once): open, write its pieces in
 * rising order (what is left out becomes a hole), close.  0644, or 0755 if exec. */
int tree_file(struct tree *t, const char *name, bool exec, uint64_t size, struct err *err);
int tree_write(struct tree *t, uint64_t at, const void *data, size_t len, struct err *err);
int tree_file_end(struct tree *t, struct err *err);

/* A symbolic link; the target is refused as name_check_target says, or with root_links kept as it is. */
int tree_symlink(struct tree *t, const char *name, const char *target, struct err *err);
/* A second name of a file that this tree made. */
int tree_hardlink(struct tree *t, const char *name, const char *target, struct err *err);

void tree_free_ptr(struct tree **t);
#define _cleanup_tree_ __attribute__((cleanup(tree_free_ptr)))

#endif
