#include "fetch/writer.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/mem.h"

#define QUEUE_MOST 16 /* blocks on their way, all files together */

struct writer {
	pthread_t thread;
	bool running, end;
	pthread_mutex_t lock;
	pthread_cond_t more;     /* a block was given, or it is the end */
	pthread_cond_t done;     /* a block was worked off */
	struct writer_block *first, **last;
	unsigned queued;
	struct writer_block *spare; /* used before: fresh ones of this size would cost page faults */
};

struct writer *writer_new(void)
{
	struct writer *w = mem_alloc(sizeof *w);
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->more, NULL);
	pthread_cond_init(&w->done, NULL);
	w->last = &w->first;
	return w;
}

struct writer_block *writer_block(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	struct writer_block *b = w->spare;
	if (b)
		w->spare = b->next;
	pthread_mutex_unlock(&w->lock);
	return b ? b : mem_resize(NULL, 1, sizeof *b);
}

void writer_put_back(struct writer *w, struct writer_block *b)
{
	if (!b)
		return;
	pthread_mutex_lock(&w->lock);
	b->next = w->spare;
	w->spare = b;
	pthread_mutex_unlock(&w->lock);
}

static int store(int fd, const char *data, size_t len, int64_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, data, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? errno : EIO;
		data += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

void writer_work(struct writer_block *b)
{
	hash_update(&b->file->hasher, b->data, b->len);
	if (b->file->failed)
		return;
	int failed = store(b->file->fd, b->data, b->keep, b->at);
	__atomic_store_n(&b->file->failed, failed, __ATOMIC_RELAXED); /* sinks peek at it between blocks */
}

static void *work(void *ctx)
{
	struct writer *w = ctx;
	pthread_mutex_lock(&w->lock);
	for (;;) {
		while (!w->first && !w->end)
			pthread_cond_wait(&w->more, &w->lock);
		struct writer_block *b = w->first;
		if (!b)
			break;
		w->first = b->next;
		if (!w->first)
			w->last = &w->first;
		pthread_mutex_unlock(&w->lock);
		writer_work(b);
		pthread_mutex_lock(&w->lock);
		b->file->pending--;
		w->queued--;
		b->next = w->spare;
		w->spare = b;
		pthread_cond_broadcast(&w->done);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

/* Signals are the main thread's. */
static bool start(struct writer *w)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	w->running = pthread_create(&w->thread, NULL, work, w) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return w->running;
}

void writer_free(struct writer *w)
{
	if (!w)
		return;
	if (w->running) {
		pthread_mutex_lock(&w->lock);
		w->end = true;
		pthread_cond_signal(&w->more);
		pthread_mutex_unlock(&w->lock);
		pthread_join(w->thread, NULL);
	}
	for (struct writer_block *b = w->spare, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	pthread_cond_destroy(&w->done);
	pthread_cond_destroy(&w->more);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

void writer_give(struct writer *w, struct writer_block *b)
{
	if (!w->running && !start(w)) {
		writer_work(b);
		writer_put_back(w, b);
		return;
	}
	b->next = NULL;
	pthread_mutex_lock(&w->lock);
	while (w->queued >= QUEUE_MOST)
		pthread_cond_wait(&w->done, &w->lock);
	b->file->pending++;
	w->queued++;
	*w->last = b;
	w->last = &b->next;
	pthread_cond_signal(&w->more);
	pthread_mutex_unlock(&w->lock);
}

int writer_settle(struct writer *w, struct writer_file *file)
{
	pthread_mutex_lock(&w->lock);
	while (file->pending)
		pthread_cond_wait(&w->done, &w->lock);
	int failed = file->failed;
	pthread_mutex_unlock(&w->lock);
	return failed;
}
