/*
 * The plan: for each derivation that a request needs, whether its outputs are
 * there already, are to be fetched, or are to be built, and why.  Making it
 * changes nothing; `--dry-run` prints it, realise() carries it out.
 */
#ifndef FORGE_BUILD_PLAN_H
#define FORGE_BUILD_PLAN_H

#include "core/arena.h"
#include "core/err.h"
#include "lua/eval.h"
#include "store/store.h"

enum plan_state {
	PLAN_UNNEEDED, /* nothing that is to be done asks for it */
	PLAN_VALID,    /* all outputs are in the store */
	PLAN_FETCH,
	PLAN_BUILD,
};

struct plan_step {
	enum plan_state state;
	const char *reason;   /* for people; NULL where unneeded */
	struct hash id;       /* under which the derivation's realisations are filed (drv_hash_id); set unless unneeded */
	const char **paths;   /* one for each output, in the derivation's order; set where PLAN_VALID */
	bool cutoff;          /* found through the resolved derivation only: realise() remembers it */
	int64_t bytes;        /* PLAN_FETCH: what will be transferred, 0 if not known */
};

struct plan {
	struct arena arena;
	struct plan_step *steps; /* by index of the evaluation's derivations */
	size_t count;
	size_t valid, fetch, build;
	size_t cutoffs;          /* of the valid ones, those that realise() has still to remember */
	int64_t fetch_bytes;
};

#define PLAN_INIT { .arena = ARENA_INIT }

int plan_make(struct eval *e, const size_t *wanted, size_t count, struct store *s, struct plan *out,
	struct err *err);
void plan_free(struct plan *p);

/* What of the plan is still to be done for these derivations; `seen` is one byte a derivation of the plan. */
struct plan_left {
	size_t fetch, build;
};
struct plan_left plan_left(const struct plan *p, const struct eval *e, const size_t *wanted, size_t count,
	unsigned char *seen);

/*
 * Are the outputs of a derivation known and in the store under this id (by drv_hash_id)?
 * 1: yes, paths (one an output) are filled from the arena; 0: no; -1: error.
 */
int plan_realised(struct store *s, const struct drv *d, const struct hash *id, struct arena *a,
	const char **paths, struct err *err);

/* How many bytes a derivation fetches, as the lock says; 0: nothing, or it is not known. */
int64_t plan_fetch_size(const struct drv *d);

/* The derivation resolved against known output paths (paths_of(ctx, input index) lists one an output),
 * and its id. */
typedef const char *const *plan_paths_fn(void *ctx, size_t drv);
struct drv *plan_resolve(struct eval *e, size_t drv, plan_paths_fn *paths_of, void *ctx,
	struct arena *a, struct hash *id, struct err *err);

#endif
