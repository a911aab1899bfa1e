/* The variants of one recipe that a command is about, with what they evaluate to. */
#ifndef FORGE_CLI_CHOSEN_H
#define FORGE_CLI_CHOSEN_H

#include "core/list.h"
#include "lua/eval.h"

struct chosen_target {
	const struct eval_target *target;
	LIST(struct eval_result) results; /* none: impossible */
};

struct chosen {
	LIST(struct chosen_target) targets;
	LIST(size_t) wanted; /* derivations of them all */
};
void chosen_free(struct chosen *c);

/*
 * Evaluate the targets.  What turns out to be impossible is left without results; where nothing else is left, or
 * two would be wheels of one name, it is an error that begins with the recipe's path.
 */
int chosen_derive(struct chosen *c, const char *recipe, struct eval *e, const size_t *targets, size_t count,
	struct err *err);

/* Two of these would be wheels of one name: an error that names both. */
int chosen_check_names(const char *recipe, const struct eval_target *const *targets, size_t count, struct err *err);

/* The wheel's file name as far as it is known before it is built: "flash_attn-2.8.3+cu130torch2.11-*.whl"; NULL for a
 * bare derivation; owned by the caller. */
char *chosen_wheel_name(const struct eval_target *t);

/* "flash-attn-2.8.3-cp313-torch2.11-cu130-sm80", the name of the target's root; owned by the caller. */
char *chosen_root_name(const struct eval_target *t);

#endif
