/* The tracer as forge gives it to a compiler in a sandbox, and what it brings back: see trace/proto.h. */
#ifndef FORGE_BUILD_COMPILE_TRACE_H
#define FORGE_BUILD_COMPILE_TRACE_H

#include <stddef.h>
#include "build/compile_world.h"
#include "compile/manifest.h"
#include "compile/trace_log.h"

/* Write trace.so, to be bound into sandboxes and named by LD_PRELOAD there.  It is replaced if it is there. */
int compile_trace_write(int dirfd, const char *name, struct err *err);

struct compile_trace {
	struct trace seen;
	struct slice log;  /* mapped: what the contents in seen are lent from */
};

/* The folder FORGE_TRACE that a compiler left: what it looked at becomes t, which begins as { 0 }, and e's lists
 * (result and env_id are the caller's): files of the build by the bytes that were compiled, others through w.  *odd,
 * owned by the caller, tells why the result can't be kept under such an entry; NULL: it can.  Then, and on -1, t and
 * e are to be freed only. */
int compile_trace_read(int folder, struct compile_world *w, struct compile_trace *t, struct manifest_entry *e, char **odd,
	struct err *err);
void compile_trace_free(struct compile_trace *t);
#define _cleanup_compile_trace_ __attribute__((cleanup(compile_trace_free)))

#endif
