/* One request of a shim, on its way to the answer: what compile_ask.c has begun. */
#include <stdlib.h>
#include <string.h>

#include "build/compile_impl.h"
#include "core/fs.h"

static void remove_named(struct compile_call *c, char **name)
{
	if (*name)
		fs_remove_tree(store_tmp_fd(c->pool->o.s), *name, NULL); /* what is left is taken when the store is next opened */
	mem_free_ptr(name);
}

static void call_free(struct compile_call *c)
{
	struct compile_pool *p = c->pool;
	struct compile_service *v = c->service;
	claim_drop(&c->claim);
	action_free(c->action);
	compile_client_free(c->client);
	nvcc_free(c);
	remove_named(c, &c->stage);
	remove_named(c, &c->made);
	compile_command_free(&c->command);
	buf_free(&c->manifest);
	free(c->name);
	free(c->why);
	for (size_t i = 0; i < p->calls.count; i++)
		if (p->calls.items[i] == c)
			p->calls.items[i] = p->calls.items[--p->calls.count];
	free(c);
	service_lost_call(v);
	service_unref(v);
	queue_changed(p);
}

bool call_is_open(const struct compile_call *c)
{
	return !c->dropped && c->state == CALL_OPEN;
}

/* What it took is not needed any more, whatever it waits for now. */
static void clean(struct compile_call *c)
{
	claim_drop(&c->claim);
	action_free(steal_ptr(c->action));
	nvcc_free(c);
	remove_named(c, &c->stage);
}

/* Its request is about to be answered, or nobody waits for that any more. */
static void close_call(struct compile_call *c, enum call_state state)
{
	bool was_open = c->state == CALL_OPEN;
	c->state = state;
	if (!was_open)
		return;
	c->service->done++;
	c->service->left_ms -= c->known_ms < c->service->left_ms ? c->known_ms : c->service->left_ms;
	service_tell(c->service);
}

void call_drop(struct compile_call *c)
{
	if (c->dropped)
		return;
	close_call(c, CALL_ANSWERED);
	c->dropped = true;
	compile_client_free(steal_ptr(c->client));
	clean(c);
	if (c->workers == 0)
		call_free(c);
}

/* It has its share of the limits: the shim runs it. */
static void run_in_place(void *ctx, const char *why)
{
	struct compile_call *c = ctx;
	_cleanup_free_ char *note = mem_printf("in place: %s", c->why);
	queue_record_call(c, note, NULL);
	close_call(c, CALL_PLACED);
	compile_client_run(c->client, c->why);
}

struct compile_action *call_action(struct compile_call *c, struct action_spec spec)
{
	if (!spec.name)
		spec.name = c->name;
	spec.number = c->number;
	spec.whole_ms = c->known_ms ? c->known_ms : c->reckoned_ms;
	spec.cwd = c->command.cwd;
	return action_new(c->service, &spec);
}

void call_queue_place(struct compile_call *c)
{
	c->placing = true;
	c->action = call_action(c, (struct action_spec){ .kind = ACTION_PLACED, .ended = run_in_place, .ctx = c });
}

void call_place(struct compile_call *c, const char *why)
{
	if (c->state != CALL_OPEN || c->dropped || c->placing)
		return;
	free(c->why);
	c->why = mem_dup(why);
	clean(c);
	call_queue_place(c);
}

void call_count(struct compile_call *c, const struct compile_action *a)
{
	if (!c->ran && a->began_ms)
		c->began_ms = a->began_ms; /* until now it waited for its turn */
	c->ran = true;
	c->cpu_ms += a->cpu_ms;
	if (a->peak_memory > c->peak_memory)
		c->peak_memory = a->peak_memory;
}

static void answer(struct compile_call *c, int folder, const char *note, const char *path)
{
	_cleanup_err_ struct err err = { 0 };
	if (result_send(c, folder, &err) < 0) {
		call_place(c, err.msg);
		return;
	}
	queue_record_call(c, note, path);
	c->service->hits += strcmp(note, "hit") == 0;
	close_call(c, CALL_ANSWERED);
	clean(c);
}

bool call_answer(struct compile_call *c, const struct hash *key, const char *note)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_err_ struct err err = { 0 };
	_cleanup_close_ int folder = result_find(c->pool, key, &path, &err);
	if (folder >= 0)
		answer(c, folder, note, path);
	else if (err.code != ERR_NONE)
		call_place(c, err.msg);
	return folder >= 0 || err.code != ERR_NONE;
}

void call_made(struct compile_call *c, struct store_prepared *made, const struct hash *key, const char *note)
{
	struct compile_made m = { .key = { *key }, .key_count = made ? 1 : 0, .command = c->id, .lock = c->claim.lock };
	c->claim.lock = -1; /* the commit's now */
	if (made) {
		m.made = *made;
		m.has_made = true;
		mem_free_ptr(&c->made);
	}
	m.manifest = c->manifest;
	c->manifest = (struct buf)BUF_INIT;
	result_keep(c->pool, &m);
	if (!call_answer(c, key, note))
		call_place(c, "its result is gone");
}

/* A worker's end comes to the call, or, if that was dropped meanwhile, ends it. */
struct work {
	struct compile_call *call;
	call_worker_fn *done;
	void *arg;
};

static void worked(void *ctx, int rc, struct buf *data, const struct proc_result *result, struct err *err)
{
	struct work work = *(struct work *)ctx;
	struct compile_call *c = work.call;
	free(ctx);
	c->workers--;
	if (!c->dropped && !c->placing && c->state == CALL_OPEN)
		work.done(work.arg, rc, data, err);
	else if (c->dropped && c->workers == 0)
		call_free(c);
}

void call_worker(struct compile_call *c, proc_worker_fn *fn, void *arg, call_worker_fn *done)
{
	struct work *work = mem_alloc(sizeof *work);
	_cleanup_err_ struct err err = { 0 };
	*work = (struct work){ c, done, arg };
	c->workers++;
	if (loop_worker(c->pool->o.loop, fn, arg, worked, work, NULL, &err) == 0)
		return;
	c->workers--;
	free(work);
	call_place(c, err.msg);
}
