/*
 * Keys of nvcc's steps (compile/nvcc_steps.h), and how forge runs those that have keys of their own.
 *
 * The sandbox of a cicc or ptxas step has what it reads in the folder /in, under nvcc's own names, and writes what
 * is wanted of it to /out, under names that are the same for every list of architectures:
 *
 *   cicc   /out/ptx, /out/stub.c (what the host's half includes), /out/c and /out/gpu (of no use to anybody)
 *   ptxas  /out/cubin
 */
#ifndef FORGE_COMPILE_NVCC_KEY_H
#define FORGE_COMPILE_NVCC_KEY_H

#include "compile/command.h"
#include "compile/nvcc_steps.h"
#include "core/hash.h"

#define NVCC_IN "/in"
#define NVCC_STUB COMPILE_OUT "/stub.c"

/* argv of a CICC or PTXAS step, NULL behind it.  -1 (ERR_INPUT): it names a file that is not understood. */
int nvcc_step_argv(const struct nvcc_step *s, struct str_list *argv, struct err *err);

/* What all keys of a command hold. */
struct nvcc_key {
	const struct compile_command *command;
	const char *toolchain;   /* identifies the compilers, any text */
	const struct hash *view; /* of all files that the texts came from, where the steps look at them (-lineinfo); else NULL */
};

/* Of the whole command: from hashes of the texts (of each PREPROCESS step, by its index, and `host`, the one that is made
 * for what the host's compiler reads besides), the steps, and what was said so far. */
void nvcc_key_whole(const struct nvcc_key *k, const struct nvcc_steps *steps, const struct hash *texts,
	const struct hash *host, struct slice said, struct hash *out);

/* Of a cicc step: *exact is of the text as it is; *shared is the same for every list of architectures, as far as
 * that only shows in names (compile/arch_names.h).  They are equal where the text has no such names, or has them
 * where they can't be told apart from data; *named says that it has. */
void nvcc_key_cicc(const struct nvcc_key *k, const struct nvcc_step *s, const char *arch_list, struct slice text,
	struct slice module_id, struct hash *exact, struct hash *shared, bool *named);

/* Of a ptxas step: begun; the bytes of its PTX are to follow, then hash_end(). */
void nvcc_key_ptxas(const struct nvcc_key *k, const struct nvcc_step *s, uint64_t ptx_size, struct hasher *h);

#endif
