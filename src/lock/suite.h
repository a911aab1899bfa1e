/* One suite of a Debian archive: what its signed InRelease says, and the lists that this names. */
#ifndef FORGE_LOCK_SUITE_H
#define FORGE_LOCK_SUITE_H

#include "lock/resolve_impl.h"

struct suite {
	struct lock_resolver *r;
	const char *name;        /* lent */
	struct str_list mirrors;
	const char *release;     /* the signed text; lent by the resolver */
	char *folder;            /* <scratch>/debian */
};

/* Read what is signed, once a run.  To be closed also on failure. */
int suite_open(struct suite *s, struct lock_resolver *r, const char *name, struct err *err);
void suite_close(struct suite *s);
#define _cleanup_suite_ __attribute__((cleanup(suite_close)))

struct slice suite_release(const struct suite *s);

/* Does the suite list this file ("main/binary-all/Packages")? */
bool suite_has(const struct suite *s, const char *path);

/* The list at this path, as it was signed and unpacked, fetched unless it lies in the folder intact; the file's path
 * is added to files.  One that the suite does not have is an error. */
int suite_add_list(const struct suite *s, const char *path, struct str_list *files, struct err *err);

#endif
