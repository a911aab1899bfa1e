/* One job's life: places tried in turn, in rounds, with growing waits between them. */
#include "fetch/fetcher.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/url.h"

#define MEMORY_LIMIT    (64ll << 20)  /* of an answer that is kept in memory, where no other is given */
#define FILE_LIMIT      (1ll << 40)
#define BACKOFF_MOST_MS 30000
#define RETRY_AFTER_MOST_MS 60000
#define PROGRESS_MS     50
#define GOOD_PROGRESS   (1 << 20)     /* a try that brought so much does not count as failed */

struct fetch_job *job_new(struct fetcher *f, const struct fetch_request *r)
{
	struct fetch_job *j = mem_alloc(sizeof *j);
	int64_t limit = r->limit ? (int64_t)(r->limit > INT64_MAX ? INT64_MAX : r->limit) :
		r->fd < 0 ? MEMORY_LIMIT : FILE_LIMIT;
	j->f = f;
	j->accept = mem_dup(r->accept);
	j->label = mem_dup(r->label);
	j->gone = mem_dup(r->gone);
	j->head = r->head;
	j->repository = mem_dup(r->repository);
	j->token_at = -1;
	j->local = -1;
	j->total = r->head ? -1 : r->size;
	j->progress = r->progress;
	j->done = r->done;
	j->ctx = r->ctx;
	sink_open(&j->sink, f->writer, r->fd, r->sha256, r->size, limit);
	*list_push(&f->jobs) = j;
	return j;
}

int job_place(struct fetch_job *j, const char *url, struct err *err)
{
	for (const char *c = url; *c; c++)
		if ((unsigned char)*c <= ' ' || *c == 0x7f)
			return err_set(err, ERR_INPUT, "a URL with a space or control character in it");
	if (!url_has_scheme(url, "http") && !url_has_scheme(url, "https") && !url_has_scheme(url, "file")) {
		_cleanup_free_ char *shown = url_redact(url);
		return err_set(err, ERR_INPUT, "only http, https and file URLs are fetched, not %s", shown);
	}
	_cleanup_free_ char *hint = url_hint(url);
	if (j->f->offline && !url_has_scheme(url, "file"))
		return err_set(err, ERR_FAIL, "offline, so nothing is fetched over the network (%s)", hint);
	struct place *p = list_push(&j->places);
	p->url = mem_dup(url);
	if (!j->label)
		j->label = steal_ptr(hint);
	return 0;
}

struct fetch_job *fetch_start(struct fetcher *f, const struct fetch_request *r, struct err *err)
{
	struct fetch_job *j = job_new(f, r);
	_cleanup_err_ struct err why = { 0 };
	for (size_t i = 0; i < r->url_count; i++) {
		err_clear(&why);
		job_place(j, r->urls[i], &why);
	}
	if (!j->places.count) {
		if (!r->url_count)
			err_set(&why, ERR_INPUT, "no URL to fetch it from");
		err_add(&why, "%s", j->label ? j->label : r->url_count ? "fetch" : "a file");
		err_move(err, &why);
		job_free(j);
		return NULL;
	}
	job_queue(j);
	return j;
}

void job_queue(struct fetch_job *j)
{
	j->state = JOB_QUEUED;
	fetcher_wake(j->f);
}

static void forget(struct fetch_job *j)
{
	struct fetcher *f = j->f;
	for (size_t i = 0; i < f->jobs.count; i++) {
		if (f->jobs.items[i] != j)
			continue;
		f->jobs.count--;
		memmove(&f->jobs.items[i], &f->jobs.items[i + 1], (f->jobs.count - i) * sizeof j);
		return;
	}
}

void job_free(struct fetch_job *j)
{
	forget(j);
	if (j->state == JOB_PAGE)
		pages_forget_waiter(j);
	else if (j->state == JOB_TOKEN)
		tokens_forget_waiter(j);
	transfer_stop(j);
	local_stop(j);
	loop_timer_del(j->f->loop, j->timer);
	for (size_t i = 0; i < j->places.count; i++) {
		free(j->places.items[i].url);
		free(j->places.items[i].validator);
		err_clear(&j->places.items[i].fault);
	}
	list_free(&j->places);
	sink_close(&j->sink);
	err_clear(&j->fault);
	free(j->accept);
	free(j->label);
	free(j->gone);
	free(j->repository);
	free(j->token);
	free(j->token_url);
	free(j);
}

/* Ends the running try and gives its place to another job. */
static void stop_running(struct fetch_job *j)
{
	if (j->state != JOB_RUNNING)
		return;
	transfer_stop(j);
	local_stop(j);
	loop_timer_del(j->f->loop, j->timer);
	j->timer = 0;
	j->state = JOB_PAUSED;
	j->f->running--;
	fetcher_wake(j->f);
}

void fetch_cancel(struct fetch_job *j)
{
	if (!j || j->state == JOB_DROPPED || j->state == JOB_TOLD)
		return;
	if (j->f->busy) { /* whoever is below us on the stack still uses it */
		if (j->state == JOB_RUNNING)
			j->f->running--;
		else if (j->state == JOB_PAGE)
			pages_forget_waiter(j);
		else if (j->state == JOB_TOKEN)
			tokens_forget_waiter(j);
		j->state = JOB_DROPPED;
		loop_timer_del(j->f->loop, j->timer);
		sink_close(&j->sink); /* the caller may close fd */
		fetcher_wake(j->f);
		return;
	}
	stop_running(j);
	job_free(j);
}

static void tell(struct fetch_job *j, int rc, const struct hash *sha256, const char *content_type,
	const char *url, struct err *err)
{
	sink_settle(&j->sink, NULL); /* the caller may close fd */
	j->state = JOB_TOLD; /* a cancel from inside the callback does nothing */
	if (j->locked_done)
		j->locked_done(j->ctx, rc, err);
	else
		j->done(j->ctx, rc, sha256, j->head ? j->total : j->sink.got,
			j->sink.file.fd < 0 && rc == 0 && !j->head ? &j->sink.body : NULL, content_type, url, err);
	job_free(j);
}

void job_fail(struct fetch_job *j, struct err *err)
{
	stop_running(j);
	tell(j, -1, NULL, NULL, NULL, err);
}

/* Every place's last fault in one line; a wrong hash is what counts most. */
static void fail(struct fetch_job *j)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	enum err_code code = ERR_FAIL;
	int sys = 0;
	bool all_gone = j->gone;
	for (size_t i = 0; i < j->places.count; i++) {
		const struct place *p = &j->places.items[i];
		if (!p->fault.msg)
			continue;
		_cleanup_free_ char *hint = url_hint(p->url);
		buf_printf(&text, "%s%s (%s)", text.len ? "; " : "", p->fault.msg, hint);
		all_gone = all_gone && p->gone;
		if (code != ERR_HASH) {
			code = p->fault.code;
			sys = p->fault.sys;
		}
	}
	err_set(&err, code, "%s: %s%s%s", j->label, text.data, all_gone ? ": " : "", all_gone ? j->gone : "");
	err.sys = sys;
	tell(j, -1, NULL, NULL, NULL, &err);
}

/* Bytes of another place, or that nothing would hold together, are not built upon. */
static bool may_resume(const struct fetch_job *j)
{
	return j->filler == j->at && !j->no_range && (j->sink.wanted || j->places.items[j->at].validator);
}

int job_restart(struct fetch_job *j, struct err *err)
{
	j->resumed = false;
	return sink_restart(&j->sink, err);
}

void job_begin(struct fetch_job *j)
{
	j->state = JOB_RUNNING;
	j->f->running++;
	j->told = 0;
	if (!job_progress(j))
		return;
	_cleanup_err_ struct err err = { 0 };
	if (j->sink.got > 0 && !may_resume(j) && job_restart(j, &err) < 0) {
		job_try_over(j, TRY_STOP, 0, NULL, NULL, &err);
		return;
	}
	j->filler = j->at;
	j->started_at = j->sink.got;
	bool local = url_has_scheme(j->places.items[j->at].url, "file");
	if ((local ? local_begin(j, &err) : transfer_begin(j, &err)) < 0)
		job_try_over(j, err.code == ERR_FAIL && !local ? TRY_STOP : TRY_OTHER, 0, NULL, NULL, &err);
}

static void pause_over(void *ctx)
{
	struct fetch_job *j = ctx;
	j->timer = 0;
	job_queue(j);
}

static void pause_job(struct fetch_job *j)
{
	int64_t wait = j->f->backoff_ms;
	for (unsigned i = 1; i < j->round && wait < BACKOFF_MOST_MS; i++)
		wait *= 2;
	if (wait > BACKOFF_MOST_MS)
		wait = BACKOFF_MOST_MS;
	if (wait < j->retry_after)
		wait = j->retry_after;
	j->retry_after = 0;
	j->state = JOB_PAUSED;
	j->timer = loop_timer(j->f->loop, wait, pause_over, j);
}

/* The next place of this round, else a wait and the first of the next; -1 where nothing is left. */
static int next_place(struct fetch_job *j)
{
	for (size_t i = j->at + 1; i < j->places.count; i++) {
		if (!j->places.items[i].ruled_out) {
			j->at = i;
			job_queue(j);
			return 0;
		}
	}
	if (++j->round >= j->f->tries)
		return -1;
	for (size_t i = 0; i < j->places.count; i++) {
		if (!j->places.items[i].ruled_out) {
			j->at = i;
			pause_job(j);
			return 0;
		}
	}
	return -1;
}

/* All bytes came: right, or wrong for good unless they were put together from several tries. */
static bool check(struct fetch_job *j, struct hash *got, enum try_end *end, struct err *err)
{
	if (j->head || sink_check(&j->sink, got, err) == 0)
		return true;
	*end = j->sink.broken ? TRY_STOP : TRY_OTHER;
	if (j->resumed && !j->no_range && !j->sink.broken) {
		j->no_range = true;
		*end = TRY_AGAIN;
	}
	return false;
}

void job_try_over(struct fetch_job *j, enum try_end end, int64_t retry_after_ms,
	const char *content_type, const char *url, struct err *err)
{
	struct hash got;
	_cleanup_err_ struct err wrong = { 0 };
	if (end == TRY_DONE && check(j, &got, &end, &wrong)) {
		_cleanup_free_ char *type = mem_dup(content_type), *last = mem_dup(url);
		stop_running(j);
		j->told = 0;
		if (!job_progress(j))
			return;
		tell(j, 0, j->head ? NULL : &got, type, last, &wrong);
		return;
	}
	struct place *p = &j->places.items[j->at];
	err_move(&p->fault, wrong.msg ? &wrong : err);
	stop_running(j);
	if (retry_after_ms > j->retry_after)
		j->retry_after = retry_after_ms < RETRY_AFTER_MOST_MS ? retry_after_ms : RETRY_AFTER_MOST_MS;
	if (end == TRY_TOKEN) {
		token_get(j);
		return;
	}
	if (end == TRY_OTHER)
		p->ruled_out = true;
	if (end == TRY_STOP) {
		fail(j);
	} else if (end == TRY_AGAIN && j->sink.got - j->started_at >= GOOD_PROGRESS) {
		j->round = 0;
		pause_job(j);
	} else if (next_place(j) < 0) {
		fail(j);
	}
}

bool job_progress(struct fetch_job *j)
{
	int64_t now = loop_now();
	if (!j->progress || (j->told && now - j->told < PROGRESS_MS))
		return true;
	j->told = now;
	bool busy = j->f->busy;
	j->f->busy = true;
	j->progress(j->ctx, j->sink.got, j->total > 0 ? j->total : 0);
	j->f->busy = busy;
	return j->state != JOB_DROPPED;
}
