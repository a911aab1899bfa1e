/* A build that runs (inside build/: job_build.c and job_outputs.c). */
#ifndef FORGE_BUILD_JOB_BUILD_H
#define FORGE_BUILD_JOB_BUILD_H

#include "build/goal.h"
#include "build/log.h"
#include "sandbox/sandbox.h"

struct job {
	struct arena arena;
	char *tmp;               /* name of the scratch folder in store/tmp */
	char *scratch;           /* its physical path */
	char **outputs;          /* scratch store paths, one an output */
	char **taken;            /* names in store/tmp that the outputs are copied to */
	struct str_list inputs;  /* all objects that the build sees: what its outputs may refer to */
	const char *socket;      /* where its compilers ask */
	struct build_log *log;
	struct sandbox *sandbox; /* NULL once it has ended */
	char *tail;
};

/* In a worker, of a goal whose build has ended well: the answer is its outputs' records, each behind its length. */
int outputs_take(void *goal, struct buf *answer, struct err *err);
/* Such an answer's `count` records. */
int outputs_read(const struct buf *answer, struct store_prepared *made, size_t count, struct err *err);

#endif
