/* The one queue of all builds' compiles, under the limits that they share with the builds. */
#include <string.h>
#include <time.h>

#include "build/compile_impl.h"
#include "build/memory.h"

#define EXPECT_CC (512ull << 20)   /* bytes, of a source that was never seen */
#define EXPECT_NVCC (2ull << 30)
#define SHORT_RETRY_MS 500         /* until it is looked again whether the machine has memory now */
#define WATCH_MS 250               /* how often it is looked what those that run use */

static int64_t now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct compile_pool *compile_pool_new(const struct compile_pool_spec *spec)
{
	struct compile_pool *p = mem_alloc(sizeof *p);
	p->o = *spec;
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
	list_free(&p->actions);
	list_free(&p->made);
	free(p);
}

void compile_pool_load(const struct compile_pool *p, unsigned *jobs, uint64_t *memory)
{
	*jobs = p->running;
	*memory = p->memory;
}

bool compile_pool_idle(const struct compile_pool *p)
{
	return p->actions.count == 0;
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

/* Of a source that was never seen: what its like has needed, or a guess. */
static uint64_t expect_like(const struct compile_action *a)
{
	uint64_t guess = a->command.kind == COMPILE_NVCC ? EXPECT_NVCC : EXPECT_CC;
	uint64_t like = a->pool->like_memory[a->command.kind];
	return like > guess ? like : guess;
}

void queue_expect(struct compile_action *a)
{
	uint64_t bytes = 0;
	if (!a->name || store_compile_last(a->pool->o.s, a->name, &a->known_ms, &bytes, NULL) <= 0 || !bytes)
		bytes = expect_like(a);
	a->expected = bytes;
}

void queue_learn(const struct compile_action *a)
{
	uint64_t *most = &a->pool->like_memory[a->command.kind];
	if (a->peak_memory > *most)
		*most = a->peak_memory;
	for (size_t i = 0; i < a->pool->actions.count; i++) {
		struct compile_action *b = a->pool->actions.items[i];
		if (b->state == ACTION_QUEUED && !b->known_ms && b->command.kind == a->command.kind && b->expected < *most)
			b->expected = *most;
	}
}

void queue_add(struct compile_action *a, enum action_step next)
{
	a->state = ACTION_QUEUED;
	a->next = next;
	queue_changed(a->pool);
}

/* Of those in a sandbox the one that began last: the least is lost with it. */
static struct compile_action *cheapest(const struct compile_pool *p)
{
	struct compile_action *best = NULL;
	for (size_t i = 0; i < p->actions.count; i++) {
		struct compile_action *a = p->actions.items[i];
		if (a->sandbox && (!best || a->since > best->since || (a->since == best->since && a->number > best->number)))
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
		*one_yields = *one_yields || a->yields || a->dropped;
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
	p->watch_timer = p->running > 1 ? loop_timer(p->o.loop, WATCH_MS, watch, p) : 0;
	if (!short_of || count < 2 || one_yields)
		return;
	struct compile_action *a = cheapest(p);
	a->yields = true;
	sandbox_kill(a->sandbox);
}

void queue_again(struct compile_action *a)
{
	uint64_t had = a->peak_memory > a->expected ? a->peak_memory : a->expected;
	queue_record(a, "again: memory", NULL);
	queue_release(a);
	a->yields = false;
	a->expected = had + had / 4;
	a->began_ms = a->cpu_ms = 0;
	queue_add(a, a->next);
}

void queue_take_slot(struct compile_action *a)
{
	if (a->slot)
		return;
	a->slot = true;
	a->pool->running++;
	a->pool->memory += a->expected;
	a->pool->alone += a->alone;
	if (a->pool->running > 1 && !a->pool->watch_timer)
		a->pool->watch_timer = loop_timer(a->pool->o.loop, WATCH_MS, watch, a->pool);
	if (!a->began_ms)
		a->began_ms = now_ms();
}

void queue_release(struct compile_action *a)
{
	if (!a->slot)
		return;
	a->slot = false;
	a->pool->running--;
	a->pool->memory -= a->expected;
	a->pool->alone -= a->alone;
	queue_changed(a->pool);
}

/* The longest known one first; of those never seen and of equals, the one that came first. */
static bool goes_before(const struct compile_action *a, const struct compile_action *b)
{
	if (a->alone != b->alone)
		return a->alone;
	if (a->known_ms != b->known_ms)
		return a->known_ms > b->known_ms;
	return a->number < b->number;
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
		if (a->state == ACTION_QUEUED && (!best || goes_before(a, best)))
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
		queue_take_slot(a);
		action_start(a);
	}
}

void queue_record(struct compile_action *a, const char *note, const char *path)
{
	struct store_build b = {
		.drv_path = a->service->view.drv_path, .name = a->name, .what = "compile", .start_ms = a->began_ms,
		.end_ms = now_ms(), .cpu_ms = a->cpu_ms, .peak_memory = a->peak_memory, .path = path, .note = note,
	};
	_cleanup_err_ struct err err = { 0 };
	if (a->name && !a->service->closed && store_build_add(a->pool->o.s, &b, &err) < 0)
		event_warn(a->pool->o.events, "a compile can't be recorded: %s", err.msg);
}
