/*
 * Lint: what is likely wrong with a recipe, though it may well evaluate.  A check is a function in the table of
 * lint.c; those of what the recipe's tables alone tell stand in lib/forge/lint.lua.
 */
#ifndef FORGE_LINT_LINT_H
#define FORGE_LINT_LINT_H

#include <stdbool.h>
#include "core/event.h"
#include "core/list.h"
#include "lua/eval.h"
#include "store/store.h"

struct lint_finding {
	char *check;         /* "variable", "label", …: the kind, one word */
	char *file;          /* as the person named the recipe; another one that it reads, by its path from there */
	int line;            /* 0: not known */
	char *what, *todo;   /* what is wrong, what to do (NULL: what says it) */
};

/* A check that could not be made. */
struct lint_left_out {
	char *check, *file, *why;
};

struct lint_report {
	LIST(struct lint_finding) findings;   /* of each recipe in the order of its lines */
	LIST(struct lint_left_out) left_out;
};
void lint_report_free(struct lint_report *r);

struct lint_options {
	const char *recipe;                   /* its path as given */
	/* Refuses variants whose wheels would have one name, as a realise of them all would. */
	int (*check_names)(const char *recipe, const struct eval_target *const *targets, size_t count, struct err *err);
	const char *lib;                      /* the folder of the Lua library */
	bool offline;                         /* sources that the store lacks are not fetched; s may be open for reading */
	const char *index;                    /* --index or NULL */
	const struct event_sink *events;      /* of the fetches */
};

/* Evaluate all variants of an opened recipe and add to the report what is found. -1: a source can't be fetched or
 * read; what was found before is in the report. */
int lint_recipe(struct eval *e, struct store *s, const struct lint_options *o, struct lint_report *out, struct err *err);

/* Add an error that says what is wrong with a recipe ("x.lua:7: …"), as a finding. */
void lint_add_error(struct lint_report *out, const char *check, const char *recipe, const struct err *err);

#endif
