/*
 * A compile by nvcc, taken apart (inside build/): the texts of the host and of each architecture are made in one
 * sandbox over the build's folder, watched by the tracer; all that follows reads those texts only.  Each cicc and
 * ptxas step is an action with a key and a result of its own; the rest is put together in a last sandbox.
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

/* In a worker: make the stage from the texts.  The answer: "" or why nvcc is to compile as a whole; the key of the
 * whole; the manifest; what --dryrun printed; and for each cicc step both keys and a byte, "is it named". */
int nvcc_read_texts(void *call, struct buf *answer, struct err *err);

/* Physical path of something in the stage; owned. */
char *nvcc_stage_path(const struct compile_call *c, const char *below);

#endif
