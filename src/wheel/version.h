/* Version numbers of Python projects (PEP 440, "Version specifiers" of the packaging guide). */
#ifndef FORGE_WHEEL_VERSION_H
#define FORGE_WHEEL_VERSION_H

#include <stdbool.h>
#include "core/err.h"
#include "core/str.h"

/* All slices point into text.  Numbers are kept as digits without leading zeros, so none is too long. */
struct version {
	char *text;           /* the one normalised spelling; owned */
	struct slice epoch;   /* "0" if not written */
	struct slice release; /* "1.0.3" */
	char pre_kind;        /* 'a', 'b', 'r' (rc), or 0 */
	struct slice pre;
	bool has_post, has_dev;
	struct slice post, dev;
	struct slice local;   /* "" if none; parts separated by '.', lower case */
};

#define VERSION_LIMIT 512 /* characters; longer is refused */

int version_parse(struct slice text, struct version *out, struct err *err);
void version_free(struct version *v);
#define _cleanup_version_ __attribute__((cleanup(version_free)))

/* <0, 0, >0 in PEP 440's order; "1.0" equals "1". */
int version_compare(const struct version *a, const struct version *b);

struct slice version_public(const struct version *v); /* the text without the local part */
bool version_is_prerelease(const struct version *v);  /* a, b, rc or dev */

/* Is text a local version ("cu130torch2.11")?  Writes the normalised form; owned by the caller. */
int version_local_parse(struct slice text, char **out, struct err *err);

#endif
