/* In which order goals are started where more are ready than may run. */
#ifndef FORGE_BUILD_ORDER_H
#define FORGE_BUILD_ORDER_H

#include <stddef.h>
#include "build/plan.h"

/* The indexes of the evaluation's derivations, first what has the longest way to go: see order.c.
 * An array of eval_drv_count(e), owned by the caller. */
size_t *order_make(struct eval *e);

#endif
