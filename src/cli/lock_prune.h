/*
 * `forge lock --prune`: a lock serves all recipes of its folder, so what none
 * of them asks for is known only when all of them were asked.
 */
#ifndef FORGE_CLI_LOCK_PRUNE_H
#define FORGE_CLI_LOCK_PRUNE_H

#include "core/event.h"
#include "core/list.h"
#include "lock/lock.h"
#include "lua/eval.h"

/* One lock, and what its recipes asked of it.  All owned. */
struct prune_lock {
	char *file;              /* as the person would name it */
	char *folder;            /* its folder, links resolved */
	struct str_list recipes; /* file names beside it: recipes, and modules that they load */
	struct str_list asked;   /* keys */
};

struct prune {
	LIST(struct prune_lock) locks;
};

/* A recipe, as the person named it, was evaluated by e, which asked r. */
int prune_add(struct prune *p, const char *recipe, const struct eval *e, const struct lock_resolver *r, struct err *err);
/* Drop from each lock what nobody asked for, and tell how much.  A .lua file beside a lock that was neither evaluated
 * nor loaded: ERR_USAGE, and no lock is changed. */
int prune_locks(struct prune *p, const struct event_sink *events, struct err *err);
void prune_free(struct prune *p);

#endif
