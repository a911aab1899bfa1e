/* What `forge show` knows of a recipe (inside cli/). */
#ifndef FORGE_CLI_SHOW_H
#define FORGE_CLI_SHOW_H

#include "build/plan.h"
#include "cli/chosen.h"
#include "core/json.h"

struct row {
	struct chosen_target chosen;
	char *error;           /* why it can't be evaluated; NULL */
	char *wheel;           /* the file's name, as far as it is known; NULL: a bare derivation */
	struct plan_left left;
};

struct shown {
	const char *recipe; /* its path */
	struct eval *e;
	struct store *s;
	struct plan plan;
	LIST(struct row) rows;
	LIST(size_t) wanted;
	size_t *targets; /* of the rows */
	size_t count;
	size_t first;    /* the target that is the default */
};

/* Onto the end of an array. */
int show_json(const struct shown *v, struct json *all, struct err *err);
void show_table(const struct shown *v);

#endif
