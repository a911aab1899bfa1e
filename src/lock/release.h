/*
 * A Debian archive's Release file (repository format; deb822).  The text must be
 * what gpgv found signed (signed.h), never what a mirror sent.
 */
#ifndef FORGE_LOCK_RELEASE_H
#define FORGE_LOCK_RELEASE_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/hash.h"
#include "core/str.h"

/* The value of a field of one line; false if there is none. */
bool release_field(struct slice text, const char *name, struct slice *value);

/* Is this the Release of `suite` (by its Suite or Codename), and not past its Valid-Until at `now`
 * (seconds since 1970)? */
int release_check(struct slice text, const char *suite, int64_t now, struct err *err);

struct release_file {
	struct hash sha256;
	int64_t size;
};
/* The file listed under this path in the SHA256 field: 1, 0 if it isn't listed, -1 malformed. */
int release_file(struct slice text, const char *path, struct release_file *out, struct err *err);

#endif
