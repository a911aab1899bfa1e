/* Children and workers in the loop, through pidfds; declared in core/loop.h. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/loop.h"
#include "core/mem.h"

struct child {
	struct loop *loop;
	pid_t pid;
	loop_child_fn *fn;
	void *ctx;
};

static void child_ready(void *ctx, int fd, int events)
{
	struct child c = *(struct child *)ctx;
	struct proc_result result = { 0 };
	free(ctx);
	loop_fd_del(c.loop, fd);
	close(fd);
	if (proc_wait(c.pid, &result, NULL) < 0)
		result.status = W_EXITCODE(127, 0); /* reaped by another: its status is lost */
	c.fn(c.ctx, &result);
}

int loop_child(struct loop *l, pid_t pid, loop_child_fn *fn, void *ctx, struct err *err)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		return err_sys(err, "can't watch a process");
	struct child *c = mem_alloc(sizeof *c);
	*c = (struct child){ l, pid, fn, ctx };
	if (loop_fd(l, fd, LOOP_READ, child_ready, c, err) < 0) {
		free(c);
		close(fd);
		return -1;
	}
	return 0;
}

/* A worker is over when its pipe has ended and it was reaped; either can come first. */
struct worker {
	struct loop *loop;
	int fd;
	struct buf raw;
	bool reaped;
	struct proc_result result;
	loop_worker_fn *done;
	void *ctx;
};

static void worker_over(struct worker *w)
{
	if (w->fd >= 0 || !w->reaped)
		return;
	struct buf answer = BUF_INIT;
	struct err err = { 0 };
	int rc = proc_worker_result(&w->raw, w->result.status, &answer, &err);
	loop_worker_fn *done = w->done;
	void *ctx = w->ctx;
	struct proc_result result = w->result;
	buf_free(&w->raw);
	free(w);
	done(ctx, rc, &answer, &result, &err);
	buf_free(&answer);
	err_clear(&err);
}

static void worker_readable(void *ctx, int fd, int events)
{
	struct worker *w = ctx;
	ssize_t n = read(fd, buf_grow(&w->raw, 64 * 1024), 64 * 1024);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n > 0) {
		w->raw.len += (size_t)n;
		return;
	}
	loop_fd_del(w->loop, fd);
	fs_close_ptr(&w->fd);
	worker_over(w);
}

static void worker_reaped(void *ctx, const struct proc_result *result)
{
	struct worker *w = ctx;
	w->reaped = true;
	w->result = *result;
	worker_over(w);
}

int loop_worker(struct loop *l, proc_worker_fn *fn, void *arg, loop_worker_fn *done, void *ctx,
	pid_t *pid, struct err *err)
{
	struct worker *w = mem_alloc(sizeof *w);
	*w = (struct worker){ .loop = l, .fd = -1, .raw = BUF_INIT, .done = done, .ctx = ctx };
	pid_t child = proc_worker(fn, arg, &w->fd, err);
	if (child < 0) {
		free(w);
		return -1;
	}
	if (loop_fd(l, w->fd, LOOP_READ, worker_readable, w, err) < 0 ||
			loop_child(l, child, worker_reaped, w, err) < 0) {
		loop_fd_del(l, w->fd);
		close(w->fd);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		free(w);
		return -1;
	}
	if (pid)
		*pid = child;
	return 0;
}
