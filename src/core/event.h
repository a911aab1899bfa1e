/*
 * What library code tells whoever shows progress.  Rooms emit events; cli/
 * turns them into lines or a live display.  Nothing else below cli/ talks.
 */
#ifndef FORGE_CORE_EVENT_H
#define FORGE_CORE_EVENT_H

#include <stdint.h>

enum event_kind {
	EVENT_PLAN,     /* total = number of goals that are to be done */
	EVENT_START,    /* a goal began: id, what ("fetch", "unpack", "build", "finish", "test", "lock"), name */
	EVENT_PROGRESS, /* id; done and total bytes (total 0: unknown) */
	EVENT_COMPILES, /* id; done and total compiles of a build (total: asked for so far, or as many as there were the
	                   last time), of those hits; ms: how long the rest may take, 0: not known */
	EVENT_LOG,      /* id; text: one line of a build's output, without its line end */
	EVENT_DONE,     /* id; text: NULL on success, else the error's line; ms: time it took;
	                   on a failed build: tail, the last lines of its log, and log, where all of it is */
	EVENT_NOTE,     /* text: something a person should know */
	EVENT_WARN,     /* text: something a person should mend */
};

struct event {
	enum event_kind kind;
	uint64_t id;
	const char *what;
	const char *name;
	const char *text;
	int64_t done, total, hits;
	int64_t ms;
	const char *tail;
	const char *log;
};

struct event_sink {
	void (*emit)(void *ctx, const struct event *e); /* NULL: nobody listens */
	void *ctx;
};

/* sink may be NULL. */
void event_emit(const struct event_sink *sink, const struct event *e);
void event_note(const struct event_sink *sink, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void event_warn(const struct event_sink *sink, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
