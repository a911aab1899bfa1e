/* What the files of the store share among themselves. */
#ifndef FORGE_STORE_INTERNAL_H
#define FORGE_STORE_INTERNAL_H

#include <sys/types.h>
#include "core/buf.h"
#include "core/mem.h"
#include "core/str.h"
#include "store/db.h"
#include "store/name_set.h"
#include "store/store.h"

/* Folders nested deeper than this are refused: each level costs two descriptors. */
#define TREE_DEPTH_MAX 256

/* hold.c: what this process keeps from gc. */
struct holds {
	struct name_set names;
	struct buf unwritten;    /* lines that are not in the file yet */
	off_t written;
	struct str_list uses;    /* names whose last use is to be written */
	int gate;                /* held shared between store_hold_begin() and store_hold_end() */
	unsigned depth;          /* of those */
};

struct store {
	char *folder;            /* absolute */
	enum store_mode mode;
	int root_fd;             /* the folder and those in it; -1 for a missing store that is read */
	int tmp_fd, objects_fd, log_fd;
	struct db *db;           /* NULL: a missing store, read as an empty one */
	char *tmp_id;            /* what this process's names in tmp begin with; NULL until one is wanted */
	int tmp_lock;            /* the lock that keeps them */
	uint64_t tmp_count;
	struct str_list locks;   /* files in locks/ that were locked here, tidied up by store_close() */
	struct holds holds;
};

/* An error unless s was opened with STORE_WRITE. */
int store_need_write(const struct store *s, struct err *err);
/* Where err is a full disk, make it one line that names the folder of dirfd; returns -1. */
int store_full(int dirfd, struct err *err);
/* A folder in store/, made where missing. */
int store_sub(struct store *s, const char *name, struct err *err);

/* lock.c.  flock on a file in dirfd that may be unlinked by the one who holds it. */
int store_lock_file(int dirfd, const char *name, int how, bool *busy, struct err *err);
/* Lock an existing file without waiting: the descriptor; -1 with *busy false where there is no such file. */
int lock_existing(int dirfd, const char *name, bool *busy);
/* The gate: held shared while objects are added, alone while they are deleted or swapped. */
int lock_gate(struct store *s, int how, struct err *err);
void locks_tidy(struct store *s);

/* tmp.c */
int tmp_lock_fd(struct store *s, struct err *err); /* of the file that says that this process lives; borrowed */
void tmp_sweep(struct store *s);
void tmp_close(struct store *s);

/* hold.c.  Between store_hold_begin() and store_hold_end(): */
bool hold_wants(const struct store *s, const char *base);            /* it is not held yet, and to be */
void hold_add(struct store *s, const char *base, int64_t used);      /* used: when it was used last, as far as is known */
int hold_write(struct store *s, struct err *err);                    /* what store_hold_end() does as well */
/* Write down, in a transaction of the caller's, what was used; once that is committed, forget it. */
int hold_write_uses(struct store *s, struct err *err);
void hold_uses_written(struct store *s);
void hold_close(struct store *s);
/* What all processes that live hold (and perhaps what some held that just died). */
int hold_read_all(struct store *s, struct name_set *out, struct err *err);

/* share.c.  Forget the shared files that no object has any more. */
void share_sweep(struct store *s);
/* How many bytes the objects take less than their sizes say. */
uint64_t share_saved(struct store *s);

/* reserve.c.  Set room aside where none is; give it back to the disk. */
void reserve_keep(struct store *s);
void reserve_spend(struct store *s);

/* seal.c: modes and times of immutable things. */
int seal_file(int fd, bool executable, struct err *err);
/* The root folder of an object stays writable until it is renamed into place (a folder can be moved only
 * by who may write it); seal_root ends that, unseal_root begins it again. */
int seal_root(int dirfd, const char *name, struct err *err);
int unseal_root(int dirfd, const char *name, struct err *err);
/* Bring a tree to 0444/0555 and mtime 1, its root folder left at 0755; refuses what is not a file, folder or link. */
int seal_tree(int dirfd, const char *name, struct err *err);

/* object.c */
/* Whether name in dirfd has this NAR hash: 1, 0 (missing counts), -1. */
int object_is(int dirfd, const char *name, const struct hash *hash, struct err *err);
int object_rename_new(int from, const char *from_name, int to, const char *to_name); /* errno */
int object_swap(struct store *s, const char *tmp_name, const char *base, struct err *err);
/* Move objects/base into tmp, where *tmp_name (owned by the caller) is its name; NULL if there is no such object. */
int object_aside(struct store *s, const char *base, char **tmp_name, struct err *err);
char *object_ca(enum drv_method method, const struct hash *hash); /* hash: NAR, or of the bytes */

/* own_path.c: says where in the tree the digest of the path `self` stands; returns -1. */
int own_path_refuse(int dirfd, const char *name, const char *self, struct err *err);

/* query.c.  The base of a whole store path, within it; NULL and an error for anything else. */
const char *path_base(const char *path, struct err *err);
/* The row id of that name, or of a path, 0 if it is not valid, -1. */
int64_t base_id(struct store *s, const char *base, struct err *err);
int64_t path_id(struct store *s, const char *path, struct err *err);

#endif
