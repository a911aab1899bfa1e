/*
 * METADATA and WHEEL: header fields, e-mail style ("Core metadata"; PEP 427 for
 * WHEEL).  Reading lends slices of the text; writing keeps every byte that it
 * does not have to change.
 */
#ifndef FORGE_WHEEL_METADATA_H
#define FORGE_WHEEL_METADATA_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

/* Is the header well-formed: each line a field or the continuation of one, no NUL byte, UTF-8? */
int metadata_check(struct slice text, struct err *err);

/* The value of the nth field of this name (from 0; case does not matter), trimmed; false if there is none. */
bool metadata_get(struct slice text, const char *name, size_t nth, struct slice *value);

/* The value of a field that must be there exactly once; owned by the caller. */
char *metadata_one(struct slice text, const char *name, struct err *err);

/* text with the value of its first field of this name replaced, all else as it is. */
void metadata_set(struct slice text, const char *name, const char *value, struct buf *out);

/* A WHEEL file with other tags and build tag (NULL: none): fields other than Tag and Build as they are, then
 * the tags, then the build tag. */
void metadata_write_wheel(struct slice text, const struct str_list *tags, const char *build, struct buf *out);

/* Root-Is-Purelib: only "true" in any case is true. */
bool metadata_is_pure(struct slice wheel_text);

#endif
