/* One try of a file: URL, a piece at a time so that a large file does not hold up the loop. */
#include "fetch/fetcher.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "fetch/url.h"

#define PIECE (512 << 10)

void local_stop(struct fetch_job *j)
{
	fs_close_ptr(&j->local);
}

static void over(struct fetch_job *j, enum try_end end, struct err *err)
{
	_cleanup_free_ char *url = mem_dup(j->places.items[j->at].url);
	job_try_over(j, end, 0, NULL, url, err);
}

static void next_piece(void *ctx)
{
	struct fetch_job *j = ctx;
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *piece = mem_alloc(PIECE);
	j->timer = 0;
	ssize_t n = j->head ? 0 : read(j->local, piece, PIECE);
	if (n < 0 && errno != EINTR) {
		err_sys(&err, "can't be read");
		over(j, TRY_OTHER, &err);
	} else if (n > 0 && sink_write(&j->sink, piece, (size_t)n, &err) < 0) {
		over(j, j->sink.broken ? TRY_STOP : TRY_OTHER, &err);
	} else if (n == 0) {
		over(j, TRY_DONE, NULL);
	} else if (job_progress(j)) {
		j->timer = loop_timer(j->f->loop, 0, next_piece, j);
	}
}

/* The file, or a folder's page as a web server would give it (an index on disk). */
static int open_local(const char *path, struct stat *st, struct err *err)
{
	static const char *const pages[] = { "index.html", "index.json" };
	_cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, st) < 0)
		return err_sys(err, "can't open %s", path);
	for (size_t i = 0; S_ISDIR(st->st_mode) && i < sizeof pages / sizeof *pages; i++) {
		int page = openat(fd, pages[i], O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		if (page < 0)
			continue;
		close(fd);
		fd = page;
		if (fstat(fd, st) < 0)
			return err_sys(err, "can't open %s", path);
	}
	if (!S_ISREG(st->st_mode))
		return err_set(err, ERR_INPUT, "%s is not a file", path);
	return steal_fd(fd);
}

int local_begin(struct fetch_job *j, struct err *err)
{
	struct stat st;
	_cleanup_free_ char *path = url_local_path(j->places.items[j->at].url);
	if (!path)
		return err_set(err, ERR_INPUT, "a file URL has the form file:///folder/name");
	if (j->sink.got > 0 && job_restart(j, err) < 0)
		return -1;
	j->local = open_local(path, &st, err);
	if (j->local < 0) {
		j->places.items[j->at].gone = err && err->sys == ENOENT;
		return -1;
	}
	j->total = st.st_size;
	if (!j->head && sink_expect(&j->sink, st.st_size, err) < 0)
		return -1;
	j->timer = loop_timer(j->f->loop, 0, next_piece, j);
	return 0;
}
