/* The sandboxes and workers that a compile goes through. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "build/compile_impl.h"
#include "core/fs.h"

#define PREPROCESS_MS 600000           /* a pipe in the place of a header must not hold a slot for ever */
#define FILE_MAX (4ull << 30)          /* bytes of a file that a compiler may write */
#define PROCESSES_MAX 1024

/* The pair of files that take a sandbox's stdout and stderr, beside what it sees of its scratch folder. */
struct messages {
	int out, err;
};

static int open_message(int scratch, const char *name, struct err *err)
{
	int fd = openat(scratch, name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
	return fd < 0 ? err_sys(err, "can't create the compiler's %s", name) : fd;
}

static char *physical(const struct compile_action *a, const char *name)
{
	return mem_printf("%s/tmp/%s", store_folder(a->pool->o.s), name);
}

static void remove_named(struct compile_action *a, char **name)
{
	if (!*name)
		return;
	_cleanup_free_ char *path = physical(a, *name);
	sandbox_scratch_remove(path, NULL); /* what is left is taken when the store is next opened */
	mem_free_ptr(name);
}

void run_clean(struct compile_action *a)
{
	remove_named(a, &a->scratch);
	remove_named(a, &a->copy);
	remove_named(a, &a->made);
}

static void go_on(struct compile_action *a, enum action_step next)
{
	a->next = next;
	action_start(a);
}

/* The worker's answer: the key, and the files of the build that there are, each with its NUL. */
static int read_key(const struct buf *answer, struct hash *key, struct str_list *inputs, struct err *err)
{
	if (answer->len < HASH_SIZE || (answer->len > HASH_SIZE && answer->data[answer->len - 1]))
		return err_set(err, ERR_FAIL, "a worker's answer is cut off");
	memcpy(key->bytes, answer->data, HASH_SIZE);
	for (size_t at = HASH_SIZE; at < answer->len; at += strlen(answer->data + at) + 1)
		str_list_add(inputs, answer->data + at);
	return 0;
}

static void key_read(void *ctx, int rc, struct buf *answer, const struct proc_result *result, struct err *err)
{
	struct compile_action *a = ctx;
	struct hash key;
	_cleanup_str_list_ struct str_list inputs = STR_LIST_INIT;
	if (rc == 0)
		rc = read_key(answer, &key, &inputs, err);
	if (a->dropped || rc < 0) {
		action_failed(a, rc < 0 ? err->msg : "");
		return;
	}
	remove_named(a, &a->scratch);
	if (a->next == STEP_CHECK) {
		if (hash_eq(&key, &a->key))
			go_on(a, STEP_COMPILE);
		else
			action_failed(a, "its files changed just now, or it asks which files there are");
		return;
	}
	struct str_list old = a->inputs;
	a->inputs = inputs;
	inputs = old;
	a->key = key;
	action_key_made(a);
}

static void result_taken(void *ctx, int rc, struct buf *answer, const struct proc_result *result, struct err *err)
{
	struct compile_action *a = ctx;
	struct store_prepared made = { 0 };
	if (rc == 0)
		rc = store_prepared_read((struct slice){ answer->data, answer->len }, &made, err);
	if (rc < 0) {
		action_failed(a, err->msg);
		return;
	}
	_cleanup_free_ char *path = mem_dup(made.path);
	mem_free_ptr(&a->made); /* it is the commit's now */
	result_keep(a, &made);
	action_made(a, path);
}

static int read_texts(void *ctx, struct buf *out, struct err *err)
{
	struct compile_action *a = ctx;
	_cleanup_free_ char *copy = a->next == STEP_CHECK ? physical(a, a->copy) : NULL;
	return compile_read_key(a, copy ? copy : a->service->view.build, out, err);
}

static int take_result(void *ctx, struct buf *out, struct err *err)
{
	return compile_take_result(ctx, out, err);
}

static int start_worker(struct compile_action *a, struct err *err)
{
	struct loop *loop = a->pool->o.loop;
	if (a->next != STEP_COMPILE)
		return loop_worker(loop, read_texts, a, key_read, a, NULL, err);
	a->made = store_tmp_name(a->pool->o.s, "compile", err);
	return a->made ? loop_worker(loop, take_result, a, result_taken, a, NULL, err) : -1;
}

/* It made room for others, or was killed for memory while others ran: again, and in the latter case alone. */
static bool run_again(struct compile_action *a, const struct sandbox_result *r)
{
	bool killed = r->end == SANDBOX_MEMORY ||
		(r->end == SANDBOX_EXITED && WIFSIGNALED(r->status) && WTERMSIG(r->status) == SIGKILL);
	if (!a->yields && (!killed || a->alone))
		return false;
	bool alone = !a->yields;
	remove_named(a, &a->scratch);
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
	if (r->end == SANDBOX_MEMORY)
		event_warn(a->pool->o.events, "%s: its compile alone needs more memory than there is for all (%llu MiB, --memory); "
			"it is run in place", a->name, (unsigned long long)(a->pool->o.memory >> 20));
}

static void ended(void *ctx, const struct sandbox_result *r)
{
	struct compile_action *a = ctx;
	const struct timeval *u = &r->usage.ru_utime, *k = &r->usage.ru_stime;
	_cleanup_err_ struct err err = { 0 };
	a->sandbox = NULL;
	a->cpu_ms += (int64_t)(u->tv_sec + k->tv_sec) * 1000 + (u->tv_usec + k->tv_usec) / 1000;
	if (r->peak_memory > a->peak_memory)
		a->peak_memory = r->peak_memory;
	queue_learn(a);
	bool good = r->end == SANDBOX_EXITED && WIFEXITED(r->status) && WEXITSTATUS(r->status) == 0;
	if (a->dropped) {
		action_failed(a, "");
	} else if (!good && !run_again(a, r)) {
		_cleanup_free_ char *how = describe(r);
		warn_of_memory(a, r);
		_cleanup_free_ char *why = mem_printf("forge's own %s %s",
			a->next == STEP_COMPILE ? "compile" : "run of the preprocessor", how);
		action_failed(a, why);
	} else if (good && start_worker(a, &err) < 0) {
		action_failed(a, err.msg);
	}
}

static int start_sandbox(struct compile_action *a, const struct messages *m, struct err *err)
{
	const struct compile_view *v = &a->service->view;
	const struct compile_command *c = &a->command;
	bool compile = a->next == STEP_COMPILE;
	_cleanup_free_ char *scratch = physical(a, a->scratch);
	_cleanup_free_ char *copy = a->copy ? physical(a, a->copy) : NULL;
	struct sandbox_spec spec = {
		.scratch = scratch, .build_from = copy ? copy : v->build, .builder = copy ? 0 : a->service->builder, .out = true,
		.mounts = v->mounts, .mount_count = v->mount_count, .files = v->files, .file_count = v->file_count,
		.argv = (const char *const *)(compile ? c->compile.items : c->preprocess.items),
		.env = (const char *const *)c->env.items, .cwd = c->cwd, .log_fd = m->out, .err_fd = m->err,
		.timeout_ms = compile ? v->timeout_ms : PREPROCESS_MS, .memory = a->pool->o.memory, .processes = PROCESSES_MAX,
		.file_size = FILE_MAX,
	};
	a->sandbox = sandbox_start(a->pool->o.loop, &spec, ended, a, err);
	a->since = loop_now();
	return a->sandbox ? 0 : -1;
}

int run_sandbox(struct compile_action *a, enum action_step step, struct err *err)
{
	a->next = step;
	int tmp = store_tmp_fd(a->pool->o.s);
	a->scratch = store_tmp_name(a->pool->o.s, "run", err);
	if (!a->scratch)
		return -1;
	if (mkdirat(tmp, a->scratch, 0700) < 0)
		return err_sys(err, "can't make a folder for a compile");
	_cleanup_close_ int scratch = fs_open_beneath(tmp, a->scratch, O_RDONLY | O_DIRECTORY, 0, err);
	_cleanup_close_ int out = scratch < 0 ? -1 : open_message(scratch, "stdout", err);
	_cleanup_close_ int messages = out < 0 ? -1 : open_message(scratch, "stderr", err);
	if (messages < 0)
		return -1;
	return start_sandbox(a, &(struct messages){ out, messages }, err);
}

static int copy_inputs(void *ctx, struct buf *out, struct err *err)
{
	return compile_copy_inputs(ctx, err);
}

static void copied(void *ctx, int rc, struct buf *answer, const struct proc_result *result, struct err *err)
{
	struct compile_action *a = ctx;
	if (a->dropped || rc < 0)
		action_failed(a, rc < 0 ? err->msg : "");
	else
		go_on(a, STEP_CHECK);
}

int run_copy(struct compile_action *a, struct err *err)
{
	remove_named(a, &a->copy);
	a->copy = store_tmp_name(a->pool->o.s, "copy", err);
	return a->copy ? loop_worker(a->pool->o.loop, copy_inputs, a, copied, a, NULL, err) : -1;
}
