/* Environment markers (PEP 508): checked for their grammar and put into one spelling, not evaluated. */
#ifndef FORGE_LOCK_MARKER_H
#define FORGE_LOCK_MARKER_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

/* Appends the one spelling: single spaces, double quotes (single ones around a text that holds double
 * ones), variables by their present names.  *extra becomes true where the variable `extra` is used. */
int marker_normalise(struct slice text, struct buf *out, bool *extra, struct err *err);

#endif
