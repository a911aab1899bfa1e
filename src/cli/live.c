/* The region at the bottom of a terminal that shows what runs now. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/display_impl.h"

#define RATE_MS    2000
#define NAME_LEAST 8 /* characters of a name that stay, however narrow the terminal */

static void screen_size(int *columns, int *rows)
{
	struct winsize size = { 0 };
	bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 && size.ws_row > 0;
	*columns = known ? size.ws_col : 80;
	*rows = known ? size.ws_row : 24;
}

static bool begins_character(char byte)
{
	return ((unsigned char)byte & 0xc0) != 0x80; /* UTF-8 */
}

static int width(const char *text)
{
	int n = 0;
	for (; *text; text++)
		n += begins_character(*text);
	return n;
}

/* At most `columns` characters of text; one that was cut ends in an ellipsis. */
static void add_cut(struct buf *out, const char *text, int columns)
{
	int room = width(text) > columns ? columns - 1 : columns;
	const char *end = text;
	for (int n = 0; *end && (n += begins_character(*end)) <= room; end++)
		;
	buf_add(out, text, (size_t)(end - text));
	if (*end && columns > 0)
		buf_str(out, "…");
}

char *live_fitted(const char *text)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	int columns, rows;
	screen_size(&columns, &rows);
	add_cut(&out, text, columns - 1);
	return buf_steal(&out);
}

/* "0:07", "12:30", "2:03:10": does not jump about as the units of cli_duration do. */
static char *clock_text(int64_t ms)
{
	long long s = ms / 1000;
	return s < 3600 ? mem_printf("%lld:%02lld", s / 60, s % 60)
		: mem_printf("%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
}

static char *rate_text(struct rate *r, int64_t bytes)
{
	int64_t now = loop_now();
	if (now - r->since[1] >= RATE_MS)
		*r = (struct rate){ { r->since[1], now }, { r->bytes[1], bytes } };
	int64_t ms = now - r->since[0];
	_cleanup_free_ char *rate = cli_bytes(ms > 0 ? (bytes - r->bytes[0]) * 1000 / ms : 0);
	return mem_printf("%s/s", rate);
}

static char *transfer_text(struct running *r, int columns)
{
	_cleanup_free_ char *done = cli_bytes(r->done), *total = cli_bytes(r->total);
	_cleanup_free_ char *rate = rate_text(&r->rate, r->done);
	bool narrow = columns < 60 || r->total <= 0;
	if (r->done == 0)
		return mem_dup("connecting");
	if (r->done == r->total)
		return mem_printf("%s, checking", total);
	return mem_printf("%s%s%s, %s", done, narrow ? "" : " of ", narrow ? "" : total, rate);
}

/* What it is and for how long; its name; what there is to say of it.  A long name yields to that. */
static char *compiles_text(const struct running *r)
{
	_cleanup_free_ char *left = clock_text(r->left_ms);
	return mem_printf("%lld/%lld compiles, %lld hits%s%s%s", (long long)r->compiled, (long long)r->compiles,
		(long long)r->hits, r->left_ms ? ", about " : "", r->left_ms ? left : "", r->left_ms ? " left" : "");
}

static void draw_running(struct display *d, struct running *r, int columns, struct buf *out)
{
	_cleanup_buf_ struct buf head = BUF_INIT;
	_cleanup_free_ char *time = clock_text(loop_now() - r->began);
	_cleanup_free_ char *more = r->fetch ? transfer_text(r, columns) : r->compiles ? compiles_text(r)
		: r->last ? mem_dup(r->last) : NULL;
	buf_printf(&head, "  %-6s %6s  ", r->what, time);
	int room = columns - 1 - (int)head.len, name = width(r->name), rest = more ? width(more) + 2 : 0;
	int yields = room - (r->fetch ? rest : rest < room / 2 ? rest : room / 2);
	name = name < yields ? name : yields > NAME_LEAST ? yields : NAME_LEAST;
	buf_add(out, head.data, head.len);
	add_cut(out, r->name, name);
	if (more && room - name > 3) {
		buf_printf(out, "  %s", d->color ? "\033[2m" : "");
		add_cut(out, more, room - name - 2);
		buf_str(out, d->color ? "\033[0m" : "");
	}
	buf_byte(out, '\n');
}

static void add_fetched(struct display *d, struct buf *line)
{
	int64_t got = d->fetched;
	bool any = false; /* one that moves */
	for (size_t i = 0; i < d->running.count; i++) {
		got += d->running.items[i].done;
		any = any || (d->running.items[i].fetch && !d->running.items[i].queued);
	}
	if (!any)
		return;
	_cleanup_free_ char *done = cli_bytes(got), *total = cli_bytes(d->to_fetch);
	_cleanup_free_ char *rate = rate_text(&d->rate, got);
	buf_printf(line, ", %s of %s at %s", done, total, rate);
}

static void draw_counts(struct display *d, size_t shown, size_t hidden, int columns, struct buf *out)
{
	_cleanup_buf_ struct buf line = BUF_INIT;
	_cleanup_free_ char *time = clock_text(loop_now() - d->began);
	buf_printf(&line, "%s  %lld of %lld done", time, (long long)d->finished, (long long)d->total);
	if (d->failed)
		buf_printf(&line, ", %lld failed", (long long)d->failed);
	buf_printf(&line, ", %zu running", shown + hidden);
	if (hidden)
		buf_printf(&line, " (%zu not shown)", hidden);
	add_fetched(d, &line);
	buf_str(out, d->color ? "\033[1m" : "");
	add_cut(out, line.data, columns - 1);
	buf_printf(out, "%s\n", d->color ? "\033[0m" : "");
}

/* At most half of the screen: what was done before stays in sight. */
static void draw(struct display *d, struct buf *out)
{
	int columns, rows;
	size_t shown = 0, hidden = 0;
	screen_size(&columns, &rows);
	size_t room = rows > 5 ? (size_t)rows / 2 - 1 : 1;
	buf_str(out, "\033[?7l"); /* wide characters must not wrap: the region's height is counted in lines */
	for (size_t i = 0; i < d->running.count; i++) {
		struct running *r = &d->running.items[i];
		if (r->queued)
			continue;
		if (shown == room) {
			hidden++;
			continue;
		}
		draw_running(d, r, columns, out);
		shown++;
	}
	draw_counts(d, shown, hidden, columns, out);
	buf_str(out, "\033[?7h");
	d->drawn = shown + 1;
}

void live_write(struct display *d, bool region)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	if (d->drawn)
		buf_printf(&out, "\r\033[%zuA\033[J", d->drawn);
	d->drawn = 0;
	d->drawn_at = loop_now();
	if (d->out.len)
		buf_add(&out, d->out.data, d->out.len);
	buf_clear(&d->out);
	if (region && (d->running.count || d->finished < d->total))
		draw(d, &out);
	if (out.len)
		fwrite(out.data, 1, out.len, stderr);
	fflush(stderr);
}
