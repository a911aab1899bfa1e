/* Between display.c (events and lines) and live.c (the region that moves). */
#ifndef FORGE_CLI_DISPLAY_IMPL_H
#define FORGE_CLI_DISPLAY_IMPL_H

#include "cli/display.h"
#include "core/buf.h"
#include "core/list.h"

/* Bytes a second of late: counted from a mark that is left behind every few seconds. */
struct rate {
	int64_t since[2], bytes[2]; /* loop_now() and the bytes there were then: the mark, and the next one */
};

struct running {
	uint64_t id;
	char *what, *name;
	int64_t began;        /* loop_now() */
	int64_t done, total;  /* bytes */
	struct rate rate;
	bool fetch, queued;   /* a transfer; one that waits for its turn */
	int64_t compiles, compiled, hits, left_ms;
	char *last;           /* the last line that a build printed */
};

struct display {
	bool live, color, quiet, verbose, keep_going;
	struct loop *loop;
	uint64_t timer;
	LIST(struct running) running;
	int64_t total, finished, failed;
	int64_t began;
	int64_t fetched, to_fetch; /* bytes of transfers that ended; of all that are planned */
	struct rate rate;          /* of all */
	struct buf out;       /* lines that are not on the screen yet */
	size_t drawn;         /* lines of the region that are on the screen now */
	int64_t drawn_at;
};

/* All in one write, so that nothing flickers: the old region gone, the new lines, and the new region if asked for. */
void live_write(struct display *d, bool region);

/* The text cut to the terminal's width.  Owned by the caller. */
char *live_fitted(const char *text);

#endif
