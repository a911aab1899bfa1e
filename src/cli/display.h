/*
 * Showing progress on standard error: a live region on a terminal (what runs,
 * for how long, at what rate, how many of how many), plain lines without one.
 * NO_COLOR and TERM=dumb are obeyed.
 */
#ifndef FORGE_CLI_DISPLAY_H
#define FORGE_CLI_DISPLAY_H

#include "cli/options.h"
#include "core/buf.h"
#include "core/event.h"
#include "core/loop.h"

struct display;

/* sink: where rooms send their events.  loop may be NULL (then nothing moves between events). */
struct display *display_new(const struct options *o, struct loop *loop, struct event_sink *sink);
void display_expect(struct display *d, int64_t fetch_bytes); /* how much the plan is going to fetch */
void display_free(struct display *d); /* leaves the terminal clean; NULL is fine */

/* Text from outside, made harmless for a terminal: control bytes become "?". */
void display_clean(const char *text, struct buf *out);
/* "forge: " and the error, cleaned so, as a line on stderr. */
void display_error(const char *text);

#endif
