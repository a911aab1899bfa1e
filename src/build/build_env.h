/*
 * The environment of a sandboxed build: nothing of the machine's, a fixed base,
 * what the derivation declares, and the inert variables that the scheduler fills in
 * (their numbers are part of no hash).
 */
#ifndef FORGE_BUILD_BUILD_ENV_H
#define FORGE_BUILD_BUILD_ENV_H

#include <stdint.h>
#include "core/err.h"
#include "core/str.h"
#include "drv/drv.h"

struct build_share {
	unsigned cores;      /* that this build may use */
	uint64_t memory;     /* bytes that this build may count on */
};

/* "NAME=value" for each variable; output placeholders are replaced by outputs[i], one an output.
 * `world` and `inert` are forge's own and not handed on. */
int build_env_make(const struct drv *d, char *const *outputs, const struct build_share *share,
	struct str_list *out, struct err *err);

/* The same replacement in one string (an argument); owned by the caller. */
char *build_env_replace(const struct drv *d, char *const *outputs, const char *text);

#endif
