/*
 * Requirements of Python projects (PEP 508; "Dependency specifiers" of the
 * packaging guide), read far enough to be compared and put into one spelling.
 */
#ifndef FORGE_LOCK_REQUIREMENT_H
#define FORGE_LOCK_REQUIREMENT_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

#define REQUIREMENT_LIMIT 4096 /* characters; longer is refused */

/* All owned. */
struct requirement {
	char *name;       /* as written */
	char *extras;     /* sorted, "a,b"; "" if none */
	char *specifier;  /* sorted, "<3,>=2"; "" if none */
	char *url;        /* NULL, or what stands behind "@" */
	char *marker;     /* "python_version < \"3.8\"" in one spelling; "" if none */
};

int requirement_parse(struct slice text, struct requirement *out, struct err *err);
void requirement_free(struct requirement *r);
#define _cleanup_requirement_ __attribute__((cleanup(requirement_free)))

/* One spelling, with the name normalised (PEP 503): "foo-bar[a,b]>=1; os_name == \"posix\"". */
void requirement_write(const struct requirement *r, struct buf *out);

/* The marker speaks of an extra: the requirement is nobody's who asked for none. */
bool requirement_is_extra(const struct requirement *r);

/* The version of an exact pin ("==1.2", no wildcard, nothing else), owned; NULL if it is none. */
char *requirement_pin(const struct requirement *r);

/* A list in one spelling, sorted, each once. */
int requirements_normalise(const struct str_list *in, struct str_list *out, struct err *err);

#endif
