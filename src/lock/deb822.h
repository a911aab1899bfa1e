/* Debian's control file form (deb822), a line at a time. */
#ifndef FORGE_LOCK_DEB822_H
#define FORGE_LOCK_DEB822_H

#include <stdbool.h>
#include "core/str.h"

/* Is line "Name: value" (the case of the name does not matter)?  *value is trimmed, and set only then. */
bool deb822_field(struct slice line, const char *name, struct slice *value);

#endif
