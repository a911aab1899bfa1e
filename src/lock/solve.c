#include "lock/solve.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <solv/evr.h>
#include <solv/knownid.h>
#include <solv/pool.h>
#include <solv/poolarch.h>
#include <solv/problems.h>
#include <solv/queue.h>
#include <solv/repo.h>
#include <solv/repo_deb.h>
#include <solv/solver.h>
#include <solv/transaction.h>

#include "core/dynlib.h"
#include "core/mem.h"
#include "core/proc.h"
#include "lock/packages.h"

/* libsolv's inline helpers call into the library, which is not linked: only functions of these tables may be used. */
#define SOLV_FUNCS(X) \
	X(pool_create) X(pool_free) X(pool_setdisttype) X(pool_setarch) X(pool_createwhatprovides) \
	X(pool_str2id) X(pool_id2str) X(pool_evrcmp_str) X(pool_errstr) X(repo_create) X(queue_init) X(queue_free) \
	X(queue_insertn) X(solver_create) X(solver_free) X(solver_set_flag) X(solver_solve) \
	X(solver_problem2str) X(solver_create_transaction) X(transaction_free) \
	X(solvable_lookup_location) X(solvable_lookup_checksum)
#define SOLVEXT_FUNCS(X) X(repo_add_debpackages)

static DYNLIB_TABLE(solv_api, SOLV_FUNCS) api;
static DYNLIB_TABLE(solvext_api, SOLVEXT_FUNCS) ext;

static int load(struct err *err)
{
	static const char *const names[] = DYNLIB_NAMES(SOLV_FUNCS);
	static const char *const ext_names[] = DYNLIB_NAMES(SOLVEXT_FUNCS);
	if (!api.pool_create && dynlib_load("libsolv.so.1", names, sizeof names / sizeof *names, &api, err) < 0)
		return -1;
	if (!ext.repo_add_debpackages &&
	    dynlib_load("libsolvext.so.1", ext_names, sizeof ext_names / sizeof *ext_names, &ext, err) < 0)
		return -1;
	return 0;
}

static Pool *new_pool(struct err *err)
{
	if (load(err) < 0)
		return NULL;
	Pool *pool = api.pool_create();
	api.pool_setdisttype(pool, DISTTYPE_DEB);
	api.pool_setarch(pool, "amd64");
	return pool;
}

static int read_files(Pool *pool, const struct str_list *files, struct err *err)
{
	Repo *repo = api.repo_create(pool, "debian");
	for (size_t i = 0; i < files->count; i++) {
		FILE *f = fopen(files->items[i], "re");
		if (!f)
			return err_sys(err, "can't open %s", files->items[i]);
		int rc = ext.repo_add_debpackages(repo, f, 0);
		fclose(f);
		if (rc != 0)
			return err_set(err, ERR_INPUT, "%s: %s", files->items[i], api.pool_errstr(pool));
	}
	return 0;
}

static bool has_package(const Pool *pool, Id name)
{
	for (Id i = 2; name && i < pool->nsolvables; i++)
		if (pool->solvables[i].repo && pool->solvables[i].name == name)
			return true;
	return false;
}

static int unknown_package(Pool *pool, const char *wanted, struct err *err)
{
	const char **names = mem_alloc((size_t)pool->nsolvables * sizeof *names);
	size_t count = 0;
	for (Id i = 2; i < pool->nsolvables; i++)
		if (pool->solvables[i].repo)
			names[count++] = api.pool_id2str(pool, pool->solvables[i].name);
	const char *nearest = str_nearest(wanted, names, count);
	err_set(err, ERR_INPUT, "there is no package \"%s\"%s%s%s", wanted, nearest ? " (is \"" : "",
		nearest ? nearest : "", nearest ? "\" meant?)" : "");
	free(names);
	return -1;
}

static struct json *package_entry(Pool *pool, Solvable *s, struct err *err)
{
	Id type = 0;
	const char *hash = api.solvable_lookup_checksum(s, SOLVABLE_CHECKSUM, &type);
	const char *path = api.solvable_lookup_location(s, NULL);
	const char *name = api.pool_id2str(pool, s->name);
	if (!hash || type != REPOKEY_TYPE_SHA256 || !path) {
		err_set(err, ERR_INPUT, "package %s lacks its SHA256 or Filename", name);
		return NULL;
	}
	struct json *e = json_new_obj();
	json_set_str(e, "package", name);
	json_set_str(e, "version", api.pool_id2str(pool, s->evr));
	json_set_str(e, "sha256", hash);
	json_set_str(e, "path", path);
	return e;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(json_get_str(*(struct json *const *)a, "package"), json_get_str(*(struct json *const *)b, "package"));
}

/* The packages that the solver decided to install, sorted by name. */
static struct json *collect(Pool *pool, Solver *solver, struct err *err)
{
	Transaction *t = api.solver_create_transaction(solver);
	struct json **entries = mem_alloc(((size_t)t->steps.count + 1) * sizeof *entries);
	struct json *out = json_new_arr();
	size_t count = 0;
	for (int i = 0; i < t->steps.count && out; i++) {
		entries[count] = package_entry(pool, &pool->solvables[t->steps.elements[i]], err);
		if (entries[count]) {
			count++;
			continue;
		}
		json_free(out);
		out = NULL;
	}
	qsort(entries, count, sizeof *entries, by_name);
	for (size_t i = 0; i < count; i++) {
		if (out)
			json_push(out, entries[i]);
		else
			json_free(entries[i]);
	}
	free(entries);
	api.transaction_free(t);
	return out;
}

static int add_jobs(Pool *pool, const struct str_list *wanted, Queue *jobs, struct err *err)
{
	for (size_t i = 0; i < wanted->count; i++) {
		Id name = api.pool_str2id(pool, wanted->items[i], 0);
		Id job[2] = { SOLVER_INSTALL | SOLVER_SOLVABLE_NAME, name };
		if (!has_package(pool, name))
			return unknown_package(pool, wanted->items[i], err);
		api.queue_insertn(jobs, jobs->count, 2, job);
	}
	return 0;
}

static struct json *solve(Pool *pool, const struct str_list *wanted, struct err *err)
{
	struct json *out = NULL;
	Queue jobs;
	api.pool_createwhatprovides(pool);
	api.queue_init(&jobs);
	Solver *solver = api.solver_create(pool);
	api.solver_set_flag(solver, SOLVER_FLAG_IGNORE_RECOMMENDED, 1);
	if (add_jobs(pool, wanted, &jobs, err) == 0) {
		if (api.solver_solve(solver, &jobs) != 0)
			err_set(err, ERR_INPUT, "these packages don't go together: %s", api.solver_problem2str(solver, 1));
		else
			out = collect(pool, solver, err);
	}
	api.solver_free(solver);
	api.queue_free(&jobs);
	return out;
}

/* The newest of its name that this architecture can have; NULL: none. */
static Solvable *newest(Pool *pool, Id name)
{
	Solvable *best = NULL;
	for (Id i = 2; i < pool->nsolvables; i++) {
		Solvable *s = &pool->solvables[i];
		bool fits = s->repo && s->name == name && pool->id2arch && s->arch <= pool->lastarch && pool->id2arch[s->arch];
		if (fits && (!best || api.pool_evrcmp_str(pool, api.pool_id2str(pool, s->evr), api.pool_id2str(pool, best->evr),
				EVRCMP_COMPARE) > 0))
			best = s;
	}
	return best;
}

/* Each wanted package alone; wanted is sorted. */
static struct json *pick(Pool *pool, const struct str_list *wanted, struct err *err)
{
	struct json *out = json_new_arr();
	for (size_t i = 0; i < wanted->count; i++) {
		Id name = api.pool_str2id(pool, wanted->items[i], 0);
		Solvable *s = name ? newest(pool, name) : NULL;
		struct json *entry = s ? package_entry(pool, s, err) : NULL;
		if (entry) {
			json_push(out, entry);
			continue;
		}
		if (!s)
			unknown_package(pool, wanted->items[i], err);
		json_free(out);
		return NULL;
	}
	return out;
}

struct task {
	const struct str_list *files, *wanted;
	bool deps;
};

/* In the child. */
static int work(void *ctx, struct buf *out, struct err *err)
{
	const struct task *t = ctx;
	Pool *pool = new_pool(err);
	if (!pool)
		return -1;
	_cleanup_json_ struct json *answer = read_files(pool, t->files, err) < 0 ? NULL
		: t->deps ? solve(pool, t->wanted, err) : pick(pool, t->wanted, err);
	api.pool_free(pool);
	if (!answer || packages_fill(t->files, answer, err) < 0)
		return -1;
	json_write(answer, 0, out);
	return 0;
}

static int read_all(int fd, struct buf *out, struct err *err)
{
	for (;;) {
		ssize_t n = read(fd, buf_grow(out, 65536), 65536);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? err_sys(err, "can't read the solver's answer") : 0;
		out->len += (size_t)n;
	}
}

struct json *solve_debian(const struct str_list *files, const struct str_list *wanted, bool deps, struct err *err)
{
	struct task t = { files, wanted, deps };
	_cleanup_buf_ struct buf raw = BUF_INIT, answer = BUF_INIT;
	struct proc_result result;
	int fd = -1;
	pid_t pid = proc_worker(work, &t, &fd, err);
	if (pid < 0)
		return NULL;
	int rc = read_all(fd, &raw, err);
	close(fd);
	if (proc_wait(pid, &result, err) < 0 || rc < 0 ||
	    proc_worker_result(&raw, result.status, &answer, err) < 0)
		return NULL;
	return json_parse(buf_slice(&answer), 64u << 20, err);
}

int solve_compare(const char *a, const char *b, int *order, struct err *err)
{
	/* white space around a field's value is not part of it */
	struct slice sa = slice_trim(slice_of(a)), sb = slice_trim(slice_of(b));
	_cleanup_free_ char *ta = mem_dup_n(sa.p, sa.n), *tb = mem_dup_n(sb.p, sb.n);
	Pool *pool = new_pool(err);
	if (!pool)
		return -1;
	*order = api.pool_evrcmp_str(pool, ta, tb, EVRCMP_COMPARE);
	api.pool_free(pool);
	return 0;
}
