/* One compile, from the request to the answer. */
#include <stdlib.h>
#include <string.h>

#include "build/compile_impl.h"
#include "core/fs.h"
#include "shim/proto.h"

#define LOCK_RETRY_MS 100

static void action_free(struct compile_action *a)
{
	struct compile_pool *p = a->pool;
	struct compile_service *v = a->service;
	queue_release(a);
	loop_timer_del(p->o.loop, a->retry);
	compile_client_free(a->client);
	run_clean(a);
	fs_close_ptr(&a->lock);
	compile_command_free(&a->command);
	str_list_free(&a->inputs);
	free(a->name);
	free(a->why);
	for (size_t i = 0; i < p->actions.count; i++)
		if (p->actions.items[i] == a)
			p->actions.items[i] = p->actions.items[--p->actions.count];
	free(a);
	service_lost_action(v);
	queue_changed(p);
}

bool action_is_open(const struct compile_action *a)
{
	return !a->dropped && a->state != ACTION_READING && a->state != ACTION_PLACED && a->state != ACTION_ANSWERED;
}

/* Its request is about to be answered, or nobody waits for that any more. */
static void no_longer_open(struct compile_action *a)
{
	if (!action_is_open(a))
		return;
	a->service->done++;
	service_tell(a->service);
}

/* Those that wait for the result that `a` was to make. */
static struct compile_action *next_follower(const struct compile_action *a)
{
	for (size_t i = 0; i < a->pool->actions.count; i++) {
		struct compile_action *f = a->pool->actions.items[i];
		if (f->state == ACTION_FOLLOWS && hash_eq(&f->key, &a->key))
			return f;
	}
	return NULL;
}

/* One of them makes it now, from its own files; the others then follow that one. */
static void let_followers_go(struct compile_action *a)
{
	struct compile_action *f;
	if (!a->taken)
		return;
	a->taken = false;
	while ((f = next_follower(a)) != NULL)
		queue_add(f, STEP_PREPROCESS);
}

void action_drop(struct compile_action *a)
{
	if (a->dropped)
		return;
	no_longer_open(a);
	a->dropped = true;
	compile_client_free(steal_ptr(a->client));
	let_followers_go(a);
	if (a->state != ACTION_WORKING)
		action_free(a);
	else if (a->sandbox)
		sandbox_kill(a->sandbox);
	/* else a worker is at it, which ends by itself */
}

static void client_ended(void *ctx)
{
	action_drop(ctx);
}

void action_place(struct compile_action *a, const char *why)
{
	let_followers_go(a);
	run_clean(a);
	fs_close_ptr(&a->lock);
	queue_take_slot(a);
	_cleanup_free_ char *note = mem_printf("in place: %s", why);
	queue_record(a, note, NULL);
	no_longer_open(a);
	a->state = ACTION_PLACED;
	compile_client_run(a->client, why);
}

void action_failed(struct compile_action *a, const char *why)
{
	struct compile_action *f;
	if (a->dropped) {
		action_free(a);
		return;
	}
	/* The compiler would say the same to each: let it. */
	while (a->taken && (f = next_follower(a)) != NULL)
		action_place(f, why);
	action_place(a, why);
}

static void answer(struct compile_action *a, int folder, const char *note, const char *path)
{
	_cleanup_err_ struct err err = { 0 };
	if (result_send(a, folder, &err) < 0) {
		action_place(a, err.msg);
		return;
	}
	queue_record(a, note, path);
	a->service->hits += strcmp(note, "hit") == 0;
	no_longer_open(a);
	a->state = ACTION_ANSWERED;
	queue_release(a);
	run_clean(a);
	fs_close_ptr(&a->lock);
}

bool action_has_result(struct compile_action *a)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_err_ struct err err = { 0 };
	_cleanup_close_ int folder = result_find(a->pool, &a->key, &path, &err);
	if (folder >= 0)
		answer(a, folder, "hit", path);
	else if (err.code != ERR_NONE)
		action_failed(a, err.msg);
	return folder >= 0 || err.code != ERR_NONE;
}

static struct compile_action *who_makes(const struct compile_action *a)
{
	for (size_t i = 0; i < a->pool->actions.count; i++) {
		struct compile_action *other = a->pool->actions.items[i];
		if (other != a && other->taken && hash_eq(&other->key, &a->key))
			return other;
	}
	return NULL;
}

static void try_lock(void *ctx);

/* Of several forge processes one makes it. */
static void take_key(struct compile_action *a)
{
	_cleanup_free_ char *hex = hash_hex(&a->key);
	_cleanup_free_ char *name = mem_printf("compile %s", hex);
	_cleanup_err_ struct err err = { 0 };
	bool busy = false;
	if (a->lock < 0)
		a->lock = store_lock(a->pool->o.s, name, false, &busy, &err);
	if (a->lock < 0 && busy) {
		queue_release(a);
		a->state = ACTION_LOCKED;
		a->retry = loop_timer(a->pool->o.loop, LOCK_RETRY_MS, try_lock, a);
	} else if (a->lock < 0) {
		action_failed(a, err.msg);
	} else if (!action_has_result(a)) { /* the other may have made it just now */
		a->taken = true;
		a->next = STEP_COPY;
		if (a->slot)
			action_start(a);
		else
			queue_add(a, STEP_COPY);
	}
}

static void try_lock(void *ctx)
{
	struct compile_action *a = ctx;
	a->retry = 0;
	if (!action_has_result(a))
		take_key(a);
}

void action_key_made(struct compile_action *a)
{
	if (action_has_result(a))
		return;
	if (who_makes(a)) {
		a->state = ACTION_FOLLOWS;
		queue_release(a);
	} else {
		take_key(a);
	}
}

void action_start(struct compile_action *a)
{
	_cleanup_err_ struct err err = { 0 };
	int rc = 0;
	a->state = ACTION_WORKING;
	if (a->next == STEP_PLACE)
		action_place(a, a->why);
	else if (a->next == STEP_COPY)
		rc = run_copy(a, &err);
	else
		rc = run_sandbox(a, a->next, &err);
	if (rc < 0)
		action_failed(a, err.msg);
}

void action_made(struct compile_action *a, const char *path)
{
	_cleanup_err_ struct err err = { 0 };
	struct compile_action *f;
	_cleanup_free_ char *found = NULL;
	_cleanup_close_ int folder = result_find(a->pool, &a->key, &found, &err);
	if (folder < 0) {
		action_failed(a, err.msg ? err.msg : "its result is gone");
		return;
	}
	while (a->taken && (f = next_follower(a)) != NULL)
		answer(f, folder, "hit", path);
	a->taken = false;
	if (a->dropped)
		action_free(a);
	else
		answer(a, folder, "miss", path);
}

static bool compiles(const struct compile_request *r)
{
	static const char *const words[] = { "-c", "--compile", "-dc", "--device-c", "-dw", "--device-w" };
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (str_list_has(&r->argv, words[i]))
			return true;
	return false;
}

/* Records go by the source as the build has it; a build's own folder is the same for all. */
static char *source_name(const struct compile_command *c)
{
	_cleanup_free_ char *path = c->source[0] == '/' ? mem_dup(c->source) : mem_printf("%s/%s", c->cwd, c->source);
	return mem_dup(str_starts(path, "/build/") ? path + strlen("/build/") : path);
}

static void refuse(struct compile_action *a)
{
	_cleanup_free_ char *line = mem_printf("forge: %s\n", a->command.why);
	compile_client_text(a->client, PROTO_STDERR, slice_of(line));
	compile_client_exit(a->client, 1);
	a->state = ACTION_ANSWERED;
}

static void asked(void *ctx, const uint8_t *request, size_t len)
{
	struct compile_action *a = ctx;
	struct compile_service *v = a->service;
	_cleanup_compile_request_ struct compile_request r = { 0 };
	if (compile_request_read(request, len, &r, NULL) < 0) {
		action_drop(a); /* the shim says that it was broken off */
		return;
	}
	compile_command_read(&r, &a->command);
	if (a->command.kind == COMPILE_REFUSED) {
		refuse(a);
	} else if (a->command.kind == COMPILE_IN_PLACE && !compiles(&r)) {
		compile_client_run(a->client, a->command.why); /* a link, a question: no work to queue for */
		a->state = ACTION_PLACED;
	} else {
		bool place = a->command.kind == COMPILE_IN_PLACE;
		a->name = place ? mem_dup(r.argv.items[r.argv.count - 1]) : source_name(&a->command);
		a->why = mem_dup(a->command.why);
		v->compiles++;
		queue_expect(a);
		queue_add(a, place ? STEP_PLACE : STEP_PREPROCESS);
		service_tell(v);
	}
}

struct compile_action *action_new(struct compile_service *v, int fd, struct err *err)
{
	struct compile_pool *p = v->pool;
	struct compile_action *a = mem_alloc(sizeof *a);
	*a = (struct compile_action){ .pool = p, .service = v, .number = p->asked++, .lock = -1 };
	a->client = compile_client_new(p->o.loop, fd, &v->held, asked, client_ended, a, err);
	if (!a->client) {
		free(a);
		return NULL;
	}
	*list_push(&p->actions) = a;
	return a;
}
