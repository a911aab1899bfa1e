/*
 * A build's log: read from a pipe in the loop, written to a file, its lines
 * told to who listens, its last lines kept for the error message.
 */
#ifndef FORGE_BUILD_LOG_H
#define FORGE_BUILD_LOG_H

#include <stdint.h>
#include "core/event.h"
#include "core/loop.h"

#define BUILD_LOG_TAIL 25

struct build_log;

/* Opens path for writing and makes the pipe; *write_end is the caller's to hand to the build and close. */
struct build_log *build_log_open(struct loop *loop, const char *path, uint64_t id,
	const struct event_sink *events, int *write_end, struct err *err);
/* Read what is left in the pipe, close.  The result is the last lines, each with its line end; owned. */
char *build_log_close(struct build_log *log);

#endif
