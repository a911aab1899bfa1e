#include "core/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/fs.h"
#include "core/list.h"
#include "core/mem.h"

struct watch {
	int fd;
	uint64_t serial; /* a callback may delete a watch and the number be used again: the serial tells */
	loop_fd_fn *fn;
	void *ctx;
};

struct timer {
	uint64_t id;
	int64_t at;
	loop_timer_fn *fn;
	void *ctx;
};

struct loop {
	int epoll;
	uint64_t serial;
	LIST(struct watch) watches; /* by descriptor number; fd < 0: none */
	LIST(struct timer) timers;  /* unordered: there are few */
	int signals;
	loop_signal_fn *signal_fn;
	void *signal_ctx;
};

struct loop *loop_new(struct err *err)
{
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll < 0) {
		err_sys(err, "can't make an event loop");
		return NULL;
	}
	struct loop *l = mem_alloc(sizeof *l);
	l->epoll = epoll;
	l->signals = -1;
	return l;
}

void loop_free(struct loop *l)
{
	if (!l)
		return;
	fs_close_ptr(&l->epoll);
	fs_close_ptr(&l->signals);
	list_free(&l->watches);
	list_free(&l->timers);
	free(l);
}

static struct watch *watch_of(struct loop *l, int fd)
{
	while (l->watches.count <= (size_t)fd)
		list_push(&l->watches)->fd = -1;
	return &l->watches.items[fd];
}

int loop_fd(struct loop *l, int fd, int events, loop_fd_fn *fn, void *ctx, struct err *err)
{
	struct watch *w = watch_of(l, fd);
	bool known = w->fd == fd;
	uint64_t serial = known ? w->serial : ++l->serial;
	struct epoll_event e = {
		.events = (events & LOOP_READ ? EPOLLIN : 0) | (events & LOOP_WRITE ? EPOLLOUT : 0),
		.data.u64 = serial << 20 | (uint64_t)fd,
	};
	int rc = epoll_ctl(l->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e);
	if (rc < 0 && known && errno == ENOENT) /* closed behind our back and opened again */
		rc = epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e);
	if (rc < 0)
		return err_sys(err, "can't watch a descriptor");
	*w = (struct watch){ fd, serial, fn, ctx };
	return 0;
}

void loop_fd_del(struct loop *l, int fd)
{
	struct watch *w = watch_of(l, fd);
	if (w->fd == fd)
		epoll_ctl(l->epoll, EPOLL_CTL_DEL, fd, NULL); /* may be closed already */
	w->fd = -1;
}

static int64_t clock_ms(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

int64_t loop_now(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

int64_t loop_date(void)
{
	return clock_ms(CLOCK_REALTIME);
}

uint64_t loop_timer(struct loop *l, int64_t ms, loop_timer_fn *fn, void *ctx)
{
	struct timer *t = list_push(&l->timers);
	*t = (struct timer){ ++l->serial, loop_now() + (ms > 0 ? ms : 0), fn, ctx };
	return t->id;
}

void loop_timer_del(struct loop *l, uint64_t timer)
{
	for (size_t i = 0; i < l->timers.count; i++) {
		if (l->timers.items[i].id == timer) {
			l->timers.items[i] = l->timers.items[--l->timers.count];
			return;
		}
	}
}

static int64_t next_timer(const struct loop *l)
{
	int64_t at = INT64_MAX;
	for (size_t i = 0; i < l->timers.count; i++)
		if (l->timers.items[i].at < at)
			at = l->timers.items[i].at;
	return at;
}

/* Earliest first, so that what was asked for earlier happens earlier. */
static void fire_timers(struct loop *l)
{
	int64_t now = loop_now();
	for (;;) {
		size_t first = l->timers.count;
		for (size_t i = 0; i < l->timers.count; i++) {
			const struct timer *t = &l->timers.items[i];
			if (t->at <= now && (first == l->timers.count || t->at < l->timers.items[first].at ||
					(t->at == l->timers.items[first].at && t->id < l->timers.items[first].id)))
				first = i;
		}
		if (first == l->timers.count)
			return;
		struct timer t = l->timers.items[first];
		l->timers.items[first] = l->timers.items[--l->timers.count];
		t.fn(t.ctx);
	}
}

#define BATCH 64

int loop_once(struct loop *l, int64_t ms, struct err *err)
{
	int64_t wait = ms, due = next_timer(l);
	if (due != INT64_MAX) {
		int64_t left = due - loop_now();
		left = left < 0 ? 0 : left;
		wait = wait < 0 || left < wait ? left : wait;
	}
	struct epoll_event ready[BATCH];
	int n = epoll_wait(l->epoll, ready, BATCH, wait > 60000 ? 60000 : (int)wait);
	if (n < 0 && errno != EINTR)
		return err_sys(err, "can't wait for events");
	for (int i = 0; i < n; i++) {
		int fd = (int)(ready[i].data.u64 & 0xfffff);
		uint64_t serial = ready[i].data.u64 >> 20;
		struct watch w = *watch_of(l, fd);
		if (w.fd != fd || w.serial != serial)
			continue; /* taken away by a callback before this one */
		uint32_t e = ready[i].events;
		int events = (e & (EPOLLIN | EPOLLHUP | EPOLLERR) ? LOOP_READ : 0) |
			(e & (EPOLLOUT | EPOLLERR) ? LOOP_WRITE : 0);
		w.fn(w.ctx, fd, events);
	}
	fire_timers(l);
	return 0;
}

int loop_run(struct loop *l, const bool *done, struct err *err)
{
	while (!*done)
		if (loop_once(l, -1, err) < 0)
			return -1;
	return 0;
}

static void signal_ready(void *ctx, int fd, int events)
{
	struct loop *l = ctx;
	struct signalfd_siginfo info;
	while (read(fd, &info, sizeof info) == sizeof info)
		l->signal_fn(l->signal_ctx, (int)info.ssi_signo);
}

int loop_signals(struct loop *l, loop_signal_fn *fn, void *ctx, struct err *err)
{
	static const int taken[] = { SIGINT, SIGTERM, SIGHUP, SIGWINCH };
	sigset_t set;
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
		sigaddset(&set, taken[i]);
	if (l->signals >= 0)
		loop_fd_del(l, l->signals);
	fs_close_ptr(&l->signals);
	sigprocmask(fn ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
	if (!fn)
		return 0;
	l->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (l->signals < 0)
		return err_sys(err, "can't take signals");
	l->signal_fn = fn;
	l->signal_ctx = ctx;
	return loop_fd(l, l->signals, LOOP_READ, signal_ready, l, err);
}
