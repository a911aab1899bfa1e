/* A build in a sandbox: compose the world, run the builder, take its outputs. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build/build_env.h"
#include "build/job_build.h"
#include "core/fs.h"
#include "world/world.h"

#define PROCESSES 4096 /* of one build at once: a compile of thousands of files stays far below */
/* A build may have so many compiles wait for each core: forge sees what there is to do, and chooses. */
#define WAITING_COMPILES 4

static void job_free(struct goal *g, bool keep)
{
	struct job *j = g->job;
	g->job = NULL;
	compile_service_close(steal_ptr(g->compiles));
	if (j->log)
		free(build_log_close(j->log));
	for (size_t i = 0; i < g->resolved->output_count; i++)
		free(j->taken[i]);
	char *kept = j->scratch && keep ? store_tmp_keep(g->r->s, j->tmp, g->d->drv->name, NULL) : NULL;
	if (kept)
		event_note(g->r->o.events, "%s: its folder is kept in %s", g->d->drv->name, kept);
	else if (j->scratch)
		sandbox_scratch_remove(j->scratch, NULL); /* what is left is taken at the next start */
	free(kept);
	str_list_free(&j->inputs);
	free(j->tail);
	free(j->scratch);
	free(j->tmp);
	arena_free(&j->arena);
	free(j);
}

/*
 * Where the build writes an output: a store path that depends on the resolved
 * derivation only, so that a rebuild sees the same one.  It is never a valid
 * path; an output that holds its digest is refused.
 */
static char *scratch_path(struct goal *g, const char *output, struct arena *a)
{
	_cleanup_buf_ struct buf type = BUF_INIT, path = BUF_INIT;
	buf_printf(&type, "scratch:%s", output);
	store_path_make(type.data, &g->id, g->d->drv->name, &path);
	return arena_dup_n(a, path.data, path.len);
}

static void taken(void *ctx, int rc, struct buf *answer, const struct proc_result *result,
	struct err *err)
{
	struct goal *g = ctx;
	size_t count = g->resolved->output_count;
	struct store_prepared *made = mem_alloc(count * sizeof *made);
	if (rc == 0)
		rc = outputs_read(answer, made, count, err);
	if (rc == 0) {
		job_free(g, false);
		goal_prepared(g, made);
		return;
	}
	_cleanup_free_ char *tail = steal_ptr(g->job->tail);
	free(made);
	job_free(g, g->r->o.keep_failed);
	goal_failed(g, err, tail);
}

static int describe_end(const struct goal *g, const struct sandbox_result *r, struct err *err)
{
	const char *name = g->d->drv->name;
	_cleanup_free_ char *how = NULL;
	switch (r->end) {
	case SANDBOX_EXITED:
		if (WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0)
			return 0;
		how = proc_describe(r->status);
		return err_set(err, ERR_BUILD, "%s: the build %s", name, how);
	case SANDBOX_TIMEOUT:
		return err_set(err, ERR_TIMEOUT, "%s: the build was ended after its limit of %lld s (the recipe's timeout)",
			name, (long long)(g->d->timeout_ms / 1000));
	case SANDBOX_MEMORY:
		return err_set(err, ERR_BUILD, "%s: the build was ended at its memory ceiling of %llu MiB (the recipe's memory)",
			name, (unsigned long long)(g->d->memory >> 20));
	case SANDBOX_PROCESSES:
		return err_set(err, ERR_BUILD, "%s: the build hit its ceiling of %d processes", name, PROCESSES);
	case SANDBOX_KILLED:
		return err_set(err, ERR_INTR, "%s: stopped", name);
	case SANDBOX_SETUP:
		return err_set(err, r->err.code == ERR_NONE ? ERR_FAIL : r->err.code, "%s: %s", name,
			r->err.msg ? r->err.msg : "the sandbox could not be set up");
	}
	return err_set(err, ERR_FAIL, "%s: the sandbox ended in an unknown way", name);
}

static void ended(void *ctx, const struct sandbox_result *result)
{
	struct goal *g = ctx;
	struct job *j = g->job;
	struct err err = { 0 };
	const struct timeval *u = &result->usage.ru_utime, *k = &result->usage.ru_stime;
	j->sandbox = NULL;
	compile_service_close(steal_ptr(g->compiles));
	g->cpu_ms = (int64_t)(u->tv_sec + k->tv_sec) * 1000 + (u->tv_usec + k->tv_usec) / 1000;
	g->peak_memory = result->peak_memory;
	j->tail = build_log_close(steal_ptr(j->log));
	int rc = describe_end(g, result, &err);
	if (rc < 0 && result->hosts.count)
		err_add(&err, "%s wanted the host %s, and builds have no network", g->d->drv->name,
			result->hosts.items[0]);
	if (rc == 0)
		rc = loop_worker(g->r->loop, outputs_take, g, taken, g, NULL, &err);
	if (rc == 0) {
		goal_saving(g);
		return;
	}
	_cleanup_free_ char *tail = steal_ptr(j->tail);
	job_free(g, g->r->o.keep_failed && err.code != ERR_INTR);
	goal_failed(g, &err, tail);
}

static void cancel(struct goal *g)
{
	if (g->job && g->job->sandbox)
		sandbox_kill(g->job->sandbox);
}

/* What the build's compilers ask; its folder and world are what they see. */
static int start_compiles(struct goal *g, const char *world_text, const struct world *w, struct err *err)
{
	struct arena *a = &g->job->arena;
	struct compile_view view = { 0 };
	if (!g->r->compiles || !compile_has_shim(w))
		return 0;
	_cleanup_free_ char *name = store_tmp_name(g->r->s, "compile", err); /* not in scratch, which set-up covers */
	if (!name || compile_see(&view, world_text, w, a, err) < 0)
		return -1;
	g->job->socket = arena_printf(a, "%s/tmp/%s", store_folder(g->r->s), name);
	view.build = arena_printf(a, "%s/build", g->job->scratch);
	view.drv_path = g->d->path;
	view.name = g->d->drv->name;
	view.id = g->index + 1;
	view.timeout_ms = (int64_t)g->d->timeout_ms;
	view.memory = g->d->memory;
	g->compiles = compile_service_open(g->r->compiles, &view, g->job->socket, err);
	return g->compiles ? 0 : err_add(err, "%s", g->d->drv->name);
}

/* Every input object is seen at its store path. */
static int make_binds(struct goal *g, struct arena *a, struct sandbox_spec *spec, struct err *err)
{
	struct str_list *paths = &g->job->inputs;
	for (size_t i = 0; i < g->resolved->src_count; i++)
		if (store_closure(g->r->s, g->resolved->srcs[i], paths, err) < 0)
			return -1;
	str_list_sort(paths);
	str_list_uniq(paths);
	struct sandbox_bind *binds = arena_alloc(a, (paths->count + 2) * sizeof *binds);
	for (size_t i = 0; i < paths->count; i++) {
		_cleanup_free_ char *from = store_physical(g->r->s, paths->items[i]);
		binds[i] = (struct sandbox_bind){ arena_dup(a, from), arena_dup(a, paths->items[i]) };
	}
	spec->binds = binds;
	spec->bind_count = paths->count;
	if (g->compiles)
		binds[spec->bind_count++] = (struct sandbox_bind){ g->job->socket, compile_socket };
	return 0;
}

static const char *const *as_vector(const struct str_list *l, struct arena *a)
{
	const char **v = arena_alloc(a, (l->count + 1) * sizeof *v);
	for (size_t i = 0; i < l->count; i++)
		v[i] = arena_dup(a, l->items[i]);
	return v;
}

static int make_command(struct goal *g, struct arena *a, struct sandbox_spec *spec, struct err *err)
{
	const struct drv *d = g->resolved;
	const struct realise_options *o = &g->r->o;
	struct build_share share = { o->cores, g->d->memory ? g->d->memory : o->memory };
	_cleanup_str_list_ struct str_list argv = STR_LIST_INIT, env = STR_LIST_INIT;
	if (share.memory > o->memory)
		share.memory = o->memory;
	if (g->compiles) /* forge is what limits them */
		share = (struct build_share){ WAITING_COMPILES * o->cores, UINT64_MAX };
	str_list_add(&argv, d->builder);
	for (size_t i = 0; i < d->arg_count; i++)
		str_list_take(&argv, build_env_replace(d, g->job->outputs, d->args[i]));
	if (build_env_make(d, g->job->outputs, &share, &env, err) < 0)
		return -1;
	spec->argv = as_vector(&argv, a);
	spec->env = as_vector(&env, a);
	return 0;
}

static int start_sandbox(struct goal *g, int log_fd, struct err *err)
{
	struct job *j = g->job;
	struct world w;
	const char *text = drv_env_get(g->resolved, "world");
	if (!text)
		return err_set(err, ERR_INPUT, "%s: a sandboxed build needs a world", g->d->drv->name);
	if (world_read(text, g->r->s, &j->arena, &w, err) < 0)
		return err_add(err, "%s", g->d->drv->name);
	struct sandbox_spec spec = {
		.scratch = j->scratch, .mounts = w.mounts, .mount_count = w.mount_count, .files = w.files,
		.file_count = w.file_count, .cwd = "/build", .log_fd = log_fd,
		.timeout_ms = (int64_t)g->d->timeout_ms, .memory = g->d->memory, .cores = g->r->o.cores, .processes = PROCESSES,
	};
	if (start_compiles(g, text, &w, err) < 0 || make_binds(g, &j->arena, &spec, err) < 0 || make_command(g, &j->arena, &spec, err) < 0)
		return -1;
	j->sandbox = sandbox_start(g->r->loop, &spec, ended, g, err);
	if (j->sandbox && g->compiles)
		compile_service_builder(g->compiles, sandbox_builder(j->sandbox));
	return j->sandbox ? 0 : -1;
}

int job_build_start(struct goal *g, struct err *err)
{
	struct realise *r = g->r;
	const struct drv *d = g->resolved;
	struct job *j = g->job = mem_alloc(sizeof *j);
	_cleanup_close_ int log_fd = -1;
	g->cancel = cancel;
	j->outputs = arena_alloc(&j->arena, (d->output_count + 1) * sizeof *j->outputs);
	j->taken = arena_alloc(&j->arena, (d->output_count + 1) * sizeof *j->taken);
	j->tmp = store_tmp_name(r->s, "build", err);
	bool named = j->tmp != NULL;
	for (size_t i = 0; i < d->output_count; i++) {
		j->outputs[i] = scratch_path(g, d->outputs[i].name, &j->arena);
		j->taken[i] = named ? store_tmp_name(r->s, "output", err) : NULL;
		named = named && j->taken[i];
	}
	if (named) {
		_cleanup_free_ char *tmp = fs_join(store_folder(r->s), "tmp");
		_cleanup_free_ char *log = fs_join(store_folder(r->s), g->log);
		if (mkdirat(store_tmp_fd(r->s), j->tmp, 0700) < 0) {
			err_sys(err, "can't make the folder %s/%s", tmp, j->tmp);
		} else {
			j->scratch = fs_join(tmp, j->tmp);
			j->log = build_log_open(r->loop, log, g->index + 1, r->o.events, &log_fd, err);
		}
	}
	if (j->log && start_sandbox(g, log_fd, err) == 0)
		return 0;
	job_free(g, false);
	return -1;
}
