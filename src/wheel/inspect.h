/* What an index needs to know of a wheel, read from its file. */
#ifndef FORGE_WHEEL_INSPECT_H
#define FORGE_WHEEL_INSPECT_H

#include "core/buf.h"
#include "core/err.h"
#include "wheel/name.h"

struct wheel_inspected {
	char *name;              /* from METADATA */
	char *version;
	char *requires_python;   /* NULL if none */
	struct buf metadata;     /* the METADATA file's bytes (PEP 658) */
};
void wheel_inspected_free(struct wheel_inspected *w);
int wheel_inspect(int fd, const char *file_name, struct wheel_inspected *out, struct err *err);

#endif
