/* Inside the trees: what making files (tree.c) and the layers of images (tree_layer.c) share. */
#ifndef FORGE_ARCHIVE_TREE_IMPL_H
#define FORGE_ARCHIVE_TREE_IMPL_H

#include <sys/types.h>
#include "archive/inodes.h"
#include "archive/tree.h"

struct tree {
	int root;                    /* the caller's */
	struct unpack_options o;     /* limits filled in */
	uint64_t resolve;            /* for openat2 */
	mode_t masked;               /* permission bits the umask takes that we want */
	uint64_t bytes, entries;
	struct inodes made;          /* regular files of this archive; of layers: unused */
	bool layered;                /* it is filled by layers: what they name may be any earlier one's */
	struct inodes named;         /* layers: what this layer has named, see tree_layer.c */
	char *parent_name;           /* of parent; NULL: none yet */
	int parent;                  /* the folder used last.  It can't go stale: whoever removes a folder or a
	                                link calls tree_leave() */
	int file;                    /* the open file, or -1 */
	uint64_t file_size, file_at; /* declared; written or skipped so far */
};

/* An error of the system about a name: hostile input has a plain sentence, the rest is errno's. */
int tree_fail(const char *name, struct err *err);
int tree_refuse(const char *name, const char *why, struct err *err);

int tree_count(struct tree *t, struct err *err); /* one entry more */

/* openat2 from the root by the tree's rules; -1 and errno. */
int tree_open_in(const struct tree *t, const char *name, int flags);

/* Point t->parent at the folder of name, which is made if missing; the last component, or NULL. */
const char *tree_enter(struct tree *t, const char *name, struct err *err);
void tree_leave(struct tree *t);

#endif
