/* What a realise gives: printed, and kept as roots for `forge export`. */
#ifndef FORGE_CLI_RESULTS_H
#define FORGE_CLI_RESULTS_H

#include "build/plan.h"
#include "core/list.h"

struct chosen_target {
	const struct eval_target *target;
	LIST(struct eval_result) results;
};

struct chosen {
	LIST(struct chosen_target) targets;
	LIST(size_t) wanted; /* derivations */
};
void chosen_free(struct chosen *c);

/*
 * For each target whose results are all valid: set its root, and print its path (json NULL) or append
 * its record.  A wheel is printed as the path of the .whl file, so that pip takes it as it is.
 */
int results_keep(const struct chosen *c, const struct eval *e, const struct plan *plan, struct store *s,
	struct json *json, struct err *err);

void results_print_json(const struct json *j);

#endif
