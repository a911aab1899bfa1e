/* What the files that read nvcc's steps share. */
#ifndef FORGE_COMPILE_NVCC_STEPS_IMPL_H
#define FORGE_COMPILE_NVCC_STEPS_IMPL_H

#include "compile/nvcc_steps.h"

/* A step from its line: what it is, what it reads and writes.  here: the folder of nvcc's programs, or NULL; of `all`,
 * its variables are looked at.  -1 (ERR_INPUT): it is of no form that is known. */
int nvcc_step_read(const struct nvcc_steps *all, struct slice line, const char *here, struct nvcc_step *s, struct err *err);

int nvcc_not_understood(struct err *err, struct slice line);

#endif
