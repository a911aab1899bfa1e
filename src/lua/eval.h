/*
 * Evaluating recipes: a recipe file in, derivations out.  Pure: reads only the
 * recipe, its folder, lib/ and what forge.path names; starts nothing, fetches
 * nothing, writes nothing.
 */
#ifndef FORGE_LUA_EVAL_H
#define FORGE_LUA_EVAL_H

#include <stdbool.h>
#include <stdint.h>
#include "core/arena.h"
#include "core/err.h"
#include "core/json.h"
#include "core/list.h"
#include "drv/drv.h"

struct eval_options {
	const char *lib;              /* folder of the Lua library */
	uint64_t memory;              /* bytes the VM may hold; 0: 256 MiB */
	uint64_t instructions;        /* VM instructions; 0: 500,000,000 */
	/* Answer a request for what is pinned: {"kind":"sdist","name":…,"version":…} and so on, see
	 * lock/lock.h.  The lock room gives one that looks it up, and one that resolves what is missing.
	 * *answer is a new reference. */
	int (*locked)(void *ctx, const struct json *request, struct json **answer, struct err *err);
	void *ctx;
	/* --set version=…, and the like: overrides of top fields of forge.wheel; --env NAME=…: of variables, by what
	 * the recipe's aliases say of the name.  JSON objects of strings; NULL: none. */
	const struct json *set, *env;
};

/* One derivation of the graph. */
struct eval_drv {
	struct drv *drv;
	const char *path;             /* of the .drv */
	struct hash modulo;           /* hashDerivationModulo */
	struct hash id;               /* under which its realisations are filed: drv_hash_id */
	size_t *inputs;               /* indexes into the graph, in the order of drv->inputs */
	uint64_t timeout_ms, memory;  /* ceilings, not hashed; 0: none */
	const char *what;             /* "fetch", "unpack", "build", "finish", "test": for people */
};

/* A file or folder a recipe took in with forge.path or wrote with forge.text. */
struct eval_source {
	const char *path;             /* store path (NAR, "source") */
	const char *from;             /* physical path; NULL for forge.text */
	struct slice text;            /* forge.text: the content of the single file */
	struct hash nar_hash;
};

/* What a person can ask for: one variant of a recipe, or the one derivation it returned. */
struct eval_target {
	const char *name;             /* variant's stable short name, "cp313-torch2.11-cu130-sm80"; "" if only one without axes */
	const char *recipe;           /* package name as on the index, "flash-attn" */
	const char *version;          /* NULL for a bare derivation */
	struct json *axes;            /* {"python":"3.13","archs":["80"],…} */
	struct json *stable_abi;      /* ["torch"]: axes of which the wheel serves later values too; NULL: none */
	/* Set by eval_tell: */
	bool told;
	const char *label;            /* the version a user sees, "2.8.3+cu130torch2.11"; NULL for a bare derivation */
	const char *excluded;         /* NULL, or because */
	/* Set by eval_derive: */
	const char *impossible;       /* NULL, or why these axes can't be built together */
};

struct eval;

/* Load and run the recipe file; finds its targets without evaluating their derivations. */
struct eval *eval_open(const char *recipe, const struct eval_options *o, struct err *err);
void eval_close(struct eval *e);
size_t eval_target_count(const struct eval *e);
const struct eval_target *eval_target(const struct eval *e, size_t i);

/* Find out a target's label, and whether the recipe excludes it.  Only this target's functions run. */
int eval_tell(struct eval *e, size_t target, struct err *err);

/* The target that is built when nothing is chosen: the first that is not excluded; the number of targets
 * where there is none. */
int eval_default(struct eval *e, size_t *target, struct err *err);

/* The recipe's file and the modules that it loaded so far from its folder; added to files.  Another recipe is no module. */
void eval_files(const struct eval *e, struct str_list *files);

/* The names of the recipe's profiles, sorted; added to names. */
void eval_profiles(const struct eval *e, struct str_list *names);
/* Mark the targets of a profile that there is; excluded ones are none of it. */
int eval_profile(struct eval *e, const char *name, bool *marked, struct err *err);

/* The derivations of one target: results in order of need ("wheel", then "test"; "out" for a bare
 * derivation).  Adds to the one graph of this evaluation; what is there already is shared.  None where the
 * target turns out to be impossible: its field says why. */
struct eval_result { const char *role; size_t drv; };
int eval_derive(struct eval *e, size_t target, const struct eval_result **results, size_t *count,
	struct err *err);

/*
 * What a recipe's own tables tell `forge lint` (lib/forge/lint.lua), of the targets that were told and derived so far.
 * In *told, a new reference: {"findings":[{"check","field","word","what","todo"}], "known":[variables that other
 * things than the source read, "X*": all that begin so], "patches":[files beneath the recipe's folder]}; NULL where the
 * recipe is not made by forge.wheel.  The folders of its sources are outputs of `drvs` (the first of each), or stand
 * in the store under `paths`.
 */
struct eval_lint {
	struct json *told;
	LIST(size_t) drvs;
	struct str_list paths;
};
int eval_lint(struct eval *e, struct eval_lint *out, struct err *err);
void eval_lint_free(struct eval_lint *l);

size_t eval_drv_count(const struct eval *e);         /* every input has a smaller index than its user */
const struct eval_drv *eval_drv(const struct eval *e, size_t i);
size_t eval_source_count(const struct eval *e);
const struct eval_source *eval_source(const struct eval *e, size_t i);

#endif
