/*
 * The key of a compile: SHA-256 over a record of all that can change its
 * output.  The record is "forge compile 1", and then fields, each written as
 * its name, its length and its bytes, so that no two inputs share a record:
 *
 *   tool, toolchain  which compiler (the caller gives a hash of its layers)
 *   flag …           the command's canonical flags, in order; the working folder where it enters the output
 *   text …           name and bytes of every file that the preprocess run left in /out, in byte order of names
 *   stderr           what the preprocess run said: its warnings are part of the messages
 *   input …          path and SHA-256 of every file of the build that the texts came from.  The texts hold what
 *                    was read, but not the comments and white space that some warnings depend on.
 */
#ifndef FORGE_COMPILE_KEY_H
#define FORGE_COMPILE_KEY_H

#include "compile/command.h"
#include "core/hash.h"

struct compile_key {
	struct hasher hasher;
	struct str_list inputs; /* under /build, absolute, as the texts' line markers name them; sorted by
	                           compile_key_inputs() */
	char *cwd;
};

/* toolchain: identifies every byte of the compilers and of what they load; any text. */
void compile_key_begin(struct compile_key *k, const struct compile_command *c, const char *toolchain);

/* Add one file of /out.  Call in byte order of names (strcmp).  -1 (ERR_INPUT): the text can't be keyed, as it has
 * the compiler read a file that is not part of it (.incbin): run in place, the error tells the reason. */
int compile_key_text(struct compile_key *k, const char *name, struct slice text, struct err *err);
void compile_key_stderr(struct compile_key *k, struct slice text);

/* After the texts: the files of the build that they came from, absolute and sorted; lent until the key is freed.
 * For each, in this order, the caller gives its hash.  Where PATH.gch exists too, the compiler may have read that
 * instead: run in place. */
const struct str_list *compile_key_inputs(struct compile_key *k);
void compile_key_input(struct compile_key *k, const char *path, const struct hash *content);

void compile_key_end(struct compile_key *k, struct hash *out);
void compile_key_free(struct compile_key *k);
#define _cleanup_compile_key_ __attribute__((cleanup(compile_key_free)))

#endif
