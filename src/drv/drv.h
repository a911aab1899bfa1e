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

const char *drv_env_get(const struct drv *d, const char *key); /* NULL if absent */
const struct drv_output *drv_output_get(const struct drv *d, const char *name);

/* Put outputs, inputs, srcs and env into their order; refuse duplicates and bad names. */
int drv_normalise(struct drv *d, struct err *err);

/* ATerm. Reading is strict: what is not byte for byte what drv_write gives is refused. */
void drv_write(const struct drv *d, struct buf *out);
struct drv *drv_read(struct slice text, const char *name, struct arena *a, struct err *err);

/* The store path of the .drv itself (a text object whose references are inputs and srcs). */
void drv_path(const struct drv *d, struct buf *out);

/*
 * hashDerivationModulo.  input(ctx, path) gives the modulo hash of an input
 * derivation that was computed before (never NULL for the inputs of d);
 * for a fixed-output input it is the hash of its "fixed:out:…" string, as
 * drv_hash_modulo gives for it.
 */
typedef const struct hash *drv_modulo_fn(void *ctx, const char *drv_path);
int drv_hash_modulo(const struct drv *d, drv_modulo_fn *input, void *ctx, struct hash *out,
	struct err *err);

/* Fill the path of each fixed output, and the env variable named after it. */
int drv_fill_outputs(struct drv *d, struct arena *a, struct err *err);

/* Nix's placeholders: for an own output ("/<52 characters>"), and for the output of an input
 * whose path is not known yet. */
void drv_placeholder(const char *output, struct buf *out);
void drv_placeholder_of(const char *drv_path, const char *output, struct buf *out);

/*
 * The resolved derivation: every input derivation replaced by the store path of
 * its output (from path(ctx, drv_path, output), NULL if unknown: an error), in
 * srcs, and every placeholder in builder, args and env replaced by that path.
 */
typedef const char *drv_known_fn(void *ctx, const char *drv_path, const char *output);
struct drv *drv_resolve(const struct drv *d, drv_known_fn *path, void *ctx, struct arena *a,
	struct err *err);

/* The id of a realisation, "sha256:<base16>!out". */
void drv_output_id(const struct hash *modulo, const char *output, struct buf *out);

#endif
