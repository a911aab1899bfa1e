/* A builtin step in a worker: unpacking, laying out, finishing. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "build/goal.h"
#include "core/fs.h"
#include "world/builtin.h"

struct job {
	char *tmp;   /* name in store/tmp */
	pid_t pid;
};

static void job_free(struct goal *g, bool remove)
{
	struct job *j = g->job;
	g->job = NULL;
	if (remove)
		fs_remove_tree(store_tmp_fd(g->r->s), j->tmp, NULL);
	free(j->tmp);
	free(j);
}

/* The log of a builtin step is its note: kept only where there is one. */
static void write_note(const struct goal *g, const char *note)
{
	if (note && g->log) {
		_cleanup_free_ char *path = fs_join(store_folder(g->r->s), g->log);
		fs_write_file(AT_FDCWD, path, note, strlen(note), 0644, NULL); /* a log is no part of the result */
	}
}

static int work(void *ctx, struct buf *out, struct err *err)
{
	struct goal *g = ctx;
	struct realise *r = g->r;
	const struct drv *d = g->resolved;
	_cleanup_str_list_ struct str_list candidates = STR_LIST_INIT;
	_cleanup_free_ char *note = NULL;
	struct store_prepared made = { 0 };
	if (builtin_run(d, r->s, store_tmp_fd(r->s), g->job->tmp, &note, err) < 0)
		return err_add(err, "%s", d->name);
	write_note(g, note);
	bool shared = builtin_is_read_only(d->builder);
	if (shared)
		store_share(r->s, g->job->tmp);
	for (size_t i = 0; i < d->src_count; i++)
		str_list_add(&candidates, d->srcs[i]);
	if (store_prepare(store_tmp_fd(r->s), g->job->tmp, d->name, DRV_NAR, &candidates, NULL, &made, err) < 0)
		return -1;
	if (store_settle(store_tmp_fd(r->s), &made, 1, err) < 0)
		return -1;
	if (shared)
		store_share_offer(r->s, g->job->tmp);
	store_prepared_write(&made, out);
	return 0;
}

static void worked(void *ctx, int rc, struct buf *answer, const struct proc_result *result,
	struct err *err)
{
	struct goal *g = ctx;
	struct store_prepared *made = mem_alloc(sizeof *made);
	const struct timeval *u = &result->usage.ru_utime, *k = &result->usage.ru_stime;
	g->cpu_ms = (int64_t)(u->tv_sec + k->tv_sec) * 1000 + (u->tv_usec + k->tv_usec) / 1000;
	g->peak_memory = (uint64_t)result->usage.ru_maxrss * 1024;
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

static void cancel(struct goal *g)
{
	if (g->job)
		kill(g->job->pid, SIGKILL); /* worked() then hears of its death */
}

int job_work_start(struct goal *g, struct err *err)
{
	struct realise *r = g->r;
	if (!builtin_known(g->resolved->builder))
		return err_set(err, ERR_INPUT, "%s: there is no builder %s", g->resolved->name, g->resolved->builder);
	if (g->resolved->output_count != 1)
		return err_set(err, ERR_INPUT, "%s: %s has one output", g->resolved->name, g->resolved->builder);
	char *tmp = store_tmp_name(r->s, "work", err);
	if (!tmp)
		return -1;
	struct job *j = g->job = mem_alloc(sizeof *j);
	j->tmp = tmp;
	g->cancel = cancel;
	if (loop_worker(r->loop, work, g, worked, g, &j->pid, err) < 0) {
		job_free(g, false);
		return -1;
	}
	return 0;
}
