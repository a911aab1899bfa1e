/* The dependency file that nvcc makes of the line markers in the texts it preprocessed (-MD, -MMD, -MP). */
#ifndef FORGE_COMPILE_NVCC_DEPS_H
#define FORGE_COMPILE_NVCC_DEPS_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/list.h"
#include "core/str.h"

struct nvcc_name {
	char *name;
	size_t order; /* of its first marker */
};

struct nvcc_deps {
	bool users_only; /* -MMD: without the headers of the system */
	bool phony;      /* -MP: each but the first also as a target of its own */
	bool odd;        /* a name holds what it is not known how nvcc writes */
	LIST(struct nvcc_name) names;
	size_t markers;
};

/* Take the names of one text; in the order in which nvcc makes the texts. */
void nvcc_deps_text(struct nvcc_deps *d, struct slice text);
/* The file, with COMPILE_DEPS_TARGET as its target.  Sorts d's names. */
void nvcc_deps_write(struct nvcc_deps *d, struct buf *out);
void nvcc_deps_free(struct nvcc_deps *d);

#endif
