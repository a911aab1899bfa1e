/* Running uv as a resolver (DESIGN 6): forge writes none of its own. */
#ifndef FORGE_LOCK_UV_H
#define FORGE_LOCK_UV_H

#include "core/err.h"
#include "core/str.h"
#include "lock/uvout.h"

struct uv_compile {
	const char *program;            /* uv */
	const char *index;
	const char *python;             /* "3.13"; "3.14t": without the GIL */
	const char *scratch;            /* its cache and its stand-in for an interpreter lie below */
	const struct str_list *requires;
	const struct str_list *keep;    /* "name==version" of an earlier answer, to be kept where it can be; may be NULL */
	const char *upgrade;            /* with keep: the project that alone is to move */
};

/* Pins with hashes for CPython on x86_64 Linux (CHOOSE_UV_PLATFORM), wheels only.  When uv finds no
 * solution the error is its explanation, on one line. */
int uv_compile(const struct uv_compile *c, struct uvpins *out, struct err *err);

#endif
