#include "build/compile_action.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build/compile_impl.h"
#include "build/compile_trace.h"
#include "build/memory.h"
#include "core/fs.h"
#include "trace/proto.h"

#define TEXTS_MS 600000                /* a pipe in the place of a header must not hold a slot for ever */
#define FILE_MAX (4ull << 30)          /* bytes of a file that a compiler may write */
#define PROCESSES_MAX 1024
#define TRACER "/forge/trace.so"
#define BINDS_MAX 8

static char *physical(const struct compile_action *a, const char *below)
{
	return mem_printf("%s/tmp/%s%s", store_folder(a->pool->o.s), a->scratch, below);
}

char *action_out(const struct compile_action *a)
{
	return physical(a, COMPILE_OUT);
}

int action_open_out(const struct compile_action *a, struct err *err)
{
	_cleanup_free_ char *scratch = physical(a, "");
	bool missing = false;
	int out = sandbox_open_result(scratch, COMPILE_OUT, &missing, err);
	return missing ? err_set(err, ERR_INPUT, "the compiler left nothing") : out;
}

int action_open_messages(const struct compile_action *a, struct err *err)
{
	return fs_open_beneath(store_tmp_fd(a->pool->o.s), a->scratch, O_RDONLY | O_DIRECTORY, 0, err);
}

static void remove_scratch(struct compile_action *a)
{
	if (!a->scratch)
		return;
	_cleanup_free_ char *path = physical(a, "");
	sandbox_scratch_remove(path, NULL); /* what is left is taken when the store is next opened */
	mem_free_ptr(&a->scratch);
}

static void take_slot(struct compile_action *a)
{
	a->slot = true;
	a->pool->running++;
	a->pool->memory += a->expected;
	a->pool->alone += a->alone;
	queue_watch(a->pool);
	if (!a->began_ms)
		a->began_ms = loop_date();
}

void action_release(struct compile_action *a)
{
	if (!a->slot)
		return;
	a->slot = false;
	a->pool->running--;
	a->pool->memory -= a->expected;
	a->pool->alone -= a->alone;
	queue_changed(a->pool);
}

struct compile_action *action_new(struct compile_service *v, const struct action_spec *spec)
{
	struct compile_action *a = mem_alloc(sizeof *a);
	*a = (struct compile_action){ .pool = v->pool, .service = v, .o = *spec };
	v->refs++;
	queue_expect(a);
	*list_push(&a->pool->actions) = a;
	queue_changed(a->pool);
	return a;
}

static void forget(struct compile_action *a)
{
	struct compile_pool *p = a->pool;
	for (size_t i = 0; i < p->actions.count; i++)
		if (p->actions.items[i] == a)
			p->actions.items[i] = p->actions.items[--p->actions.count];
	action_release(a);
	remove_scratch(a);
	service_unref(a->service);
	free(a);
	queue_changed(p);
}

void action_free(struct compile_action *a)
{
	if (!a)
		return;
	a->cancelled = true;
	if (a->sandbox)
		sandbox_kill(a->sandbox);
	else
		forget(a);
}

static void over(struct compile_action *a, const char *why)
{
	a->state = ACTION_ENDED;
	a->o.ended(a->o.ctx, why);
}

/* --memory is what is shared out: with nobody to share with, one may have all that the machine can give. */
static uint64_t memory_ceiling(const struct compile_action *a)
{
	uint64_t own = a->service->view.memory, shared = a->pool->o.memory;
	uint64_t all = a->alone ? memory_available() : 0;
	uint64_t ceiling = all > shared ? all : shared;
	return own && own < ceiling ? own : ceiling;
}

/* It made room for others, or was killed for memory: again, and in the latter case alone. */
static bool run_again(struct compile_action *a, const struct sandbox_result *r)
{
	bool killed = r->end == SANDBOX_MEMORY ||
		(r->end == SANDBOX_EXITED && WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGKILL);
	if (!a->yields && (!killed || a->alone))
		return false;
	if (r->end == SANDBOX_MEMORY && !a->yields && memory_ceiling(a) == a->pool->o.memory)
		event_warn(a->pool->o.events, "%s: its compile needs more than there is for all (%llu MiB, --memory): it runs again, "
			"alone, with what the machine has", a->o.name, (unsigned long long)(a->pool->o.memory >> 20));
	bool alone = !a->yields;
	remove_scratch(a);
	action_release(a);
	queue_again(a);
	a->alone = a->alone || alone; /* once its slot is given back: these are counted */
	return true;
}

static char *describe(const struct sandbox_result *r)
{
	switch (r->end) {
	case SANDBOX_EXITED: return proc_describe(r->status);
	case SANDBOX_TIMEOUT: return mem_dup("took too long");
	case SANDBOX_MEMORY: return mem_dup("needs more memory than there is for it");
	case SANDBOX_PROCESSES: return mem_dup("hit its ceiling of processes");
	case SANDBOX_KILLED: return mem_dup("was stopped");
	case SANDBOX_SETUP: return mem_printf("could not start: %s", r->err.msg ? r->err.msg : "the sandbox was refused");
	}
	return mem_dup("ended in an unknown way");
}

/* The build runs it now, under the build's own ceiling if it has one. */
static void warn_of_memory(const struct compile_action *a, const struct sandbox_result *r)
{
	if (r->end == SANDBOX_MEMORY && !a->service->view.memory)
		event_warn(a->pool->o.events, "%s: its compile needs more memory than the machine has (%llu MiB, with nothing "
			"else at work); it is run in place", a->o.name, (unsigned long long)(r->peak_memory >> 20));
}

static void ended(void *ctx, const struct sandbox_result *r)
{
	struct compile_action *a = ctx;
	const struct timeval *u = &r->usage.ru_utime, *k = &r->usage.ru_stime;
	a->sandbox = NULL;
	a->cpu_ms += (int64_t)(u->tv_sec + k->tv_sec) * 1000 + (u->tv_usec + k->tv_usec) / 1000;
	if (r->peak_memory > a->peak_memory)
		a->peak_memory = r->peak_memory;
	queue_learn(a);
	bool good = r->end == SANDBOX_EXITED && WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0;
	if (a->cancelled) {
		forget(a);
	} else if (good) {
		over(a, NULL);
	} else if (!run_again(a, r)) {
		static const char *const runs[] = { [ACTION_TEXTS] = "run of the preprocessor", [ACTION_CUDAFE] = "run of cudafe++",
			[ACTION_CICC] = "run of cicc", [ACTION_PTXAS] = "run of ptxas" };
		_cleanup_free_ char *how = describe(r);
		warn_of_memory(a, r);
		const char *run = a->o.kind < sizeof runs / sizeof *runs && runs[a->o.kind] ? runs[a->o.kind] : "compile";
		_cleanup_free_ char *why = mem_printf("forge's own %s %s", run, how);
		over(a, why);
	}
}

static int open_message(int scratch, const char *name, struct err *err)
{
	int fd = openat(scratch, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	return fd < 0 ? err_sys(err, "can't create the compiler's %s", name) : fd;
}

int tracer_write(struct compile_pool *p, struct err *err)
{
	if (p->tracer)
		return 0;
	free(p->tracer_name); /* of an attempt that failed */
	p->tracer_name = store_tmp_name(p->o.s, "trace", err);
	if (!p->tracer_name || compile_trace_write(store_tmp_fd(p->o.s), p->tracer_name, err) < 0)
		return -1;
	p->tracer = mem_printf("%s/tmp/%s", store_folder(p->o.s), p->tracer_name);
	return 0;
}

void tracer_remove(struct compile_pool *p)
{
	if (p->tracer)
		unlinkat(store_tmp_fd(p->o.s), p->tracer_name, 0);
	free(p->tracer_name);
	free(p->tracer);
}

/* Its own binds and words, and the tracer's. */
struct given {
	struct sandbox_bind binds[BINDS_MAX];
	size_t bind_count;
	struct str_list env;
};

static void give(const struct compile_action *a, struct given *g)
{
	for (size_t i = 0; i < a->o.bind_count; i++)
		g->binds[g->bind_count++] = a->o.binds[i];
	for (char *const *text = a->o.env; *text; text++)
		str_list_add(&g->env, *text);
	if (a->o.traced) {
		g->binds[g->bind_count++] = (struct sandbox_bind){ a->pool->tracer, TRACER };
		str_list_add(&g->env, "LD_PRELOAD=" TRACER);
		str_list_add(&g->env, TRACE_ENV "=" COMPILE_OUT "/" ACTION_TRACE);
		str_list_add(&g->env, TRACE_ENV_ROOTS "=/build:/env");
		str_list_take(&g->env, mem_printf("%s=%d", TRACE_ENV_TIME, ACTION_SOURCE_TIME));
	}
	str_list_take(&g->env, NULL);
}

static int start_sandbox(struct compile_action *a, int out, int messages, struct err *err)
{
	const struct compile_view *v = &a->service->view;
	_cleanup_free_ char *scratch = physical(a, "");
	struct given g = { 0 };
	give(a, &g);
	struct sandbox_spec spec = {
		.scratch = scratch, .build_from = a->o.build ? a->o.build : v->build, .builder = a->o.build ? 0 : a->service->builder,
		.out = true, .mounts = v->mounts, .mount_count = v->mount_count, .files = v->files, .file_count = v->file_count,
		.binds = g.binds, .bind_count = g.bind_count, .argv = (const char *const *)a->o.argv,
		.env = (const char *const *)g.env.items, .cwd = a->o.cwd, .log_fd = out, .err_fd = messages,
		.timeout_ms = a->o.kind == ACTION_TEXTS ? TEXTS_MS : v->timeout_ms, .memory = memory_ceiling(a),
		.processes = PROCESSES_MAX, .file_size = FILE_MAX, .openat2 = a->o.traced,
		.no_loopback = true,
	};
	a->sandbox = sandbox_start(a->pool->o.loop, &spec, ended, a, err);
	str_list_free(&g.env);
	a->since = loop_now();
	return a->sandbox ? 0 : -1;
}

static int run(struct compile_action *a, struct err *err)
{
	int tmp = store_tmp_fd(a->pool->o.s);
	a->scratch = store_tmp_name(a->pool->o.s, "run", err);
	if (!a->scratch)
		return -1;
	if (mkdirat(tmp, a->scratch, 0700) < 0)
		return err_sys(err, "can't make a folder for a compile");
	_cleanup_close_ int scratch = action_open_messages(a, err);
	_cleanup_close_ int out = scratch < 0 ? -1 : open_message(scratch, "stdout", err);
	_cleanup_close_ int messages = out < 0 ? -1 : open_message(scratch, "stderr", err);
	return messages < 0 ? -1 : start_sandbox(a, out, messages, err);
}

void action_start(struct compile_action *a)
{
	_cleanup_err_ struct err err = { 0 };
	take_slot(a);
	a->state = ACTION_RUNNING;
	if (a->o.kind == ACTION_PLACED)
		over(a, NULL);
	else if (run(a, &err) < 0)
		over(a, err.msg);
}
