/* The region at the bottom of a terminal that shows what runs now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/display_impl.h"

static void screen_size(int *columns, int *rows)
{
	struct winsize size = { 0 };
	bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
	*columns = known ? size.ws_col : 80;
	*rows = known ? size.ws_row : 24;
}

void live_clear(struct display *d)
{
	if (d->drawn)
		fprintf(stderr, "\r\033[%zuA\033[J", d->drawn);
	d->drawn = 0;
}

/* At most `columns` characters of UTF-8 text; escape sequences are added only afterwards. */
static void cut(struct buf *line, int columns)
{
	int shown = 0;
	for (size_t i = 0; i < line->len; i++) {
		if (((unsigned char)line->data[i] & 0xc0) == 0x80)
			continue;
		if (++shown <= columns)
			continue;
		line->len = i;
		line->data[i] = '\0';
		return;
	}
}

static void transfer_text(const struct running *r, int64_t ms, struct buf *line)
{
	_cleanup_free_ char *done = cli_bytes(r->done);
	_cleanup_free_ char *rate = cli_bytes(ms > 0 ? r->done * 1000 / ms : 0);
	buf_printf(line, "  %s", done);
	if (r->total > 0) {
		_cleanup_free_ char *total = cli_bytes(r->total);
		buf_printf(line, " of %s", total);
	}
	buf_printf(line, ", %s/s", rate);
}

static void draw_running(struct display *d, const struct running *r, int columns)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	int64_t ms = loop_now() - r->began;
	_cleanup_free_ char *time = cli_duration(ms);
	buf_printf(&line, "  %-7s %s  %s", r->what, r->name, time);
	if (r->compiles)
		buf_printf(&line, "  %lld/%lld compiles, %lld hits", (long long)r->compiled, (long long)r->compiles,
			(long long)r->hits);
	if (r->done)
		transfer_text(r, ms, &line);
	else if (r->last)
		buf_printf(&line, "  %s", r->last);
	cut(&line, columns - 1);
	fprintf(stderr, "%s\n", line.data);
}

static void draw_counts(struct display *d, size_t hidden, int columns)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	_cleanup_free_ char *time = cli_duration(loop_now() - d->began);
	buf_printf(&line, "[%lld/%lld done", (long long)d->finished, (long long)d->total);
	if (d->failed)
		buf_printf(&line, ", %lld failed", (long long)d->failed);
	buf_printf(&line, ", %zu running", d->running.count);
	if (hidden)
		buf_printf(&line, ", %zu not shown", hidden);
	buf_printf(&line, ", %s]", time);
	cut(&line, columns - 1);
	fprintf(stderr, "%s%s%s\n", d->color ? "\033[1m" : "", line.data, d->color ? "\033[0m" : "");
}

void live_draw(struct display *d)
{
	int columns, rows;
	live_clear(d);
	d->drawn_at = loop_now();
	if (d->running.count == 0) {
		fflush(stderr);
		return;
	}
	screen_size(&columns, &rows);
	size_t room = rows > 4 ? (size_t)rows - 3 : 1, shown = d->running.count < room ? d->running.count : room;
	for (size_t i = 0; i < shown; i++)
		draw_running(d, &d->running.items[i], columns);
	draw_counts(d, d->running.count - shown, columns);
	d->drawn = shown + 1;
	fflush(stderr);
}
