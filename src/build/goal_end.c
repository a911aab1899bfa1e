/* What follows from the end of a goal: a record, a durable object, the goals that waited for it. */
#include <stdlib.h>
#include <string.h>

#include "build/schedule.h"
#include "core/fs.h"

static void tell_done(struct goal *g, const char *text, const char *tail)
{
	_cleanup_free_ char *log = g->log ? fs_join(store_folder(g->r->s), g->log) : NULL;
	event_emit(g->r->o.events, &(struct event){ .kind = EVENT_DONE, .id = g->index + 1,
		.what = g->d->what, .name = g->d->drv->name, .text = text, .tail = tail,
		.log = tail ? log : NULL, .ms = g->began ? loop_now() - g->began : 0 });
}

static void skip_users(struct goal *g)
{
	for (size_t i = 0; i < g->users.count; i++) {
		struct goal *user = &g->r->goals[g->users.items[i]];
		if (user->state != GOAL_WAITING && user->state != GOAL_READY)
			continue;
		schedule_settle(user, GOAL_SKIPPED);
		skip_users(user);
	}
}

static void record(struct goal *g, int status, const char *path, struct err *err)
{
	struct store_build b = {
		.drv_path = g->d->path, .name = g->d->drv->name, .log = g->log, .what = g->d->what,
		.start_ms = g->started, .end_ms = loop_date(), .cpu_ms = g->cpu_ms,
		.peak_memory = g->peak_memory, .status = status, .path = path,
	};
	store_build_add(g->r->s, &b, err);
}

void goal_succeed(struct goal *g)
{
	tell_done(g, NULL, NULL);
	g->r->plan->steps[g->index].state = PLAN_VALID;
	for (size_t i = 0; i < g->users.count; i++) {
		struct goal *user = &g->r->goals[g->users.items[i]];
		if (--user->waiting == 0 && user->state == GOAL_WAITING)
			user->state = GOAL_READY;
	}
	schedule_settle(g, GOAL_DONE);
}

void goal_failed(struct goal *g, struct err *err, const char *tail)
{
	struct realise *r = g->r;
	if (err->code != ERR_INTR) {
		record(g, err_exit_status(err->code), NULL, NULL); /* the failure itself is what is to be told */
		tell_done(g, err->msg, tail);
	} else {
		tell_done(g, "stopped", NULL);
	}
	if (r->first.code == ERR_NONE)
		err_move(&r->first, err);
	else
		err_clear(err);
	schedule_settle(g, GOAL_FAILED);
	skip_users(g);
	if (!r->o.keep_going)
		schedule_stop(r);
}

int goal_remember(struct goal *g, struct err *err)
{
	const struct plan_step *step = &g->r->plan->steps[g->index];
	const struct hash *ids[] = { &step->id, &g->id };
	for (size_t i = 0; i < g->d->drv->output_count * 2; i++) {
		const struct drv_output *output = &g->d->drv->outputs[i / 2];
		_cleanup_buf_ struct buf id = BUF_INIT;
		if (output->kind == DRV_OUT_FIXED)
			continue;
		drv_output_id(ids[i % 2], output->name, &id);
		if (store_realisation_add(g->r->s, id.data, step->paths[i / 2], err) < 0)
			return -1;
	}
	return 0;
}

static int accept_outputs(struct goal *g, struct err *err)
{
	struct plan_step *step = &g->r->plan->steps[g->index];
	for (size_t i = 0; i < g->d->drv->output_count; i++)
		step->paths[i] = arena_dup(&g->r->plan->arena, g->made[i].path);
	if (goal_remember(g, err) < 0)
		return -1;
	record(g, 0, step->paths[0], err);
	return err->code == ERR_NONE ? 0 : -1;
}

static void free_made(struct goal *g)
{
	for (size_t i = 0; i < g->d->drv->output_count; i++)
		store_prepared_free(&g->made[i]);
	free(steal_ptr(g->made));
}

/* One durable batch for all that was finished since the last. */
static void commit_batch(void *ctx)
{
	struct realise *r = ctx;
	LIST(struct store_prepared) batch = { 0 };
	__typeof__(r->committing) goals = r->committing;
	struct err err = { 0 };
	memset(&r->committing, 0, sizeof r->committing);
	r->commit_timer = 0;
	for (size_t i = 0; i < goals.count; i++) {
		const struct goal *g = &r->goals[goals.items[i]];
		for (size_t k = 0; k < g->d->drv->output_count; k++)
			*list_push(&batch) = g->made[k];
	}
	int rc = store_commit(r->s, batch.items, batch.count, &err);
	for (size_t i = 0; i < goals.count; i++) {
		struct goal *g = &r->goals[goals.items[i]];
		struct err own = { 0 };
		if (rc < 0)
			err_set(&own, err.code, "%s", err.msg);
		if (rc < 0 || accept_outputs(g, &own) < 0)
			goal_failed(g, &own, NULL);
		else
			goal_succeed(g);
		free_made(g);
	}
	list_free(&batch);
	list_free(&goals);
	err_clear(&err);
}

void goal_prepared(struct goal *g, struct store_prepared *made)
{
	struct realise *r = g->r;
	g->made = made;
	g->cancel = NULL;
	for (size_t i = 0; i < g->d->drv->output_count; i++)
		made[i].deriver = made[i].deriver ? made[i].deriver : mem_dup(g->d->path);
	*list_push(&r->committing) = g->index;
	if (!r->commit_timer)
		r->commit_timer = loop_timer(r->loop, 0, commit_batch, r);
}
