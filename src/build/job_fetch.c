/* From what the lock names to a fixed-output object: a file by a transfer, a repository's folder by a git worker. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/goal.h"
#include "core/fs.h"
#include "core/json.h"
#include "fetch/git.h"

#define ENTRY_MAX (1u << 20)

struct job {
	char *tmp;                  /* name in store/tmp */
	int fd;
	struct json *entry;
	struct fetch_job *transfer; /* NULL once it has ended */
	struct git_job *git;        /* likewise */
	struct git_request request;
	char *cache;                /* of git's mirrors */
};

static void job_free(struct goal *g, bool remove)
{
	struct job *j = g->job;
	g->job = NULL;
	fs_close_ptr(&j->fd);
	if (remove && j->tmp)
		fs_remove_tree(store_tmp_fd(g->r->s), j->tmp, NULL);
	git_request_clear(&j->request);
	json_free(j->entry);
	free(j->cache);
	free(j->tmp);
	free(j);
}

/* A commit always holds the same: it is the lock that says otherwise, or other submodules were taken. */
static int wrong_content(struct goal *g, const struct store_prepared *made, struct err *err)
{
	const struct git_request *q = &g->job->request;
	_cleanup_buf_ struct buf want = BUF_INIT, got = BUF_INIT;
	hash_sri(&g->d->drv->outputs[0].hash, &want);
	hash_sri(&made->nar_hash, &got);
	return err_set(err, ERR_HASH, "%s: the lock wants the content %s, commit %s of %s has %s; "
		"forge lock --update writes it anew", g->d->drv->name, want.data, q->rev, q->url, got.data);
}

static int prepare_in_worker(void *ctx, struct buf *out, struct err *err)
{
	struct goal *g = ctx;
	const struct drv_output *o = &g->d->drv->outputs[0];
	struct store_prepared made = { 0 };
	if (store_prepare(store_tmp_fd(g->r->s), g->job->tmp, g->d->drv->name, o->method, NULL, NULL,
			&made, err) < 0)
		return -1;
	if (o->method == DRV_NAR && strcmp(made.path, o->path) != 0)
		return wrong_content(g, &made, err);
	if (strcmp(made.path, o->path) != 0)
		return err_set(err, ERR_HASH, "%s: what was fetched gives %s, the lock names %s",
			g->d->drv->name, made.path, o->path);
	if (store_settle(store_tmp_fd(g->r->s), &made, 1, err) < 0)
		return -1;
	store_prepared_write(&made, out);
	return 0;
}

static void prepared(void *ctx, int rc, struct buf *answer, const struct proc_result *result,
	struct err *err)
{
	struct goal *g = ctx;
	struct store_prepared *made = mem_alloc(sizeof *made);
	if (rc == 0)
		rc = store_prepared_read(buf_slice(answer), made, err);
	job_free(g, rc < 0);
	if (rc == 0) {
		goal_prepared(g, made);
		return;
	}
	free(made);
	goal_failed(g, err, NULL);
}

/* What a person can do where another file came than the one that is wanted. */
static int advise(const struct json *entry, struct err *err)
{
	const char *from = json_get_str(entry, "from");
	const char *advice = str_eq(from, "pypi") ? "try another index (--index), or run forge lock --update if the change is meant"
		: str_eq(from, "debian") ? "try another mirror (FORGE_DEBIAN_MIRROR), or run forge lock --update if the change is meant"
		: str_eq(from, "oci") ? "the registry sends another layer than the image names: try a mirror of it (FORGE_OCI_MIRROR)"
		: "if the change is meant, the recipe must name the new hash";
	return err_set(err, ERR_HASH, "%s; %s", err->msg, advice);
}

static void arrived(void *ctx, int rc, struct err *err)
{
	struct goal *g = ctx;
	g->job->transfer = NULL;
	if (rc < 0 && err->code == ERR_HASH)
		advise(g->job->entry, err);
	if (rc == 0 && close(steal_fd(g->job->fd)) < 0)
		rc = err_sys(err, "can't write %s", g->d->drv->name);
	if (rc == 0)
		rc = loop_worker(g->r->loop, prepare_in_worker, g, prepared, g, NULL, err);
	if (rc == 0)
		return;
	job_free(g, true);
	goal_failed(g, err, NULL);
}

static void progress(void *ctx, int64_t done, int64_t total)
{
	goal_progress(ctx, done, total);
}

static void cloned(void *ctx, int rc, const struct git_answer *answer, struct err *err)
{
	struct goal *g = ctx;
	g->job->git = NULL;
	for (size_t i = 0; rc == 0 && i < answer->lfs->count; i++)
		event_note(g->r->o.events, "%s: %s is a pointer of Git LFS, not the file it stands for",
			g->d->drv->name, answer->lfs->items[i]);
	if (rc == 0)
		rc = loop_worker(g->r->loop, prepare_in_worker, g, prepared, g, NULL, err);
	else
		err_add(err, "%s", g->d->drv->name);
	if (rc == 0)
		return;
	job_free(g, true);
	goal_failed(g, err, NULL);
}

/* Only what comes over the network can be cancelled; hashing it takes seconds at most. */
static void cancel(struct goal *g)
{
	struct job *j = g->job;
	if (j && j->git)
		git_cancel(j->git);
	if (!j || !j->transfer)
		return;
	fetch_cancel(j->transfer);
	job_free(g, true);
	struct err err = { 0 };
	err_set(&err, ERR_INTR, "%s: stopped", g->d->drv->name);
	goal_failed(g, &err, NULL);
}

static int fetcher_for(struct realise *r, struct err *err)
{
	struct fetch_config config = { .offline = r->o.offline, .index = r->o.index };
	if (!r->fetcher)
		r->fetcher = fetcher_new(r->loop, &config, err);
	return r->fetcher ? 0 : -1;
}

static int start_git(struct goal *g, struct err *err)
{
	struct realise *r = g->r;
	struct job *j = g->job;
	if (git_request_of(j->entry, &j->request, err) < 0)
		return -1;
	_cleanup_free_ char *cache = fs_join(store_folder(r->s), "cache");
	j->cache = fs_join(cache, "git");
	j->request.cache = j->cache;
	j->request.dirfd = store_tmp_fd(r->s);
	j->request.name = j->tmp;
	j->request.offline = r->o.offline;
	j->git = git_start(r->loop, &j->request, progress, cloned, g, err);
	return j->git ? 0 : -1;
}

static int start_transfer(struct goal *g, struct err *err)
{
	struct realise *r = g->r;
	struct job *j = g->job;
	if (fetcher_for(r, err) < 0)
		return -1;
	j->fd = openat(store_tmp_fd(r->s), j->tmp, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (j->fd < 0)
		return err_sys(err, "can't create a file in %s/tmp", store_folder(r->s));
	j->transfer = fetch_locked(r->fetcher, j->entry, j->fd, progress, arrived, g, err);
	return j->transfer ? 0 : -1;
}

int job_fetch_start(struct goal *g, struct err *err)
{
	const char *entry = drv_env_get(g->d->drv, "entry");
	bool git = strcmp(g->d->drv->builder, "builtin:fetch-git") == 0;
	if (!entry)
		return err_set(err, ERR_INPUT, "%s: %s needs the parameter entry", g->d->drv->name, g->d->drv->builder);
	struct job *j = g->job = mem_alloc(sizeof *j);
	j->fd = -1;
	g->cancel = cancel;
	j->entry = json_parse(slice_of(entry), ENTRY_MAX, err);
	j->tmp = j->entry ? store_tmp_name(g->r->s, "fetch", err) : NULL;
	if (j->tmp && (git ? start_git(g, err) : start_transfer(g, err)) == 0)
		return 0;
	job_free(g, true);
	return -1;
}
