/* What a derivation needs to stand on before it is built: the recipe's own files, and the .drv objects. */
#ifndef FORGE_BUILD_SOURCES_H
#define FORGE_BUILD_SOURCES_H

#include "build/plan.h"

/* Put into the store what the derivations that are to be made refer to: forge.path and forge.text sources
 * and, for all of their closure, the derivations themselves (so that Nix's tools can read them). */
int sources_add(struct eval *e, struct store *s, const struct plan *plan, struct err *err);

#endif
