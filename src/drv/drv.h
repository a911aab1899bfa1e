/*
 * Derivations: Nix's data model and bytes (ATerm).  Pure: no I/O.
 * All parts of a derivation live in the arena it was made in.
 */
#ifndef FORGE_DRV_DRV_H
#define FORGE_DRV_DRV_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/hash.h"
#include "drv/path.h"

enum drv_output_kind {
	DRV_OUT_FLOATING, /* content-addressed, path known after the build ("r:sha256", no hash) */
	DRV_OUT_FIXED,    /* hash declared (everything fetched) */
	DRV_OUT_INPUT,    /* input-addressed: read for Nix's golden files, never made by forge */
	DRV_OUT_DEFERRED, /* input-addressed, depends on a floating one: likewise */
};

struct drv_output {
	const char *name; /* "out" */
	enum drv_output_kind kind;
	enum drv_method method;
	struct hash hash; /* DRV_OUT_FIXED only */
	const char *path; /* store path, NULL where it is not known before the build */
};

struct drv_input {
	const char *path;            /* of the .drv */
	const char **outputs;        /* sorted names */
	size_t output_count;
};

struct drv_env {
	const char *key, *value;     /* no NUL bytes */
};

struct drv {
	const char *name;            /* without .drv */
	struct drv_output *outputs;  /* sorted by name */
	size_t output_count;
	struct drv_input *inputs;    /* sorted by path */
	size_t input_count;
	const char **srcs;           /* store paths, sorted */
	size_t src_count;
	const char *system;          /* "x86_64-linux"; "builtin" for builtin: builders */
	const char *builder;
	const char **args;
	size_t arg_count;
	struct drv_env *env;         /* sorted by key */
	size_t env_count;
};

const char *drv_env_get(const struct drv *d, const char *key); /* env is sorted; NULL if absent */
const struct drv_output *drv_output_get(const struct drv *d, const char *name);

/* Put outputs, inputs, srcs and env into their order; refuse duplicates, bad names and paths, and
 * outputs that Nix would not allow together. */
int drv_normalise(struct drv *d, struct err *err);

/* ATerm.  d is in order already.  Reading is strict: what is not byte for byte what drv_write gives,
 * or would not pass drv_normalise, or has a fixed output under another path than its own, is refused. */
void drv_write(const struct drv *d, struct buf *out);
struct drv *drv_read(struct slice text, const char *name, struct arena *a, struct err *err);

/* The store path of the .drv itself (a text object whose references are inputs and srcs). */
void drv_path(const struct drv *d, struct buf *out);

/*
 * hashDerivationModulo: what a derivation is, whatever its inputs' fetches
 * were called.  input(ctx, path) gives the hash by drv_hash_modulo of an input
 * derivation, computed before (NULL: an error; never asked where d has none).
 *
 * There are two, and Nix uses both.  drv_hash_modulo is what stands for d in
 * its dependents' hashes (own output paths as they are); drv_hash_id is what
 * d's realisations are filed under, see drv_output_id (own output paths
 * empty).  For a fixed output both are the sha256 of its "fixed:out:…" text.
 */
typedef const struct hash *drv_modulo_fn(void *ctx, const char *drv_path);
int drv_hash_modulo(const struct drv *d, drv_modulo_fn *input, void *ctx, struct hash *out,
	struct err *err);
int drv_hash_id(const struct drv *d, drv_modulo_fn *input, void *ctx, struct hash *out,
	struct err *err);

/* Fill the path of each fixed output, and the env variable named after it (added where absent).
 * d is in order already. */
int drv_fill_outputs(struct drv *d, struct arena *a, struct err *err);

/* Nix's placeholders: for an own output ("/<52 characters>"), and for the output of an input
 * whose path is not known yet. */
void drv_placeholder(const char *output, struct buf *out);
void drv_placeholder_of(const char *drv_path, const char *output, struct buf *out);

/*
 * The resolved derivation: every input derivation replaced by the store path of
 * its output (from path(ctx, drv_path, output), NULL if unknown: an error), in
 * srcs, and every placeholder in builder, args and env replaced by that path
 * (Nix's tryResolve).  It shares with d what did not change: d has to outlive it.
 */
typedef const char *drv_known_fn(void *ctx, const char *drv_path, const char *output);
struct drv *drv_resolve(const struct drv *d, drv_known_fn *path, void *ctx, struct arena *a,
	struct err *err);

/* The id of a realisation, "sha256:<base16>!out"; id is by drv_hash_id. */
void drv_output_id(const struct hash *id, const char *output, struct buf *out);

#endif
