/* In workers: what a traced run left, made into a manifest (inside build/). */
#ifndef FORGE_BUILD_COMPILE_TAKE_H
#define FORGE_BUILD_COMPILE_TAKE_H

#include "build/compile_impl.h"
#include "build/compile_trace.h"
#include "compile/manifest.h"

/* Read the trace in the open folder `out`; e gets all that was seen, but no result yet.  -1 (ERR_INPUT): it can't be
 * told what the compiler read. */
int trace_take(struct compile_call *c, int out, struct compile_trace *t, struct manifest_entry *e, struct err *err);

/* The bytes of the command's manifest with this entry added. */
int trace_manifest(const struct compile_call *c, struct manifest_entry *e, struct buf *out, struct err *err);

/* Take files of a run into the folder `made` of store/tmp, as a result: each by its name in
 * `out` and the one it is to have in the result, a NULL name behind the last; and what was said. */
struct taken_file {
	const char *name, *as;
};
int take_result(struct compile_call *c, const char *made, int out, const struct taken_file *files, struct slice said_out,
	struct slice said_err, struct err *err);
/* Make it an object; the answer to the parent. */
int take_prepare(struct compile_call *c, const char *made, const char *what, struct store_prepared *out, struct err *err);
/* What a run said on both streams; -1: too much, or it can't be read. */
int take_messages(int folder, struct buf *out, struct buf *messages, struct err *err);

/* The result of a whole run, c->action's: the object, the dependency file and what was said; with its key and the
 * command's manifest in the answer.  The key is the result's own: the entry, which gets it, says when it is right. */
int take_run(struct compile_call *c, struct manifest_entry *entry, struct buf *answer, struct err *err);
/* In the parent, a call_worker_fn of the call: keep it, and answer the request. */
void take_run_done(void *call, int rc, struct buf *answer, struct err *err);

/* Fields of an answer, each behind its length. */
void answer_put(struct buf *answer, const void *data, size_t len);
int answer_get(struct slice *rest, struct slice *field, struct err *err);
int answer_get_hash(struct slice *rest, struct hash *out, struct err *err);

#endif
