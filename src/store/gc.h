/*
 * Garbage collection: what nothing needs any more goes.
 *
 * Kept is, with all that it refers to, what a root names and what a forge that runs now holds (store_hold_begin() in
 * store/store.h says what that is), so gc may run beside builds.  Of the rest:
 *
 *	without a bound   all goes but the results of compiles, which are small and took hours;
 *	with a bound      the least recently used goes, results of compiles as well, until the objects that are left
 *	                  take no more than that.
 *
 * Used is: made, or found there by a forge that may write in the store; by days (path.used in schema.sql).  An
 * object counts as used when what refers to it was, so none goes before what refers to it.
 *
 * A root is a row of the database and its link in store/roots (store_root_set()).  Who removes the link lets go of
 * the object.  A link that a person makes there to an object keeps it too.
 */
#ifndef FORGE_STORE_GC_H
#define FORGE_STORE_GC_H

#include "core/list.h"
#include "store/store.h"

/* Compiles are filed as this output of their key: "sha256:<key>!object". */
#define STORE_COMPILE_OUTPUT "object"

struct store_dead {
	char *base;          /* its name in objects/; owned */
	uint64_t bytes;      /* the size of its NAR, or about that */
	int64_t used;        /* seconds since 1970 */
	int64_t own_used;    /* without what refers to it */
	bool registered;     /* else a crash left it: it is nothing that anybody could use */
};

/* What is to go: data, so that it can be shown and tested without doing it. */
struct store_gc {
	LIST(struct store_dead) dead;  /* in the order in which they are to go */
	struct str_list stale;         /* roots whose link was removed, or whose object is gone */
	uint64_t bytes;                /* of all that is dead */
	size_t left;                   /* registered objects that stay, */
	uint64_t left_bytes;           /* and what they take; about, where those that go share files with others */
};

/* max_size: the bound in bytes, NULL for none.  Changes nothing, and does for a store that is only read. */
int store_gc_plan(struct store *s, const uint64_t *max_size, struct store_gc *out, struct err *err);
void store_gc_free(struct store_gc *gc);

struct store_gc_done {
	size_t removed;      /* objects */
	uint64_t bytes;      /* that were in them, and in no other */
	size_t left;
	uint64_t left_bytes;
};

/* done of total objects were dealt with. */
typedef void store_gc_fn(void *ctx, size_t done, size_t total);

/*
 * Carry it out.  What has come into use since it was planned stays.  An end at any instant leaves a store that
 * verifies, and what is left then the next forge that opens it for writing removes, or the next gc.
 * What can't be removed does not stop it: -1 at the end, with the first reason; out is filled all the same.
 * fn may be NULL.
 */
int store_gc_run(struct store *s, const struct store_gc *gc, store_gc_fn *fn, void *ctx,
	struct store_gc_done *out, struct err *err);

#endif
