/* Between display.c (events and lines) and live.c (the region that moves). */
#ifndef FORGE_CLI_DISPLAY_IMPL_H
#define FORGE_CLI_DISPLAY_IMPL_H

#include "cli/display.h"
#include "core/buf.h"
#include "core/list.h"

struct running {
	uint64_t id;
	char *what, *name;
	int64_t began;        /* loop_now() */
	int64_t done, total;  /* bytes */
	int64_t compiles, compiled, hits;
	char *last;           /* the last line that a build printed */
};

struct display {
	bool live, color, quiet, verbose, keep_going;
	struct loop *loop;
	uint64_t timer;
	LIST(struct running) running;
	int64_t total, finished, failed;
	int64_t began;
	size_t drawn;         /* lines of the region that are on the screen now */
	int64_t drawn_at;
};

/* Text from outside, made harmless for a terminal: control bytes become "?". */
void display_clean(const char *text, struct buf *out);

void live_clear(struct display *d); /* take the region off the screen */
void live_draw(struct display *d);  /* draw it again if there is anything to show */

#endif
