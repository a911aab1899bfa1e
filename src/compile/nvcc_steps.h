/*
 * nvcc's compile of one source to one object, taken apart: the steps that `nvcc --dryrun` prints, as lines
 * "#$ COMMAND" in the shell's words, for nvcc 12 and 13 with -objtemp and the object at /out/NAME:
 *
 *   g++ -E          for the host, and for each virtual architecture (compute_80)
 *   cudafe++        splits the host's text: NAME.cudafe1.cpp and NAME.module_id
 *   cicc            an architecture's text to PTX; also writes the stub that the host's half includes
 *   ptxas           PTX to the code of a real architecture (sm_80)
 *   fatbinary, g++  put all together
 *
 * Whatever has another form is not understood, and such a command is compiled by nvcc itself: nvcc 11's, where
 * cudafe++ comes last and the first cicc makes NAME.module_id, of an architecture's text.
 */
#ifndef FORGE_COMPILE_NVCC_STEPS_H
#define FORGE_COMPILE_NVCC_STEPS_H

#include <stdbool.h>
#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

enum nvcc_step_kind { NVCC_PREPROCESS, NVCC_CUDAFE, NVCC_CICC, NVCC_PTXAS, NVCC_FATBINARY, NVCC_HOST };

struct nvcc_step {
	enum nvcc_step_kind kind;
	char *line;             /* for the shell; without redirections, of which there are none */
	struct str_list words;  /* the same without the shell's quotes; [0] is absolute for CICC and PTXAS */
	char *arch;             /* CICC: "compute_80"; PTXAS: "sm_80"; else NULL */
	char *reads, *writes;   /* the main input and output, as paths; CUDAFE's output is the C++ text */
	char *creates;          /* FATBINARY: the file with the same as bytes; NULL: none */
	size_t from;            /* CICC, PTXAS: index of the step that writes what it reads */
};

struct nvcc_steps {
	LIST(struct nvcc_step) items;  /* in nvcc's order */
	struct str_list env;    /* NAME=value that it sets for all of them */
	char *arch_list;        /* of __CUDA_ARCH_LIST__, with "_" between: "800_900"; NULL: it is not set */
	char *said;             /* its own warnings, whole lines; "" for none */
	bool deps;              /* it would write a dependency file from the preprocessed texts */
};

/* text: what nvcc --dryrun printed, on both streams.  -1 (ERR_INPUT): not understood, the error says what. */
int nvcc_steps_read(struct slice text, struct nvcc_steps *s, struct err *err);
void nvcc_steps_free(struct nvcc_steps *s);
#define _cleanup_nvcc_steps_ __attribute__((cleanup(nvcc_steps_free)))

/* The one CUDAFE, FATBINARY or HOST step, of which nvcc_steps_read() has seen that it is there. */
const struct nvcc_step *nvcc_step_find(const struct nvcc_steps *s, enum nvcc_step_kind kind);

/* The word behind `option`, NULL if it is not there; of a step's words. */
const char *nvcc_step_value(const struct nvcc_step *step, const char *option);

#endif
