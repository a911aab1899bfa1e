/*
 * A compiler command understood: is it the compile of one source to one object,
 * and if so, how does forge do it in sandboxes of its own?  Pure: strings in,
 * strings out.  Options stand in tables of those that are known; whatever has
 * one that is not, or asks for anything but one object (and its dependency
 * file), is run in place: never wrong, only slower.
 *
 * The view of a forge sandbox: the world of the build, the build's /build read-only, an empty /out that may
 * be written, the request's cwd as working folder, `env` as the environment.  Two runs, each with a fresh /out:
 *
 *   preprocess  leaves in /out the texts of the key: every regular file there, by its name (compile/key.h)
 *   compile     leaves `out_object` and, if deps != COMPILE_DEPS_NONE, `out_deps`
 *
 * A run that does not exit with 0, or does not leave what it should: run the command in place, which shows the
 * compiler's own words.
 */
#ifndef FORGE_COMPILE_COMMAND_H
#define FORGE_COMPILE_COMMAND_H

#include <stdbool.h>
#include "compile/request.h"
#include "core/buf.h"
#include "core/hash.h"
#include "core/str.h"

enum compile_kind {
	COMPILE_IN_PLACE, /* run it in the build; why tells the reason */
	COMPILE_REFUSED,  /* never right in a build (-march=native): exit status 1, why on stderr */
	COMPILE_CC,       /* gcc or g++ */
	COMPILE_NVCC,     /* nvcc, whole */
};

enum compile_deps { COMPILE_DEPS_NONE, COMPILE_DEPS_MAKE /* gcc's form */, COMPILE_DEPS_NVCC };

struct compile_command {
	enum compile_kind kind;
	char *why;              /* IN_PLACE and REFUSED: one line for people; else NULL.  Owned, as all below. */

	/* The rest for COMPILE_CC and COMPILE_NVCC only. */
	char *source;           /* as given; relative to cwd */
	char *object;           /* absolute: where the shim is to write the object */
	char *depfile;          /* absolute: where it is to write the dependencies; NULL for none */
	enum compile_deps deps;
	char *deps_target;      /* what stands before the ":" there, as it is to be written (quoted for make) */
	char *out_object;       /* "/out/NAME" */
	const char *out_deps;   /* COMPILE_OUT_DEPS or NULL */
	char *cwd;              /* working folder of both runs */
	struct str_list preprocess; /* argv; [0] absolute.  NUL-terminated: items[count] is NULL. */
	struct str_list compile;    /* likewise */
	struct str_list env;        /* NAME=value, likewise */
	struct str_list key;    /* what of the command enters the key: see compile/key.h */
};

#define COMPILE_OUT "/out"
#define COMPILE_OUT_DEPS "/out/.deps"
/* The target in out_deps: the object's own path is not the compile's business (it has the Python version in it),
 * so one result serves many; compile_deps_write() puts the asked one in. */
#define COMPILE_DEPS_TARGET "forge-object"

/* Understand a request.  Never fails: what is not understood is COMPILE_IN_PLACE. */
void compile_command_read(const struct compile_request *r, struct compile_command *c);
void compile_command_free(struct compile_command *c);
#define _cleanup_compile_command_ __attribute__((cleanup(compile_command_free)))

/* What identifies the command as it was asked for, to look up its manifest: tool, every word but the names of its
 * outputs, working folder, environment, toolchain (any text).  For COMPILE_CC and COMPILE_NVCC. */
void compile_command_id(const struct compile_command *c, const struct compile_request *r, const char *toolchain,
	struct hash *out);

/* The dependency file as the compiler in place would have written it, from the one that the compile run left
 * (made is its text).  -1 (ERR_INPUT): made does not have the form that the compiler writes. */
int compile_deps_write(const struct compile_command *c, struct slice made, struct buf *out, struct err *err);

#endif
