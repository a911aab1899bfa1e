/* What a realise gives: printed, and kept as roots for `forge export`. */
#ifndef FORGE_CLI_RESULTS_H
#define FORGE_CLI_RESULTS_H

#include "build/plan.h"
#include "cli/chosen.h"
#include "cli/tally.h"

/*
 * For each target whose results are all valid: set its root, and print its path (json NULL) or append
 * its record.  A wheel is printed as the path of the .whl file, so that pip takes it as it is.  With json the
 * others have records too, which say why there is no path.  Two different wheels of one file name are refused.
 */
int results_keep(const struct chosen *c, const struct eval *e, const struct plan *plan, const struct tally *tally,
	struct store *s, struct json *json, struct err *err);

/* The single .whl in a folder, or NULL; owned by the caller. */
char *results_wheel_in(const char *folder);

/* The output of the target's result of that role, NULL if it was not made or there is none. */
const char *results_path(const struct chosen_target *t, const struct plan *plan, const char *role);

void results_print_json(const struct json *j);

#endif
