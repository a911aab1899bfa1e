/* One recipe that is looked through. Inside the room only. */
#ifndef FORGE_LINT_LINT_IMPL_H
#define FORGE_LINT_LINT_IMPL_H

#include "core/buf.h"
#include "lint/lint.h"
#include "lint/words.h"

struct linting {
	struct eval *e;
	struct store *s;
	const struct lint_options *o;
	struct lint_report *out;
	struct buf text;        /* of the recipe's file */
	LIST(const struct eval_target *) possible; /* the variants that evaluate … */
	LIST(size_t) wheels;                       /* … and their derivations of role "wheel" */
	struct eval_lint tables;
};

/* A finding at a line (0: not known) of the recipe; takes what and todo. */
void lint_say(struct linting *l, const char *check, int line, char *what, char *todo);
/* A check that is not made; takes why. */
void lint_leave_out(struct linting *l, const char *check, char *why);

/*
 * The line of a recipe's text where `word` stands: the first after "field =", else the first anywhere, else that of
 * the field, else that of forge.wheel; 0: none.  Either may be NULL.  Comments are not looked at.
 */
int lint_line(struct slice text, const char *field, const char *word);

/* The derivations that the wheels are built by. */
void lint_each_build(const struct linting *l, void (*fn)(void *ctx, const struct drv *d), void *ctx);

/*
 * Read all texts that builds are given: the source, fetched and unpacked where the store lacks it, files and folders
 * that the recipe took in (patches), its shell steps.  *why says what was not read, NULL if all was; owned by the
 * caller.
 */
int lint_read_texts(struct linting *l, struct words *words, char **why, struct err *err);

/* The checks. */
int lint_evaluation(struct linting *l, struct err *err);  /* first: fills l->possible and l->wheels */
int lint_tables(struct linting *l, struct err *err);      /* then: fills l->tables */
int lint_names(struct linting *l, struct err *err);
int lint_patches(struct linting *l, struct err *err);
int lint_variables(struct linting *l, struct err *err);

#endif
