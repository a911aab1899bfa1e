/* What `uv pip compile --generate-hashes` prints: a requirements file of exact pins. */
#ifndef FORGE_LOCK_UVOUT_H
#define FORGE_LOCK_UVOUT_H

#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

struct uvpin {
	char *name;             /* normalised (PEP 503) */
	char *version;
	struct str_list hashes; /* sha256, 64 lower-case hexadecimal digits each; at least one */
};

struct uvpins {
	LIST(struct uvpin) list;
};

#define UVOUT_LIMIT (16u << 20)

/* Anything but pins with hashes (an option, a URL, a range) is an error that names the line. */
int uvout_parse(struct slice text, struct uvpins *out, struct err *err);
void uvpins_free(struct uvpins *p);
#define _cleanup_uvpins_ __attribute__((cleanup(uvpins_free)))

#endif
