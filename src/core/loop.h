/*
 * The one poll loop: descriptors, timers, children, signals.  Callbacks run on
 * the thread that called loop_run(); they may add and remove anything.
 */
#ifndef FORGE_CORE_LOOP_H
#define FORGE_CORE_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/proc.h"

struct loop;

#define LOOP_READ  1
#define LOOP_WRITE 2

typedef void loop_fd_fn(void *ctx, int fd, int events);
typedef void loop_timer_fn(void *ctx);
typedef void loop_child_fn(void *ctx, const struct proc_result *result);
/* rc and err or answer as fn gave them; result: what it took. */
typedef void loop_worker_fn(void *ctx, int rc, struct buf *answer, const struct proc_result *result,
	struct err *err);
typedef void loop_signal_fn(void *ctx, int signo);

struct loop *loop_new(struct err *err);
void loop_free(struct loop *l); /* does not kill children */

/* Watch fd for LOOP_READ and/or LOOP_WRITE; a second call changes the events and the callback. */
int loop_fd(struct loop *l, int fd, int events, loop_fd_fn *fn, void *ctx, struct err *err);
void loop_fd_del(struct loop *l, int fd);

/* Call fn once after ms milliseconds; the result names the timer (never 0). */
uint64_t loop_timer(struct loop *l, int64_t ms, loop_timer_fn *fn, void *ctx);
void loop_timer_del(struct loop *l, uint64_t timer); /* a timer that has fired is no error */

/* Wait for a child that was started elsewhere; fn is called once, after the child was reaped (wait4). */
int loop_child(struct loop *l, pid_t pid, loop_child_fn *fn, void *ctx, struct err *err);

/* Start a worker and call done with its answer (see proc_worker).  *pid may be NULL. */
int loop_worker(struct loop *l, proc_worker_fn *fn, void *arg, loop_worker_fn *done, void *ctx,
	pid_t *pid, struct err *err);

/* Take SIGINT, SIGTERM, SIGHUP and SIGWINCH through the loop (signalfd) instead of the default action;
 * fn NULL gives them back. */
int loop_signals(struct loop *l, loop_signal_fn *fn, void *ctx, struct err *err);

/* Milliseconds of a clock that never goes back. */
int64_t loop_now(void);
/* Milliseconds since 1970, for records. */
int64_t loop_date(void);

/* Handle what is ready, waiting at most ms (-1: until something is). */
int loop_once(struct loop *l, int64_t ms, struct err *err);
/* loop_once until *done. */
int loop_run(struct loop *l, const bool *done, struct err *err);

#endif
