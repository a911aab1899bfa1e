/* What `forge show` knows of a recipe (inside cli/). */
#ifndef FORGE_CLI_SHOW_H
#define FORGE_CLI_SHOW_H

#include "build/plan.h"
#include "cli/chosen.h"
#include "cli/options.h"
#include "core/json.h"

/* A variant. */
struct row {
	struct eval_target target; /* told; its label, excluded and impossible are the row's own */
	bool derived;          /* it has derivations */
	char *error;           /* why it can't be evaluated; NULL */
	char *wheel;           /* the file's name, as far as it is known; NULL: a bare derivation */
	struct plan_left left;
};

struct shown {
	const char *recipe; /* its path */
	struct eval *e;
	const struct options *o;
	LIST(struct row) rows;
	size_t *targets; /* of the rows */
	size_t count;
	size_t first;    /* the target that is the default */
};

/* show_rows.c: the rows of targets `from` to before `to`, added to v->rows. */
int show_rows(struct shown *v, struct store *s, size_t from, size_t to, struct err *err);
void show_row_free(struct row *row);

/* show_workers.c: all rows, made by several processes at once, each with all that an evaluation may use.  None but them
 * may have the store open: SQLite's connections don't survive a fork. */
int show_rows_by_workers(struct shown *v, size_t workers, struct err *err);

/* show_print.c.  Onto the end of an array. */
int show_json(const struct shown *v, struct json *all, struct err *err);
void show_table(const struct shown *v);

#endif
