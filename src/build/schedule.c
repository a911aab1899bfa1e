#include "build/schedule.h"

#include <stdlib.h>
#include <string.h>

#include "core/fs.h"

#define FETCHES_MAX 64               /* open at once; the fetcher itself limits what is transferred at once */
#define SAVING_MAX 16                /* builds whose outputs are saved beside those that run */
#define LOCK_RETRY_MS 200
#define MEMORY_UNKNOWN (1ull << 30)  /* expected of a build that was never seen */

static const char *const *goal_paths(void *ctx, size_t drv)
{
	const struct plan *plan = ctx;
	return plan->steps[drv].state == PLAN_VALID ? plan->steps[drv].paths : NULL;
}

static void pump_later(void *ctx)
{
	struct realise *r = ctx;
	r->pump_timer = 0;
	schedule_pump(r);
}

static void ask_pump(struct realise *r, int64_t ms)
{
	int64_t due = loop_now() + ms;
	if (r->pump_timer && r->pump_due <= due)
		return;
	loop_timer_del(r->loop, r->pump_timer);
	r->pump_timer = loop_timer(r->loop, ms, pump_later, r);
	r->pump_due = due;
}

void schedule_changed(void *ctx)
{
	ask_pump(ctx, 0);
}

void schedule_load(void *ctx, unsigned *jobs, uint64_t *memory)
{
	const struct realise *r = ctx;
	*jobs = r->working;
	*memory = r->memory_used;
	for (size_t i = 0; i < r->plan->count; i++) {
		const struct goal *g = &r->goals[i];
		if (g->state != GOAL_RUNNING || !g->compiles || !compile_service_busy(g->compiles))
			continue;
		*jobs -= 1;
		*memory -= g->expected;
	}
}

/* Give back what the limits were counted by. */
static void leave_slot(struct goal *g)
{
	struct realise *r = g->r;
	if (g->state == GOAL_RUNNING) {
		*(g->kind == GOAL_FETCH ? &r->fetching : &r->working) -= 1;
		r->memory_used -= g->expected;
	} else if (g->state == GOAL_SAVING) {
		r->saving--;
	}
}

/*
 * The next build may start while the outputs of this one are copied and the disk is waited for.
 * But for a few: a disk that is slower than the builds is to hold them up.
 */
void goal_saving(struct goal *g)
{
	struct realise *r = g->r;
	if (r->saving >= SAVING_MAX)
		return;
	leave_slot(g);
	g->state = GOAL_SAVING;
	r->saving++;
	ask_pump(r, 0);
}

void goal_progress(struct goal *g, int64_t done, int64_t total)
{
	if (!g->moved) { /* until now it waited for its turn: that is no time it took */
		g->moved = true;
		g->started = loop_date();
		g->began = loop_now();
	}
	event_emit(g->r->o.events, &(struct event){ .kind = EVENT_PROGRESS, .id = g->index + 1,
		.done = done, .total = total });
}

void schedule_settle(struct goal *g, enum goal_state state)
{
	struct realise *r = g->r;
	leave_slot(g);
	g->state = state;
	g->cancel = NULL;
	fs_close_ptr(&g->lock);
	r->left--;
	ask_pump(r, 0);
}

/* What it needed last time, else its declared ceiling, else a guess. */
static int last_memory(void *ctx, const struct store_build *b)
{
	if (b->status == 0 && b->peak_memory)
		*(uint64_t *)ctx = b->peak_memory;
	return 0;
}

static uint64_t expected_memory(struct goal *g)
{
	uint64_t bytes = 0;
	if (g->kind != GOAL_BUILD)
		return 0;
	if (store_builds(g->r->s, g->d->drv->name, 1, last_memory, &bytes, NULL) < 0 || !bytes)
		bytes = g->d->memory ? g->d->memory : MEMORY_UNKNOWN;
	return bytes;
}

static bool fits(struct goal *g)
{
	const struct realise *r = g->r;
	if (g->kind == GOAL_FETCH)
		return r->fetching < FETCHES_MAX;
	unsigned jobs, compiles = 0;
	uint64_t memory, compiles_memory = 0;
	schedule_load(g->r, &jobs, &memory);
	if (r->compiles)
		compile_pool_load(r->compiles, &compiles, &compiles_memory);
	if (jobs + compiles >= r->o.jobs)
		return false;
	if (!g->expected)
		g->expected = expected_memory(g);
	return jobs + compiles == 0 || memory + compiles_memory + g->expected <= r->o.memory;
}

/* 1: it turned out to be there already; 0: no; -1: error. */
static int already_there(struct goal *g, struct err *err)
{
	struct plan_step *step = &g->r->plan->steps[g->index];
	int there = plan_realised(g->r->s, g->d->drv, &step->id, &g->r->plan->arena, step->paths, err);
	if (there != 0 || g->kind == GOAL_FETCH)
		return there;
	there = plan_realised(g->r->s, g->resolved, &g->id, &g->r->plan->arena, step->paths, err);
	return there > 0 && goal_remember(g, err) < 0 ? -1 : there;
}

static int resolve(struct goal *g, struct err *err)
{
	if (!g->resolved)
		g->resolved = plan_resolve(g->r->e, g->index, goal_paths, g->r->plan, &g->r->arena,
			&g->id, err);
	return g->resolved ? 0 : -1;
}

/* Take the lock that says "this forge makes it". 1: have it, 0: another does, -1: error. */
static int take_lock(struct goal *g, struct err *err)
{
	_cleanup_free_ char *key = hash_hex(&g->id);
	bool busy = false;
	g->lock = store_lock(g->r->s, key, false, &busy, err);
	if (g->lock >= 0)
		return 1;
	if (!busy)
		return -1;
	if (!g->waiting_told)
		event_note(g->r->o.events, "%s: another forge is making it, waiting", g->d->drv->name);
	g->waiting_told = true;
	ask_pump(g->r, LOCK_RETRY_MS);
	return 0;
}

static int start_job(struct goal *g, struct err *err)
{
	static int (*const start[])(struct goal *, struct err *) = {
		[GOAL_FETCH] = job_fetch_start, [GOAL_WORK] = job_work_start, [GOAL_BUILD] = job_build_start,
	};
	const char *base = store_path_base(g->d->path); /* "<digest>-<name>.drv" */
	if (g->kind != GOAL_FETCH && !g->log)
		g->log = mem_printf("log/%.*s.log", (int)(strlen(base) - strlen(".drv")), base);
	g->started = loop_date();
	g->began = loop_now();
	event_emit(g->r->o.events, &(struct event){ .kind = EVENT_START, .id = g->index + 1,
		.what = g->d->what, .name = g->d->drv->name });
	return start[g->kind](g, err);
}

static void start_goal(struct goal *g)
{
	struct realise *r = g->r;
	struct err err = { 0 };
	int locked = resolve(g, &err) < 0 ? -1 : take_lock(g, &err);
	if (locked == 0)
		return;
	g->state = GOAL_RUNNING;
	*(g->kind == GOAL_FETCH ? &r->fetching : &r->working) += 1;
	r->memory_used += g->expected;
	int there = locked < 0 ? -1 : already_there(g, &err);
	if (there > 0)
		goal_succeed(g);
	else if (there < 0 || start_job(g, &err) < 0)
		goal_failed(g, &err, NULL);
}

void schedule_stop(struct realise *r)
{
	if (r->stopping)
		return;
	r->stopping = true;
	for (size_t i = 0; i < r->plan->count; i++) {
		struct goal *g = &r->goals[i];
		if (g->state == GOAL_WAITING || g->state == GOAL_READY)
			schedule_settle(g, GOAL_SKIPPED);
		else if (g->state == GOAL_RUNNING && g->cancel)
			g->cancel(g);
	}
	ask_pump(r, 0);
}

void schedule_pump(struct realise *r)
{
	for (size_t i = 0; i < r->plan->count && !r->stopping; i++) {
		struct goal *g = &r->goals[r->order[i]];
		if (g->state == GOAL_READY && fits(g))
			start_goal(g);
	}
	if (r->compiles)
		compile_pool_pump(r->compiles);
	if (r->left == 0 && (!r->compiles || compile_pool_idle(r->compiles)))
		r->done = true;
}
