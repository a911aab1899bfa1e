/*
 * A compile by nvcc, taken apart (inside build/): the texts of the host and of each architecture are made in one
 * sandbox over the build's folder, watched by the tracer; all that follows reads those texts only, and only if the
 * key of the whole, which is made of them, has no result.  cudafe++ then splits the host's text.  Each cicc and ptxas
 * step is an action with a key and a result of its own.  The host's half is compiled beside ptxas, as far as that goes
 * without the device code; the rest is put together in a last sandbox.
 *
 * The call's folder in store/tmp, its stage, holds
 *   view/   the build's files that were read, as they were read: what stands at /build for the steps (they look at
 *           sizes and times for -lineinfo, and show lines in messages)
 *   parts/  PTX, stubs and device code under nvcc's names
 *   said/   what each step of a part said: <step>.out, <step>.err
 *   deps    the dependency file
 */
#ifndef FORGE_BUILD_COMPILE_NVCC_H
#define FORGE_BUILD_COMPILE_NVCC_H

#include "build/compile_take.h"

#define NVCC_PARTS "/parts"

/* In a worker: make the stage from the texts.  The answer: "" or why nvcc is to compile as a whole; the key of the
 * whole; that of the files it came from; the manifest; what --dryrun printed; what of the environment was hashed. */
int nvcc_read_texts(void *call, struct buf *answer, struct err *err);

/* One of nvcc's files, by its path there (/out/NAME), from the open folder of a run that has made it. */
int nvcc_read_text(int out, const char *path, struct buf *text, struct err *err);
#define NVCC_TEXT_MAX (1u << 30) /* bytes of one: texts, PTX, stubs */

/* In a worker of a struct compile_part, whose folder is open: its result into the stage.  The answer of a cicc step: the
 * keys of the ptxas steps behind it, in order. */
int part_place(void *part, struct buf *answer, struct err *err);

/* Split the host's text; ends in parts_start() or call_place(). */
void nvcc_split(struct compile_call *c);

/* Begin what can be begun once some parts are done: the host's half, and the last steps. */
void nvcc_go_on(struct compile_call *c);

/* A worker makes c->made from what the last action left. */
void nvcc_take(struct compile_call *c, proc_worker_fn *fn, call_worker_fn *done);

/* Run a script, which is taken, by the shell: over the stage's view, with what `in` left at /in and the stage's parts
 * at NVCC_PARTS.  One at a time. */
struct compile_action *nvcc_script(struct compile_call *c, enum action_kind kind, char *script,
	const struct compile_action *in, action_ended_fn *ended);

#endif
