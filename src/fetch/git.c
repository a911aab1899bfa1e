#include "fetch/git.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "fetch/git_impl.h"
#include "fetch/url.h"

#define STALL_MS 60000
#define LIMIT_MS (2 * 3600 * 1000ll)
#define LOOK_MS 200
#define MEMORY_MAX (8ull << 30)

struct git_job {
	struct loop *loop;
	struct git_request q;      /* its texts are only read before git_start returns */
	char *shown;
	struct git_watch *watch;   /* shared with the worker */
	pid_t pid;
	uint64_t timer;
	uint64_t signs, told;      /* as last seen; bytes last told */
	int64_t active, began;
	const char *ended;         /* why the worker was ended; NULL: it was not */
	bool stopped;              /* by a person */
	git_progress_fn *progress;
	git_done_fn *done;
	void *ctx;
};

/* --- in the worker ----------------------------------------------------------------------------- */

/* What a hostile server could make libgit2 hold. */
static void limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
	struct rlimit most = { MEMORY_MAX, MEMORY_MAX };
	setrlimit(RLIMIT_DATA, &most);
#endif
}

static int make_folder(const struct git_request *q, struct err *err)
{
	if (mkdirat(q->dirfd, q->name, 0755) < 0)
		return err_sys(err, "can't make the folder %s", q->name);
	int fd = openat(q->dirfd, q->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? err_sys(err, "can't open the folder %s", q->name) : fd;
}

static int write_files(struct git_run *r, char commit[GIT_REV_LEN + 1], struct err *err)
{
	const struct git_request *q = r->q;
	struct git_mirror_open m = { 0 };
	_cleanup_close_ int folder = make_folder(q, err);
	if (folder < 0 || git_mirror_take(r, q->url, q->rev, NULL, &m, err) < 0)
		return -1;
	r->git->git_oid_tostr(commit, GIT_REV_LEN + 1, &m.commit);
	int rc = git_tree_write(r, &m, q->url, folder, err);
	git_mirror_close(r, &m);
	return rc;
}

/* A mirror whose objects a crash left broken is made anew, once. */
static int write_or_again(struct git_run *r, char commit[GIT_REV_LEN + 1], struct err *err)
{
	_cleanup_err_ struct err first = { 0 };
	if (write_files(r, commit, &first) == 0)
		return 0;
	const git_error *last = r->git->git_error_last();
	bool broken = first.code == ERR_FAIL && last && (last->klass == GIT_ERROR_ODB || last->klass == GIT_ERROR_ZLIB);
	if (!broken || fs_remove_tree(r->q->dirfd, r->q->name, NULL) < 0)
		return err_move(err, &first);
	git_mirror_drop(r, r->q->url);
	return write_files(r, commit, err);
}

/* rev, then what was seen on the way; names that are no UTF-8 were made so (name_show). */
static void write_answer(const struct git_run *r, const char *commit, struct buf *out)
{
	_cleanup_json_ struct json *j = json_new_obj();
	json_set_str(j, "rev", commit);
	json_set(j, "lfs", json_new_strs(&r->lfs));
	json_set(j, "tags", json_new_strs(&r->tags));
	json_write(j, 0, out);
}

static int work(void *ctx, struct buf *out, struct err *err)
{
	struct git_job *job = ctx;
	struct git_run r = { .q = &job->q, .watch = job->watch, .bytes = job->q.bytes, .map = MIRROR_MAP_INIT(MIRROR_GIT) };
	char commit[GIT_REV_LEN + 1] = "";
	limit_memory();
	r.git = git_load(err);
	if (!r.git || mirror_map_load(&r.map, err) < 0)
		return -1;
	int rc = r.q->name ? write_or_again(&r, commit, err) : git_mirror_ask(&r, r.q->url, r.q->rev, commit, err);
	if (rc == 0)
		write_answer(&r, commit, out);
	mirror_map_free(&r.map);
	str_list_free(&r.lfs);
	str_list_free(&r.tags);
	return rc;
}

/* --- in the process that watches ------------------------------------------------------------------ */

static void job_free(struct git_job *job)
{
	loop_timer_del(job->loop, job->timer);
	munmap(job->watch, sizeof *job->watch);
	free(job->shown);
	free(job);
}

static void read_list(const struct json *j, const char *key, struct str_list *out)
{
	const struct json *list = json_get(j, key);
	for (size_t i = 0; i < json_count(list); i++)
		str_list_add(out, json_str(json_at(list, i)));
}

static void tell(struct git_job *job, const struct buf *text)
{
	_cleanup_str_list_ struct str_list lfs = STR_LIST_INIT, tags = STR_LIST_INIT;
	struct err err = { 0 };
	_cleanup_json_ struct json *j = json_parse(buf_slice(text),
		SIZE_MAX, &err);
	read_list(j, "lfs", &lfs);
	read_list(j, "tags", &tags);
	struct git_answer answer = { .rev = json_get_str(j, "rev"), .lfs = &lfs, .tags = &tags };
	job->done(job->ctx, j ? 0 : -1, j ? &answer : NULL, &err);
	err_clear(&err);
}

static void worked(void *ctx, int rc, struct buf *text, const struct proc_result *result, struct err *err)
{
	struct git_job *job = ctx;
	if (rc < 0 && job->ended)
		err_set(err, job->stopped ? ERR_INTR : ERR_FAIL, "%s: %s", job->shown, job->ended);
	if (rc < 0)
		job->done(job->ctx, -1, NULL, err);
	else
		tell(job, text);
	job_free(job);
}

static void end(struct git_job *job, const char *why)
{
	job->ended = why;
	kill(job->pid, SIGKILL); /* worked() then hears of its death */
}

static void look(void *ctx)
{
	struct git_job *job = ctx;
	uint64_t signs = job->watch->signs, received = job->watch->received;
	int64_t now = loop_now();
	job->timer = loop_timer(job->loop, LOOK_MS, look, job);
	if (signs != job->signs)
		job->active = now;
	job->signs = signs;
	if (job->progress && received != job->told)
		job->progress(job->ctx, (int64_t)received, -1);
	job->told = received;
	if (job->ended)
		return;
	if (now - job->active > job->q.stall_ms)
		end(job, "the server sent nothing for too long");
	else if (now - job->began > job->q.limit_ms)
		end(job, "it takes longer than forge waits for one repository");
}

void git_cancel(struct git_job *job)
{
	job->stopped = true;
	end(job, "stopped");
}

struct git_job *git_start(struct loop *loop, const struct git_request *q, git_progress_fn *progress,
	git_done_fn *done, void *ctx, struct err *err)
{
	void *shared = mmap(NULL, sizeof(struct git_watch), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		err_sys(err, "can't share memory with a worker");
		return NULL;
	}
	struct git_job *job = mem_alloc(sizeof *job);
	*job = (struct git_job){ .loop = loop, .q = *q, .watch = shared, .progress = progress, .done = done, .ctx = ctx };
	job->q.bytes = q->bytes ? q->bytes : GIT_BYTES_DEFAULT;
	job->q.stall_ms = q->stall_ms ? q->stall_ms : STALL_MS;
	job->q.limit_ms = q->limit_ms ? q->limit_ms : LIMIT_MS;
	job->shown = url_redact(q->url);
	job->began = job->active = loop_now();
	if (loop_worker(loop, work, job, worked, job, &job->pid, err) < 0) {
		job_free(job);
		return NULL;
	}
	job->timer = loop_timer(loop, LOOK_MS, look, job);
	return job;
}

void git_request_clear(struct git_request *q)
{
	str_list_free(&q->only);
}

int git_request_of(const struct json *entry, struct git_request *q, struct err *err)
{
	const struct json *submodules = json_get(entry, "submodules");
	q->url = json_get_str(entry, "url");
	q->rev = json_get_str(entry, "rev");
	q->submodules = json_bool(submodules, false);
	if (!str_eq(json_get_str(entry, "from"), "git") || !q->url || !git_is_commit(q->rev))
		return err_set(err, ERR_INPUT, "a lock entry from git needs url, and rev with the 40 digits of a commit");
	for (size_t i = 0; i < json_count(submodules); i++) {
		const char *name = json_str(json_at(submodules, i));
		if (!name)
			return err_set(err, ERR_INPUT, "the lock's entry for %s: submodules holds something else than strings",
				q->url);
		str_list_add(&q->only, name);
	}
	return 0;
}
