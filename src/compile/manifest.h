/*
 * Which result a command had for which files: so that an equal command over equal files has its answer without a
 * run of the compiler or its preprocessor.  An entry tells all that the compiler looked at (compile/trace_log.h);
 * where everything is still so, the result is still right.  A command has some entries, the newest first.
 *
 * An entry has two parts: paths below /build, which are looked at each time; and all others, those of the
 * environment, which never change as long as env_id is the same, and are not even read then.
 */
#ifndef FORGE_COMPILE_MANIFEST_H
#define FORGE_COMPILE_MANIFEST_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/hash.h"
#include "core/list.h"
#include "core/str.h"

#define MANIFEST_ENTRIES_MAX 8
#define MANIFEST_PATHS_MAX 1000000u    /* of each kind in a part */
#define MANIFEST_MAX (64u << 20)       /* bytes of a whole manifest */

struct manifest_file {
	char *path;
	struct hash content;
};

struct manifest_part {
	LIST(struct manifest_file) files;
	struct str_list missing; /* nothing is there */
	struct str_list dirs;    /* a folder is there */
};

/* What was seen, to be added to a manifest. */
struct manifest_entry {
	struct hash result;  /* the key of the result */
	char *env_id;        /* identifies the environment; owned, as all here */
	struct manifest_part build, env;
};

/* Paths are absolute and clean, in any order; copied. */
void manifest_entry_file(struct manifest_entry *e, const char *path, const struct hash *content);
void manifest_entry_missing(struct manifest_entry *e, const char *path);
void manifest_entry_dir(struct manifest_entry *e, const char *path);
void manifest_entry_free(struct manifest_entry *e);
#define _cleanup_manifest_entry_ __attribute__((cleanup(manifest_entry_free)))

/* An entry as it is kept: its parts are bytes until they are needed. */
struct manifest_kept {
	struct hash result;
	struct slice env_id, build, env; /* in the manifest's bytes */
};

struct manifest {
	char *data; /* what the slices point into */
	size_t len;
	struct manifest_kept entries[MANIFEST_ENTRIES_MAX]; /* newest first */
	size_t count;
};

/* Read a manifest; the bytes are copied.  -1 (ERR_INPUT): this is none, *m is empty then.  Parts are read when they
 * are needed. */
int manifest_read(struct slice bytes, struct manifest *m, struct err *err);
void manifest_free(struct manifest *m);
#define _cleanup_manifest_ __attribute__((cleanup(manifest_free)))

/* The bytes of a manifest with e as its newest entry; an entry that says the same of the same paths goes, and of too
 * many, or if all together were too large, the oldest.  m may be empty ({ 0 }).  Sorts e's lists.  The same m and e
 * give the same bytes.  -1 (ERR_INPUT): e alone is too large. */
int manifest_add(const struct manifest *m, struct manifest_entry *e, struct buf *out, struct err *err);

enum manifest_kind { MANIFEST_ODD = -1, MANIFEST_MISSING, MANIFEST_FILE, MANIFEST_DIR };

struct manifest_check {
	int (*hash)(void *ctx, const char *path, struct hash *out); /* 1: done; 0: missing; -1: odd */
	int (*exists)(void *ctx, const char *path);                 /* an enum manifest_kind; links are odd */
	void *ctx;
};

/* The newest entry of which everything holds: 1, *result is its key.  0: there is none.  -1 (ERR_INPUT): the bytes are
 * no manifest's.  Each path is hashed, and looked for, once at most, whatever the number of entries. */
int manifest_find(const struct manifest *m, const char *env_id, const struct manifest_check *check,
	struct hash *result, struct err *err);

#endif
