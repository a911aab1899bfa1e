/* The one queue of all builds' compiles, under the limits that they share with the builds. */
#include <string.h>

#include "build/compile_impl.h"
#include "build/memory.h"

#define SHORT_RETRY_MS 500         /* until it is looked again whether the machine has memory now */
#define WATCH_MS 250               /* how often it is looked what those that run use */

/* Bytes, of what was never seen and nothing like it. */
static const uint64_t guesses[] = {
	[ACTION_CC] = 512ull << 20, [ACTION_TEXTS] = 1ull << 30, [ACTION_CUDAFE] = 1ull << 30, [ACTION_CICC] = 2ull << 30,
	[ACTION_PTXAS] = 1ull << 30, [ACTION_HOST] = 1ull << 30, [ACTION_JOIN] = 1ull << 30, [ACTION_NVCC] = 2ull << 30,
	[ACTION_PLACED] = 1ull << 30,
};

struct compile_pool *compile_pool_new(const struct compile_pool_spec *spec)
{
	struct compile_pool *p = mem_alloc(sizeof *p);
	p->o = *spec;
	p->known = compile_known_new();
	return p;
}

void compile_pool_free(struct compile_pool *p)
{
	if (!p)
		return;
	result_commit(p);
	loop_timer_del(p->o.loop, p->pump_timer);
	loop_timer_del(p->o.loop, p->commit_timer);
	loop_timer_del(p->o.loop, p->watch_timer);
	list_free(&p->calls);
	list_free(&p->actions);
	list_free(&p->claims);
	list_free(&p->made);
	compile_known_free(p->known);
	tracer_remove(p);
	free(p);
}

void compile_pool_load(const struct compile_pool *p, unsigned *jobs, uint64_t *memory)
{
	*jobs = p->running;
	*memory = p->memory;
}

bool compile_pool_idle(const struct compile_pool *p)
{
	return p->calls.count == 0 && p->actions.count == 0;
}

static void pump_now(void *ctx)
{
	struct compile_pool *p = ctx;
	p->pump_timer = 0;
	compile_pool_pump(p);
	if (p->o.changed)
		p->o.changed(p->o.ctx);
}

static void pump_in(struct compile_pool *p, int64_t ms)
{
	loop_timer_del(p->o.loop, p->pump_timer);
	p->pump_timer = loop_timer(p->o.loop, ms, pump_now, p);
}

void queue_changed(struct compile_pool *p)
{
	pump_in(p, 0);
}

/* Of what was never seen: what its like has needed, or a guess. */
static uint64_t expect_like(const struct compile_action *a)
{
	uint64_t guess = guesses[a->o.kind], like = a->pool->like_memory[a->o.kind];
	return like > guess ? like : guess;
}

/* The records know a whole command by its source, and nvcc's long steps by names of their own: what its short steps
 * need is not known from those, but which of them are to go first is. */
void queue_expect(struct compile_action *a)
{
	enum action_kind kind = a->o.kind;
	bool whole = kind != ACTION_TEXTS && kind != ACTION_CUDAFE && kind != ACTION_HOST && kind != ACTION_JOIN;
	uint64_t bytes = 0;
	store_compile_last(a->pool->o.s, a->o.name, &a->known_ms, &bytes, NULL);
	a->expected = whole && bytes ? bytes : expect_like(a);
	a->alone = whole && bytes > a->pool->o.memory;
}

void queue_learn(const struct compile_action *a)
{
	uint64_t *most = &a->pool->like_memory[a->o.kind];
	if (a->peak_memory > *most)
		*most = a->peak_memory;
	for (size_t i = 0; i < a->pool->actions.count; i++) {
		struct compile_action *b = a->pool->actions.items[i];
		if (b->state == ACTION_QUEUED && !b->known_ms && b->o.kind == a->o.kind && b->expected < *most)
			b->expected = *most;
	}
}

/* Of those in a sandbox the one that began last: the least is lost with it. */
static struct compile_action *cheapest(const struct compile_pool *p)
{
	struct compile_action *best = NULL;
	for (size_t i = 0; i < p->actions.count; i++) {
		struct compile_action *a = p->actions.items[i];
		if (a->sandbox && (!best || a->since > best->since || (a->since == best->since && a->o.number > best->o.number)))
			best = a;
	}
	return best;
}

/* What those that run use now, and how many they are.  One that was taken for smaller than it is counts as what it
 * uses from now on, so that nothing is begun in room that is not there. */
static uint64_t used_now(struct compile_pool *p, unsigned *count, bool *one_yields)
{
	uint64_t all = 0;
	for (size_t i = 0; i < p->actions.count; i++) {
		struct compile_action *a = p->actions.items[i];
		uint64_t used = a->sandbox ? sandbox_memory(a->sandbox) : 0;
		if (!a->sandbox)
			continue;
		if (used > a->expected) {
			p->memory += used - a->expected;
			a->expected = used;
		}
		all += used;
		*count += 1;
		*one_yields = *one_yields || a->yields || a->cancelled;
	}
	return all;
}

/* Expectations were too low: one at a time makes room, but for the last, which may have all there is. */
static void watch(void *ctx)
{
	struct compile_pool *p = ctx;
	unsigned count = 0;
	bool one_yields = false;
	bool short_of = used_now(p, &count, &one_yields) > p->o.memory;
	p->watch_timer = 0;
	queue_watch(p);
	if (!short_of || count < 2 || one_yields)
		return;
	struct compile_action *a = cheapest(p);
	a->yields = true;
	sandbox_kill(a->sandbox);
}

void queue_watch(struct compile_pool *p)
{
	if (p->running > 1 && !p->watch_timer)
		p->watch_timer = loop_timer(p->o.loop, WATCH_MS, watch, p);
}

void queue_again(struct compile_action *a)
{
	uint64_t had = a->peak_memory > a->expected ? a->peak_memory : a->expected;
	queue_record(a->service, "step", a->o.name, a, "again: memory", NULL);
	a->yields = false;
	a->expected = had + had / 4;
	a->began_ms = a->cpu_ms = 0;
	a->state = ACTION_QUEUED;
	queue_changed(a->pool);
}

/* One may always run, so that there is an end to waiting. */
static bool fits(const struct compile_pool *p, const struct compile_action *a)
{
	unsigned jobs = 0;
	uint64_t memory = 0;
	if (p->running == 0)
		return true;
	if (p->o.load)
		p->o.load(p->o.ctx, &jobs, &memory);
	return !a->alone && p->alone == 0 && jobs + p->running < p->o.jobs &&
		memory + p->memory + a->expected <= p->o.memory;
}

static struct compile_action *first_queued(const struct compile_pool *p)
{
	struct compile_action *best = NULL;
	for (size_t i = 0; i < p->actions.count; i++) {
		struct compile_action *a = p->actions.items[i];
		if (a->state == ACTION_QUEUED && (!best || queue_goes_before(a, best)))
			best = a;
	}
	return best;
}

/* In strict order: a large one that waits for memory is not overtaken for ever by small ones. */
void compile_pool_pump(struct compile_pool *p)
{
	for (struct compile_action *a; (a = first_queued(p)) != NULL && fits(p, a);) {
		if (p->running > 0 && memory_available() < a->expected) {
			pump_in(p, SHORT_RETRY_MS);
			return;
		}
		action_start(a);
	}
}

void queue_record(struct compile_service *v, const char *what, const char *name, const struct compile_action *a,
	const char *note, const char *path)
{
	struct store_build b = {
		.drv_path = v->view.drv_path, .name = name, .what = what, .note = note, .path = path,
		.start_ms = a ? a->began_ms : loop_date(), .end_ms = loop_date(), .cpu_ms = a ? a->cpu_ms : 0,
		.peak_memory = a ? a->peak_memory : 0,
	};
	_cleanup_err_ struct err err = { 0 };
	if (name && !v->closed && store_build_add(v->pool->o.s, &b, &err) < 0)
		event_warn(v->pool->o.events, "a compile can't be recorded: %s", err.msg);
}

void queue_record_call(const struct compile_call *c, const char *note, const char *path)
{
	const struct compile_action whole = { .began_ms = c->began_ms, .cpu_ms = c->cpu_ms, .peak_memory = c->peak_memory };
	queue_record(c->service, "compile", c->name, &whole, note, path);
}
