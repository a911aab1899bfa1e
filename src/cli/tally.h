/* What became of each variant of a realise: gathered from the events, told at the end. */
#ifndef FORGE_CLI_TALLY_H
#define FORGE_CLI_TALLY_H

#include "build/plan.h"
#include "cli/chosen.h"
#include "core/event.h"

struct tally;

/* Events pass through *sink (filled) to `to`, and are remembered by derivation; drvs: how many there are. */
struct tally *tally_new(size_t drvs, const struct event_sink *to, struct event_sink *sink);
void tally_free(struct tally *t);

enum tally_state { TALLY_BUILT, TALLY_FROM_STORE, TALLY_FAILED, TALLY_NOT_BUILT, TALLY_IMPOSSIBLE };
const char *tally_word(enum tally_state state); /* "built" */

struct tally_result {
	enum tally_state state;
	int64_t ms;        /* its own steps in this run: build, finish, test */
	int64_t size;      /* of the wheel, in bytes; 0: there is none */
	const char *error; /* of the step that failed, lent; NULL: none */
	const char *log;   /* where that step's log is, lent; NULL: none */
};

/* tally may be NULL: nothing was to be done. */
struct tally_result tally_of(const struct tally *tally, const struct chosen_target *t, const struct eval *e,
	const struct plan *plan, struct store *s);

/* The table, on standard error; the number of variants that failed, or were not built, since others did. */
size_t tally_print(const struct tally *tally, const struct chosen *c, const struct eval *e, const struct plan *plan,
	struct store *s, bool quiet);

#endif
