/* Version injection: the recipe's label becomes part of the wheel's name. */
#ifndef FORGE_WHEEL_LABEL_H
#define FORGE_WHEEL_LABEL_H

#include "core/err.h"
#include "wheel/finish.h"
#include "wheel/name.h"

/* Hold the built wheel's name to what the recipe declares, and change its version or build tag as the label says.
 * A wheel that has that very label already (its build was told it) passes; another one is an error. */
int wheel_label(struct wheel_name *name, const struct wheel_finish *spec, struct err *err);

#endif
