#include "lock/net.h"

#include <stdlib.h>

#include "core/loop.h"
#include "core/mem.h"
#include "fetch/fetch.h"
#include "fetch/git.h"

struct net {
	struct loop *loop;
	struct fetcher *fetcher;
};

struct net *net_new(const char *index, struct err *err)
{
	struct net *n = mem_alloc(sizeof *n);
	struct fetch_config config = { .index = index };
	n->loop = loop_new(err);
	n->fetcher = n->loop ? fetcher_new(n->loop, &config, err) : NULL;
	if (!n->fetcher) {
		net_free(n);
		return NULL;
	}
	return n;
}

void net_free(struct net *n)
{
	if (!n)
		return;
	if (n->fetcher)
		fetcher_free(n->fetcher);
	if (n->loop)
		loop_free(n->loop);
	free(n);
}

/* One transfer on its way. */
struct transfer {
	struct net_ask *ask; /* NULL for a lock entry */
	size_t *pending;
	bool *all_done;
	int rc;
	struct err err;
};

static void finish(struct transfer *t, int rc, struct err *err)
{
	t->rc = rc;
	if (rc < 0)
		err_move(&t->err, err);
	if (--*t->pending == 0)
		*t->all_done = true;
}

static void answered(void *ctx, int rc, const struct hash *sha256, int64_t size, struct buf *body,
	const char *content_type, const char *url, struct err *err)
{
	struct transfer *t = ctx;
	if (rc == 0) {
		t->ask->got = size;
		t->ask->type = mem_dup(content_type);
		t->ask->url = mem_dup(url);
		if (sha256)
			t->ask->sha256 = *sha256;
		if (body) {
			t->ask->body = *body;
			*body = (struct buf)BUF_INIT;
		}
	}
	finish(t, rc, err);
}

static void arrived(void *ctx, int rc, struct err *err)
{
	finish(ctx, rc, err);
}

static int start(struct net *n, struct transfer *t, struct err *err)
{
	const struct net_ask *a = t->ask;
	struct fetch_request r = {
		.urls = a->urls, .url_count = a->url_count, .fd = a->fd, .sha256 = a->expect,
		.size = a->size, .limit = a->limit, .accept = a->accept, .head = a->head,
		.repository = a->repository, .gone = a->gone, .label = a->label, .done = answered, .ctx = t,
	};
	return fetch_start(n->fetcher, &r, err) ? 0 : -1;
}

int net_ask(struct net *n, struct net_ask *asks, size_t count, struct err *err)
{
	_cleanup_free_ struct transfer *transfers = mem_alloc((count ? count : 1) * sizeof *transfers);
	size_t pending = count;
	bool all_done = count == 0;
	for (size_t i = 0; i < count; i++) {
		struct transfer *t = &transfers[i];
		_cleanup_err_ struct err failed = { 0 };
		*t = (struct transfer){ &asks[i], &pending, &all_done, 0, { 0 } };
		if (start(n, t, &failed) < 0)
			finish(t, -1, &failed);
	}
	if (!all_done && loop_run(n->loop, &all_done, err) < 0)
		return -1;
	int rc = 0;
	for (size_t i = 0; i < count; i++) {
		if (transfers[i].rc < 0 && rc == 0)
			rc = err_move(err, &transfers[i].err);
		err_clear(&transfers[i].err);
	}
	return rc;
}

void net_ask_clear(struct net_ask *a)
{
	buf_free(&a->body);
	free(a->type);
	free(a->url);
	a->type = a->url = NULL;
}

int net_locked(struct net *n, const struct json *entry, int fd, struct err *err)
{
	size_t pending = 1;
	bool all_done = false;
	struct transfer t = { NULL, &pending, &all_done, 0, { 0 } };
	if (!fetch_locked(n->fetcher, entry, fd, NULL, arrived, &t, err))
		return -1;
	if (loop_run(n->loop, &all_done, err) < 0)
		return -1;
	return t.rc < 0 ? err_move(err, &t.err) : 0;
}

struct visit {
	git_progress_fn *progress;
	void *ctx;
	bool over;
	int rc;
	struct json *answer;
	struct err err;
};

static void visit_progress(void *ctx, int64_t done, int64_t total)
{
	struct visit *v = ctx;
	if (v->progress)
		v->progress(v->ctx, done, total);
}

static void visited(void *ctx, int rc, const struct git_answer *a, struct err *err)
{
	struct visit *v = ctx;
	v->over = true;
	v->rc = rc;
	if (rc < 0) {
		err_move(&v->err, err);
		return;
	}
	v->answer = json_new_obj();
	json_set_str(v->answer, "rev", a->rev);
	json_set(v->answer, "lfs", json_new_strs(a->lfs));
	json_set(v->answer, "tags", json_new_strs(a->tags));
}

int net_git(struct net *n, const struct git_request *q, git_progress_fn *progress, void *ctx,
	struct json **answer, struct err *err)
{
	struct visit v = { .progress = progress, .ctx = ctx };
	if (!git_start(n->loop, q, visit_progress, visited, &v, err) || loop_run(n->loop, &v.over, err) < 0)
		return -1;
	*answer = v.answer;
	return v.rc < 0 ? err_move(err, &v.err) : 0;
}
