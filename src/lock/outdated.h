/* `forge outdated`: newer releases of what a lock pins.  Nothing is changed. */
#ifndef FORGE_LOCK_OUTDATED_H
#define FORGE_LOCK_OUTDATED_H

#include "core/list.h"
#include "lock/lock.h"

enum outdated_how {
	OUTDATED_RECIPE, /* the recipe's own source: its version or rev is to be changed */
	OUTDATED_PINNED, /* the recipe names this very version */
	OUTDATED_LOCKED, /* the lock chose it: forge lock --update takes the newer one, if all agrees with it */
	OUTDATED_MOVED,  /* git: the tag or branch is another commit now */
};

struct outdated_row {
	char *name, *locked, *newest; /* owned */
	enum outdated_how how;
};

/* eval_options.locked while the recipe's variants are evaluated, ctx is a struct outdated: answers as
 * lock_answer does and notes what was asked. */
struct outdated;
struct outdated *outdated_new(struct lock *l, struct lock_reader *reader, struct lock_resolver *r); /* all lent */
void outdated_free(struct outdated *o);
int outdated_answer(void *outdated, const struct json *request, struct json **answer, struct err *err);

typedef LIST(struct outdated_row) outdated_rows;
/* Ask the index, and the repositories whose rev is a name; rows are sorted, each thing once.  Debian's
 * packages are not looked at: they follow their suite. */
int outdated_find(struct outdated *o, outdated_rows *rows, struct err *err);
void outdated_rows_free(outdated_rows *rows);

#endif
