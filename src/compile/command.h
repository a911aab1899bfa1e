/*
 * A compiler command understood: is it the compile of one source to one object,
 * and if so, how does forge do it in sandboxes of its own?  Pure: strings in,
 * strings out.  Options stand in tables of those that are known; whatever has
 * one that is not, or asks for anything but one object (and its dependency
 * file), is run in place: never wrong, only slower.
 *
 * The view of a forge sandbox: the world of the build, the build's /build read-only, an empty /out that may
 * be written, the request's cwd as working folder, `env` as the environment.
 *
 *   compile     leaves `out_object` and, if deps != COMPILE_DEPS_NONE, `out_deps`
 *   preprocess  nvcc's alone: leaves in /out what nvcc --dryrun prints (dryrun), the texts and what else its steps
 *               up to cudafe++ write, under nvcc's names (compile/nvcc_steps.h), what the host's compiler is to read
 *               besides (host.ii), and what each of these steps said (said/0.out, said/0.err, …)
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
	COMPILE_NVCC,
};

enum compile_deps { COMPILE_DEPS_NONE, COMPILE_DEPS_MAKE /* gcc's form */, COMPILE_DEPS_NVCC };

struct compile_command {
	enum compile_kind kind;
	char *why;              /* IN_PLACE and REFUSED: one line for people; else NULL.  Owned, as all below. */

	/* The rest for COMPILE_CC and COMPILE_NVCC only. */
	char *source;           /* as given; relative to cwd */
	char *object;           /* absolute: where the shim is to write the object */
	char *object_folder;    /* nvcc with -g: its folder as the command has it, with "/"; NULL: it is not in the object */
	char *depfile;          /* absolute: where it is to write the dependencies; NULL for none */
	enum compile_deps deps;
	bool deps_users;        /* nvcc: without the headers of the system (-MMD) */
	bool deps_phony;        /* nvcc: with a target for each header (-MP) */
	bool looks_at_files;    /* nvcc: steps behind the preprocessor look at the files that it read (-lineinfo) */
	char *deps_target;      /* what stands before the ":" there, as it is to be written (quoted for make) */
	char *out_object;       /* "/out/NAME" */
	const char *out_deps;   /* COMPILE_OUT_DEPS or NULL */
	char *cwd;              /* working folder of both runs */
	struct str_list compile;    /* argv; [0] absolute.  NUL-terminated: items[count] is NULL. */
	struct str_list preprocess; /* likewise; COMPILE_NVCC only */
	struct str_list env;        /* NAME=value, likewise */
	struct str_list key;    /* what of the command enters keys that are not of the exact command */
};

#define COMPILE_OUT "/out"
#define COMPILE_OUT_DEPS "/out/.deps"
/* The target in out_deps: the object's own path is not the compile's business (it has the Python version in it),
 * so one result serves many; compile_deps_write() puts the asked one in. */
#define COMPILE_DEPS_TARGET "forge-object"

/* Of a request that is not understood, the word that looks like its source, by which people know it; NULL: none does. */
const char *compile_command_likely(const struct compile_request *r);

/* Understand a request.  Never fails: what is not understood is COMPILE_IN_PLACE. */
void compile_command_read(const struct compile_request *r, struct compile_command *c);
void compile_command_free(struct compile_command *c);
#define _cleanup_compile_command_ __attribute__((cleanup(compile_command_free)))

/* What identifies the command as it was asked for, to look up its manifest: tool, every word but the names of its
 * outputs, working folder, environment, toolchain (any text).  For COMPILE_CC and COMPILE_NVCC. */
void compile_command_id(const struct compile_command *c, const struct compile_request *r, const char *toolchain,
	struct hash *out);

/* The path (absolute, or relative to the working folder) without "." and "..", by its text alone. */
void compile_clean_path(const char *cwd, const char *path, struct buf *out);

/* The dependency file as the compiler in place would have written it, from the one that the compile run left
 * (made is its text).  -1 (ERR_INPUT): made does not have the form that the compiler writes. */
int compile_deps_write(const struct compile_command *c, struct slice made, struct buf *out, struct err *err);

#endif
