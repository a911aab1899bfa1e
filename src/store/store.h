/*
 * The store: immutable objects, what is known of them (SQLite), locks, roots.
 * See DESIGN 4.  All paths in this interface are logical ("/forge/store/…")
 * unless a name says physical.
 */
#ifndef FORGE_STORE_STORE_H
#define FORGE_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/hash.h"
#include "core/str.h"
#include "drv/path.h"

struct store;

enum store_mode { STORE_READ, STORE_WRITE };

/* Open, creating folders and database with STORE_WRITE.  A database of a newer forge, a read-only
 * place with STORE_WRITE: errors that say what to do.  With STORE_READ a missing store is an empty one. */
struct store *store_open(const char *folder, enum store_mode mode, struct err *err);
void store_close(struct store *s);
const char *store_folder(const struct store *s);         /* absolute physical folder */
char *store_physical(const struct store *s, const char *path); /* "<folder>/objects/<hash>-<name>"; owned */
/* An open descriptor of store/tmp, /objects, /log. */
int store_tmp_fd(const struct store *s);
int store_objects_fd(const struct store *s);
int store_log_fd(const struct store *s);

struct store_info {
	char *path;
	struct hash nar_hash;
	uint64_t nar_size;
	char *ca;                /* "fixed:r:sha256:…", "fixed:sha256:…", "text:sha256:…" as Nix writes it */
	char *deriver;           /* may be NULL */
	struct str_list refs;    /* sorted */
	int64_t registered;      /* seconds since 1970 */
};
void store_info_free(struct store_info *i);

/*
 * What store_valid() or store_realisation() finds, and what store_commit() adds, stays until store_close() for one
 * who has the store open for writing, with all that it refers to: gc in another process leaves it alone.
 * Between these two many of these calls cost less; calls may nest, and each begin has its end.
 * Commits of other processes go on meanwhile, gc waits.
 */
int store_hold_begin(struct store *s, struct err *err);
int store_hold_end(struct store *s, struct err *err);
/* The same for a stretch that only looks up: it sees the store as it is at one moment, and each look-up costs far less.
 * One does not stand in another. */
int store_look_begin(struct store *s, struct err *err);
int store_look_end(struct store *s, struct err *err);

int store_valid(struct store *s, const char *path, struct err *err); /* 1, 0, -1 */
int store_query(struct store *s, const char *path, struct store_info *out, struct err *err); /* 1, 0, -1 */
/* The path and all it refers to, sorted. */
int store_closure(struct store *s, const char *path, struct str_list *out, struct err *err);

/*
 * Adding, in two steps, because the first blocks and runs in a worker.
 *
 * 1. store_prepare: normalise the tree `name` in folder dirfd (a file or folder that forge made
 *    itself in store/tmp: modes 0444/0555, mtime 1, no set-id, only files, folders, links), hash
 *    it, find which of `candidates` (store paths) it refers to.  Refuses an own-path reference
 *    (self: the scratch path it was built as, may be NULL), naming file and offset.
 *    Needs no database: safe in a fork.  store_settle, there as well, then makes it durable, so
 *    that the process that commits does not wait for the disk.
 * 2. store_commit: make a batch durable (one syncfs, if any was not settled), rename into objects without replacing
 *    (an object that is there already: the new copy is dropped), one transaction.  References must
 *    be valid or in the batch.  Whatever the result, the trees are gone from tmp afterwards.
 */
struct store_prepared {
	char *tmp_name;          /* name in store/tmp */
	char *name;              /* object name */
	enum drv_method method;
	struct hash nar_hash;
	struct hash flat_hash;   /* with DRV_FLAT and DRV_TEXT: of the file's bytes */
	uint64_t nar_size;
	struct str_list refs;
	char *path;              /* the store path that follows from the above */
	char *deriver;           /* set by the caller before commit, may be NULL */
	bool settled;            /* it is durable already */
};
void store_prepared_free(struct store_prepared *p);

int store_prepare(int tmp_fd, const char *tmp_name, const char *name, enum drv_method method,
	const struct str_list *candidates, const char *self, struct store_prepared *out, struct err *err);
/* Make all that was written in store/tmp so far durable, and with it what was prepared. */
int store_settle(int tmp_fd, struct store_prepared *items, size_t count, struct err *err);
/* In a worker as well.  Before store_prepare(): let files of the tree store/tmp/<tmp_name> that equal files of the store
 * become names of those, so that many objects with equal files take the room of one.  After store_settle(): let others
 * do so with this one's.  For trees that builds only read. */
void store_share(struct store *s, const char *tmp_name);
void store_share_offer(struct store *s, const char *tmp_name);
/* To and from bytes, to hand it from a worker to the parent. */
void store_prepared_write(const struct store_prepared *p, struct buf *out);
int store_prepared_read(struct slice bytes, struct store_prepared *out, struct err *err);

int store_commit(struct store *s, struct store_prepared *items, size_t count, struct err *err);

/* Copy a tree that a build left (hostile: links, hard links, devices, any owner and mode) from an open
 * folder into a fresh inode tree store/tmp/<tmp_name>, through descriptors; refuses what is not a
 * file, folder or link, and folders nested deeper than 256.  `from` is the open parent, `name` the
 * entry in it.  tmp_name comes from store_tmp_name(), asked for before a worker is forked.
 * On an error nothing is left in tmp.  The source is not changed. */
int store_copy_in(int tmp_fd, int from, const char *name, const char *tmp_name, struct err *err);

/* A person's file or folder (forge.path) into the store: copy, prepare, commit.  *path is owned by the
 * caller.  method: DRV_NAR, or DRV_FLAT for a plain file. */
int store_add_path(struct store *s, int from, const char *name, const char *object_name,
	enum drv_method method, char **path, struct err *err);

/* Small text objects (derivations), committed as a batch. */
struct store_text { const char *name; struct slice text; const struct str_list *refs; };
int store_add_texts(struct store *s, const struct store_text *texts, size_t count, struct err *err);

/* Realisations: what an output of a derivation (id from drv_output_id) was found to be.  Adding one that
 * is known already replaces it: the newest stands. */
int store_realisation(struct store *s, const char *id, char **path, struct err *err); /* 1 and valid, 0, -1 */
int store_realisation_add(struct store *s, const char *id, const char *path, struct err *err);

/* The manifest of a compiler's command, by its hash; bytes that mean something to the compile room only.  It is kept
 * as long as the realisation `newest` is.  store_manifest: 1, 0 (none), -1; appends to out. */
int store_manifest(struct store *s, const struct hash *command, struct buf *out, struct err *err);
int store_manifest_set(struct store *s, const struct hash *command, struct slice bytes, const char *newest, struct err *err);

/* What a build took; kept for plans, estimates and `forge log`. */
struct store_build {
	const char *drv_path, *name, *log;      /* log: path relative to the store folder */
	const char *what;                       /* "fetch", "unpack", "build", "finish", "test"; "compile", and "step" of one */
	int64_t start_ms, end_ms;               /* since 1970 */
	int64_t cpu_ms;
	uint64_t peak_memory;
	int status;                             /* 0, or forge's exit status for the failure */
	const char *path;                       /* output, NULL on failure */
	const char *note;                       /* of a compile: "hit", "miss", "in place: why", …; else NULL */
};
int store_build_add(struct store *s, const struct store_build *b, struct err *err);
/* The newest records whose name or derivation path contains `match` (NULL: all), newest first: of all but
 * compiles, or of compiles.
 * fn's result other than 0 ends the walk and is returned; fn may look things up, but not add. */
typedef int store_build_fn(void *ctx, const struct store_build *b);
int store_builds(struct store *s, const char *match, size_t limit, store_build_fn *fn, void *ctx,
	struct err *err);
int store_compiles(struct store *s, const char *match, size_t limit, store_build_fn *fn, void *ctx,
	struct err *err);
/* What the compiler itself took when it last compiled the source of exactly this name: 1, 0 (never), -1. */
int store_compile_last(struct store *s, const char *name, int64_t *ms, uint64_t *peak_memory, struct err *err);

/* How many compiles the builds of a derivation's name had so far, and what they took together, each when it was last
 * made: 1, -1. */
int store_compile_sum(struct store *s, const char *drv_name, int64_t *count, int64_t *ms, struct err *err);

/* Roots: store/roots/<name> -> object; also in the database.  data is a JSON text kept with it, or NULL.
 * store_roots: fn's result other than 0 ends the walk and is returned; fn may look things up, but not add. */
int store_root_set(struct store *s, const char *name, const char *path, const char *data, struct err *err);
typedef int store_root_fn(void *ctx, const char *name, const char *path, const char *data);
int store_roots(struct store *s, store_root_fn *fn, void *ctx, struct err *err); /* sorted by name */

/* A lock (flock) on one goal, so that of several forge processes one builds and the others wait.
 * Returns a descriptor to close, -1 on error; with wait false, *busy = true and -1 without err set
 * when another holds it. */
int store_lock(struct store *s, const char *key, bool wait, bool *busy, struct err *err);

/* Check objects against what is registered (with contents: hash each); calls fn for each that is wrong.
 * Returns how many, or -1.  An object that is not registered (a crash left it) is not wrong. */
typedef void store_bad_fn(void *ctx, const char *path, const char *why);
int store_verify(struct store *s, bool contents, store_bad_fn *fn, void *ctx, struct err *err);

/* Delete objects: commit first (synchronous=FULL), rename away, unlink.  Refuses, changing nothing, what
 * is a root or what an object outside the list refers to.  A path that is not registered but lies in
 * objects (a crash left it) is removed as well; one that is nowhere is no error.  Whether a running forge uses
 * them is not asked: see store/gc.h. */
int store_delete(struct store *s, const char *const *paths, size_t count, struct err *err);

/* Put the tree store/tmp/<tmp_name> in the place of a damaged or missing object.  The tree is
 * normalised and must have the hash that is registered; it is verified before anything is touched,
 * then swapped in, and the old object is removed. */
int store_repair(struct store *s, const char *path, const char *tmp_name, struct err *err);

/*
 * A fresh name for an entry in store/tmp (nothing is created); owned by the caller.  A lock keeps such
 * entries while this process or a worker forked from it lives.  What dead processes left is removed
 * when the store is next opened for writing, and what this process left is removed by store_close():
 * what is to be kept must be moved out of tmp.  Names that were not made here are never swept.
 * Ask before forking the worker that uses it.
 */
char *store_tmp_name(struct store *s, const char *what, struct err *err);

/* Keep such an entry for a person to look at (--keep-failed): it gets the name store/tmp/kept-<what>-<n>,
 * which is never swept.  The result is its absolute physical path, owned by the caller. */
char *store_tmp_keep(struct store *s, const char *tmp_name, const char *what, struct err *err);

#endif
