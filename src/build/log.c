#include "build/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/fs.h"
#include "core/mem.h"

#define LINE_MAX_SHOWN 2000 /* of a longer line the rest is in the file only */
#define FILE_MAX (256ull << 20) /* a build that prints without end does not fill the disk */

struct build_log {
	struct loop *loop;
	int fd;      /* the pipe's reading end */
	int file;    /* -1 once writing failed: a log is no part of the result */
	uint64_t written;
	uint64_t id;
	const struct event_sink *events;
	struct buf line;
	bool returned; /* a carriage return came: what follows on the line replaces it */
	char *tail[BUILD_LOG_TAIL];
	size_t lines;
};

static void end_line(struct build_log *log)
{
	log->returned = false;
	char *line = buf_steal(&log->line);
	char **slot = &log->tail[log->lines++ % BUILD_LOG_TAIL];
	event_emit(log->events, &(struct event){ .kind = EVENT_LOG, .id = log->id, .text = line });
	free(*slot);
	*slot = line;
}

static void add_byte(struct build_log *log, char byte)
{
	if (log->returned) /* a progress bar: its last state counts */
		buf_clear(&log->line);
	log->returned = false;
	if (log->line.len < LINE_MAX_SHOWN && byte != '\0')
		buf_byte(&log->line, byte);
}

static void split_lines(struct build_log *log, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (data[i] == '\n')
			end_line(log);
		else if (data[i] == '\r')
			log->returned = true;
		else
			add_byte(log, data[i]);
	}
}

static void write_file(struct build_log *log, const char *data, size_t len)
{
	if (log->file < 0)
		return;
	log->written += len;
	if (log->written > FILE_MAX) {
		static const char cut[] = "\n[forge: the log is cut here, the build printed too much]\n";
		fs_write_all(log->file, cut, sizeof cut - 1, NULL);
		fs_close_ptr(&log->file);
	} else if (fs_write_all(log->file, data, len, NULL) < 0) {
		fs_close_ptr(&log->file);
	}
}

/* False once there is nothing to read now. */
static bool read_some(struct build_log *log)
{
	char block[64 * 1024];
	ssize_t n = read(log->fd, block, sizeof block);
	if (n < 0 && errno == EINTR)
		return true;
	if (n <= 0) {
		if (n == 0)
			loop_fd_del(log->loop, log->fd);
		return false;
	}
	write_file(log, block, (size_t)n);
	split_lines(log, block, (size_t)n);
	return true;
}

static void readable(void *ctx, int fd, int events)
{
	read_some(ctx); /* one block a turn, so that one build's noise does not hold up the others */
}

struct build_log *build_log_open(struct loop *loop, const char *path, uint64_t id,
	const struct event_sink *events, int *write_end, struct err *err)
{
	_cleanup_close_ int file = fs_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644, err);
	int ends[2];
	if (file < 0)
		return NULL;
	if (pipe2(ends, O_CLOEXEC) < 0) {
		err_sys(err, "can't make a pipe");
		return NULL;
	}
	fcntl(ends[0], F_SETFL, O_NONBLOCK);
	struct build_log *log = mem_alloc(sizeof *log);
	*log = (struct build_log){ .loop = loop, .fd = ends[0], .file = steal_fd(file), .id = id,
		.events = events };
	if (loop_fd(loop, log->fd, LOOP_READ, readable, log, err) < 0) {
		close(ends[1]);
		free(build_log_close(log));
		return NULL;
	}
	*write_end = ends[1];
	return log;
}

char *build_log_close(struct build_log *log)
{
	struct buf tail = BUF_INIT;
	while (read_some(log))
		;
	if (log->line.len)
		end_line(log);
	loop_fd_del(log->loop, log->fd);
	fs_close_ptr(&log->fd);
	fs_close_ptr(&log->file);
	for (size_t i = log->lines < BUILD_LOG_TAIL ? 0 : log->lines - BUILD_LOG_TAIL; i < log->lines; i++)
		buf_printf(&tail, "%s\n", log->tail[i % BUILD_LOG_TAIL]);
	for (size_t i = 0; i < BUILD_LOG_TAIL; i++)
		free(log->tail[i]);
	buf_free(&log->line);
	free(log);
	return buf_steal(&tail);
}
