#include "fetch/fetcher.h"

#include <stdlib.h>

#include "core/mem.h"

#define PARALLEL   8
#define TRIES      5
#define STALL_MS   30000
#define BACKOFF_MS 500

struct fetcher *fetcher_new(struct loop *loop, const struct fetch_config *config, struct err *err)
{
	struct fetcher *f = mem_alloc(sizeof *f);
	f->loop = loop;
	f->parallel = config->parallel ? config->parallel : PARALLEL;
	f->tries = config->tries ? config->tries : TRIES;
	f->stall_ms = config->stall_ms > 0 ? config->stall_ms : STALL_MS;
	f->backoff_ms = config->backoff_ms > 0 ? config->backoff_ms : BACKOFF_MS;
	f->offline = config->offline;
	f->writer = writer_new();
	f->index_option = mem_dup(config->index);
	return f;
}

void fetcher_free(struct fetcher *f)
{
	if (!f)
		return;
	while (f->jobs.count)
		job_free(f->jobs.items[f->jobs.count - 1]);
	pages_free(f);
	tokens_free(f);
	mirror_map_free(&f->images);
	if (f->multi)
		f->curl->curl_multi_cleanup(f->multi);
	loop_timer_del(f->loop, f->curl_timer);
	loop_timer_del(f->loop, f->wake);
	writer_free(f->writer);
	str_list_free(&f->mirrors);
	list_free(&f->jobs);
	free(f->index_option);
	free(f);
}

/* Index pages (of unknown size) first: others wait for them.  Then the largest, which would else
 * come alone at the end. */
static struct fetch_job *next_job(const struct fetcher *f)
{
	struct fetch_job *best = NULL;
	for (size_t i = 0; i < f->jobs.count; i++) {
		struct fetch_job *j = f->jobs.items[i];
		if (j->state != JOB_QUEUED)
			continue;
		if (j->sink.size < 0)
			return j;
		if (!best || j->sink.size > best->sink.size)
			best = j;
	}
	return best;
}

/* Free what was cancelled while busy, then fill the free places. */
static void start_queued(void *ctx)
{
	struct fetcher *f = ctx;
	f->wake = 0;
	for (size_t i = f->jobs.count; i-- > 0;) {
		struct fetch_job *j = f->jobs.items[i];
		if (j->state == JOB_DROPPED)
			job_free(j);
	}
	struct fetch_job *j;
	while (f->running < f->parallel && (j = next_job(f)))
		job_begin(j);
}

void fetcher_wake(struct fetcher *f)
{
	if (!f->wake)
		f->wake = loop_timer(f->loop, 0, start_queued, f);
}

/* What ended, one at a time: a callback may start and cancel others. */
static void take_messages(struct fetcher *f)
{
	CURLMsg *m;
	int left;
	while ((m = f->curl->curl_multi_info_read(f->multi, &left))) {
		if (m->msg != CURLMSG_DONE)
			continue;
		struct fetch_job *j = NULL;
		CURLcode rc = m->data.result;
		f->curl->curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, (char **)&j);
		transfer_over(j, rc);
	}
}

static void act(struct fetcher *f, curl_socket_t fd, int events)
{
	int running;
	f->busy = true;
	f->curl->curl_multi_socket_action(f->multi, fd, events, &running);
	f->busy = false;
	take_messages(f);
}

static void socket_ready(void *ctx, int fd, int events)
{
	act(ctx, fd, (events & LOOP_READ ? CURL_CSELECT_IN : 0) | (events & LOOP_WRITE ? CURL_CSELECT_OUT : 0));
}

static void timer_ready(void *ctx)
{
	struct fetcher *f = ctx;
	f->curl_timer = 0;
	act(f, CURL_SOCKET_TIMEOUT, 0);
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *socket_ctx)
{
	struct fetcher *f = ctx;
	if (what == CURL_POLL_REMOVE) {
		loop_fd_del(f->loop, fd);
		return 0;
	}
	int events = (what & CURL_POLL_IN ? LOOP_READ : 0) | (what & CURL_POLL_OUT ? LOOP_WRITE : 0);
	return loop_fd(f->loop, fd, events, socket_ready, f, NULL);
}

static int want_timer(CURLM *multi, long ms, void *ctx)
{
	struct fetcher *f = ctx;
	loop_timer_del(f->loop, f->curl_timer);
	f->curl_timer = ms < 0 ? 0 : loop_timer(f->loop, ms, timer_ready, f);
	return 0;
}

int fetcher_multi(struct fetcher *f, struct err *err)
{
	if (f->multi)
		return 0;
	f->curl = curl_load(err);
	if (!f->curl)
		return -1;
	f->multi = f->curl->curl_multi_init();
	if (!f->multi)
		return err_set(err, ERR_FAIL, "libcurl can't make a multi handle");
	f->curl->curl_multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
	f->curl->curl_multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
	f->curl->curl_multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, want_timer);
	f->curl->curl_multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
	f->curl->curl_multi_setopt(f->multi, CURLMOPT_PIPELINING, (long)CURLPIPE_MULTIPLEX);
	return 0;
}
