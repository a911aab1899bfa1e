/*
 * What the shim asks: one compiler command, in the words of shim/proto.h.  The
 * bytes come from a build, so they are hostile: every length and count has a
 * limit, and nothing is believed that was not checked.
 */
#ifndef FORGE_COMPILE_REQUEST_H
#define FORGE_COMPILE_REQUEST_H

#include <stdint.h>
#include "core/err.h"
#include "core/str.h"

enum compile_tool { COMPILE_TOOL_CC, COMPILE_TOOL_CXX, COMPILE_TOOL_NVCC };

struct compile_request {
	enum compile_tool tool;
	char *cwd;              /* absolute, without "..", "." and empty parts; owned, as all below */
	struct str_list argv;   /* argv[0] is the name it was called by; at least one */
	struct str_list env;    /* NAME=value, no name twice */
	const char *gcc;        /* not asked but known of the world: its gcc's major version; lent, NULL: "12" */
};

#define COMPILE_REQUEST_MAX (1u << 20) /* bytes of a whole request */
#define COMPILE_REQUEST_HEAD 12u       /* magic, version, length: see compile_request_length() */
#define COMPILE_ARGV_MAX 16384u
#define COMPILE_ENV_MAX 64u

/* The length of the whole request, in bytes, from its first COMPILE_REQUEST_HEAD bytes.
 * 0: these are not the beginning of a request, or it is too long (ERR_INPUT). */
uint32_t compile_request_length(const uint8_t head[COMPILE_REQUEST_HEAD], struct err *err);

/* Read a whole request of len bytes.  -1: ERR_INPUT, *r is empty then. */
int compile_request_read(const uint8_t *data, size_t len, struct compile_request *r, struct err *err);
void compile_request_free(struct compile_request *r);
#define _cleanup_compile_request_ __attribute__((cleanup(compile_request_free)))

/* The value of a variable, NULL if it is not set. */
const char *compile_request_env(const struct compile_request *r, const char *name);

#endif
