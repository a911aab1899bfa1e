#include "cli/display.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/display_impl.h"

#define TICK_MS 100

void display_clean(const char *text, struct buf *out)
{
	for (const char *c = text; *c; c++) {
		unsigned char byte = (unsigned char)*c;
		bool control = byte < 0x20 || byte == 0x7f;
		bool c1 = byte == 0xc2 && (unsigned char)c[1] >= 0x80 && (unsigned char)c[1] < 0xa0; /* UTF-8's C1 controls */
		buf_byte(out, byte == '\t' ? ' ' : control || c1 ? '?' : *c);
		c += c1;
	}
}

void display_error(const char *text)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;
	display_clean(text, &clean);
	fprintf(stderr, "forge: %s\n", clean.data ? clean.data : "");
}

/* One line, shown at the next drawing; at once where nothing moves. */
static void say(struct display *d, const char *color, const char *tag, const char *text)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;
	display_clean(text, &clean);
	buf_printf(&d->out, "%s%s%s%s\n", d->color ? color : "", tag, d->color && *color ? "\033[0m" : "",
		clean.data ? clean.data : "");
	if (!d->live)
		live_write(d, false);
}

static struct running *find(struct display *d, uint64_t id)
{
	for (size_t i = 0; i < d->running.count; i++)
		if (d->running.items[i].id == id)
			return &d->running.items[i];
	return NULL;
}

static void forget(struct display *d, struct running *r)
{
	free(r->what);
	free(r->name);
	free(r->last);
	size_t at = (size_t)(r - d->running.items);
	memmove(r, r + 1, (d->running.count - at - 1) * sizeof *r);
	d->running.count--;
}

static void on_start(struct display *d, const struct event *e)
{
	bool fetch = strcmp(e->what, "fetch") == 0;
	*list_push(&d->running) = (struct running){ .id = e->id, .what = mem_dup(e->what), .name = mem_dup(e->name),
		.began = loop_now(), .fetch = fetch, .queued = fetch };
	_cleanup_free_ char *line = mem_printf("%-6s %s", e->what, e->name);
	if (!d->live && !d->quiet && (d->verbose || !d->loop)) /* without a loop nothing else would show that it works */
		say(d, "", "start  ", line);
}

static void on_log(struct display *d, const struct event *e)
{
	struct running *r = find(d, e->id);
	_cleanup_buf_ struct buf clean = BUF_INIT;
	display_clean(e->text, &clean);
	if (!r || !clean.len)
		return;
	free(r->last);
	r->last = mem_dup(clean.data);
	_cleanup_free_ char *name = mem_printf("%s> ", r->name);
	if (d->verbose)
		say(d, "", name, clean.data);
}

static void failed_build(struct display *d, const struct event *e, const char *time)
{
	_cleanup_free_ char *head = mem_printf("%s %s failed after %s; %s", e->what, e->name, time,
		*e->tail ? "the end of its log:" : "it printed nothing");
	say(d, "\033[31m", head, "");
	for (struct slice line, rest = slice_of(e->tail); rest.n;) {
		slice_cut(rest, '\n', &line, &rest);
		_cleanup_free_ char *text = mem_dup_n(line.p, line.n);
		say(d, "\033[2m", "  | ", text);
	}
	if (e->log && *e->tail)
		say(d, "", "  the whole log: ", e->log);
}

/* "[ 7/12] " */
static char *count_text(const struct display *d)
{
	_cleanup_free_ char *total = mem_printf("%lld", (long long)d->total);
	return d->total ? mem_printf("[%*lld/%s] ", (int)strlen(total), (long long)d->finished, total) : mem_dup("");
}

static void on_done(struct display *d, const struct event *e)
{
	struct running *r = find(d, e->id);
	_cleanup_free_ char *time = cli_duration(e->ms);
	*(e->text ? &d->failed : &d->finished) += 1;
	_cleanup_free_ char *compiles = r && r->compiles ? mem_printf("  (%lld compiles, %lld hits)", (long long)r->compiles,
		(long long)r->hits) : mem_dup("");
	if (e->text && e->tail)
		failed_build(d, e, time);
	if (e->text && d->keep_going) /* else it is the command's own error, told at the end */
		say(d, "\033[31m", "failed: ", e->text);
	if (!e->text && !d->quiet) {
		_cleanup_free_ char *count = count_text(d);
		_cleanup_free_ char *line = mem_printf("%s%-6s %10s  %s%s", count, e->what, time, e->name, compiles);
		_cleanup_free_ char *fitted = d->live ? live_fitted(line) : mem_dup(line);
		say(d, "", "", fitted);
	}
	if (r) {
		d->fetched += r->done;
		forget(d, r);
	}
}

/* A transfer's first word is that its turn has come. */
static void on_progress(struct display *d, const struct event *e)
{
	struct running *r = find(d, e->id);
	if (!r)
		return;
	if (r->queued) {
		r->began = loop_now();
		r->rate = (struct rate){ .since = { r->began, r->began } };
		if (!d->rate.since[0])
			d->rate = r->rate;
	}
	r->queued = false;
	r->done = e->done;
	r->total = e->total;
}

static void on_compiles(struct display *d, const struct event *e)
{
	struct running *r = find(d, e->id);
	if (r) {
		r->compiles = e->total;
		r->compiled = e->done;
		r->hits = e->hits;
		r->left_ms = e->ms;
	}
}

static void on_event(void *ctx, const struct event *e)
{
	struct display *d = ctx;
	switch (e->kind) {
	case EVENT_PLAN:
		d->total += e->total;
		break;
	case EVENT_START: on_start(d, e); break;
	case EVENT_PROGRESS: on_progress(d, e); break;
	case EVENT_COMPILES: on_compiles(d, e); break;
	case EVENT_LOG: on_log(d, e); break;
	case EVENT_DONE: on_done(d, e); break;
	case EVENT_NOTE:
		if (!d->quiet)
			say(d, "", "", e->text);
		break;
	case EVENT_WARN: say(d, "\033[33m", "warning: ", e->text); break;
	}
	if (d->live && loop_now() - d->drawn_at >= TICK_MS)
		live_write(d, true);
}

static void tick(void *ctx)
{
	struct display *d = ctx;
	live_write(d, true);
	d->timer = loop_timer(d->loop, TICK_MS, tick, d);
}

void display_expect(struct display *d, int64_t fetch_bytes)
{
	d->to_fetch += fetch_bytes;
}

struct display *display_new(const struct options *o, struct loop *loop, struct event_sink *sink)
{
	struct display *d = mem_alloc(sizeof *d);
	d->live = cli_is_terminal(STDERR_FILENO) && !o->quiet && loop;
	d->color = cli_has_color(STDERR_FILENO);
	d->quiet = o->quiet;
	d->verbose = o->verbose && !o->quiet;
	d->keep_going = o->keep_going;
	d->loop = loop;
	d->began = loop_now();
	if (d->live)
		d->timer = loop_timer(loop, TICK_MS, tick, d);
	*sink = (struct event_sink){ on_event, d };
	return d;
}

void display_free(struct display *d)
{
	if (!d)
		return;
	live_write(d, false);
	if (d->timer)
		loop_timer_del(d->loop, d->timer);
	while (d->running.count)
		forget(d, &d->running.items[0]);
	list_free(&d->running);
	buf_free(&d->out);
	free(d);
}
