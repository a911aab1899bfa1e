/*
 * What a traced compiler looked at, from the log that trace.so wrote (trace/proto.h).  The tracer is trusted, the
 * names in its log are a build's, and the log may be cut off: nothing is believed that was not checked.
 */
#ifndef FORGE_COMPILE_TRACE_LOG_H
#define FORGE_COMPILE_TRACE_LOG_H

#include <stdint.h>
#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

#define TRACE_LOG_MAX (4ull << 30) /* bytes of a log */
#define TRACE_RECORDS_MAX 1000000u

struct trace_file {
	char *path;     /* absolute and clean */
	struct slice content; /* what the compiler got; p is NULL where it was read in place, as it never changes */
	uint64_t size;
	int64_t mtime;  /* seconds since 1970 */
};

/* All lists are sorted by path, bytewise, and no path stands twice in all of them together. */
struct trace {
	LIST(struct trace_file) files; /* that were read */
	LIST(struct trace_file) asked; /* that were asked about but never read; no content */
	struct str_list missing, dirs;
	char *odd; /* why the lists don't tell all that the compiler saw; NULL: they do.  Where a path was first one
	              thing and then another, this says so. */
};

/* The contents are lent from the log.  -1 (ERR_INPUT): this is no whole log, and an empty one is none; *t is empty
 * then. */
int trace_log_read(struct slice log, struct trace *t, struct err *err);
void trace_free(struct trace *t);
#define _cleanup_trace_ __attribute__((cleanup(trace_free)))

#endif
