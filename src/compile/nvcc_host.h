/*
 * The host's half of an nvcc compile in two runs, so that most of it needs no device code and is done while ptxas works:
 * to assembly over a stand-in of the file that fatbinary writes (NAME.fatbin.c, all of whose device code is the lines of
 * one asm statement), and, once that file is there, from assembly with those lines to the object.
 */
#ifndef FORGE_COMPILE_NVCC_HOST_H
#define FORGE_COMPILE_NVCC_HOST_H

#include <stdbool.h>
#include "compile/nvcc_steps.h"
#include "core/buf.h"

#define NVCC_ASSEMBLY "host.s"
#define NVCC_HOST_AGAIN "again" /* in /out: the assembly was of no use */

/* Shell lines, for a folder /out that has what the host's half reads but for fatbinary's file.  *assembly leaves
 * /out/host.s and what the run said in /out/host.out and /out/host.err.  *object says that again and leaves the object:
 * fatbinary has run, and /in has what *assembly left; where fatbinary's file is not the stand-in with device code in it,
 * it compiles in one run and leaves /out/again.  False: it is to be compiled in one run. */
bool nvcc_host_split(const struct nvcc_steps *steps, struct buf *assembly, struct buf *object);

#endif
