#include "build/realise.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "build/goal.h"
#include "build/order.h"
#include "build/memory.h"
#include "build/schedule.h"
#include "build/sources.h"
#include "core/fs.h"
#include "core/str.h"

static enum goal_kind kind_of(const struct drv *d)
{
	if (strcmp(d->builder, "builtin:fetch") == 0 || strcmp(d->builder, "builtin:fetch-git") == 0)
		return GOAL_FETCH;
	return str_starts(d->builder, "builtin:") ? GOAL_WORK : GOAL_BUILD;
}

/* Goals for the plan's steps that are to be done, and who waits for whom. */
static void make_goals(struct realise *r)
{
	struct plan *plan = r->plan;
	r->goals = mem_alloc((plan->count + 1) * sizeof *r->goals);
	for (size_t i = 0; i < plan->count; i++) {
		struct goal *g = &r->goals[i];
		*g = (struct goal){ .r = r, .index = i, .d = eval_drv(r->e, i), .lock = -1 };
		if (plan->steps[i].state != PLAN_FETCH && plan->steps[i].state != PLAN_BUILD)
			continue;
		g->kind = kind_of(g->d->drv);
		g->state = GOAL_WAITING;
		r->left++;
		for (size_t k = 0; k < g->d->drv->input_count; k++) {
			struct goal *input = &r->goals[g->d->inputs[k]]; /* has a smaller index: made already */
			if (input->state == GOAL_NONE)
				continue;
			g->waiting++;
			*list_push(&input->users) = i;
		}
		if (g->waiting == 0)
			g->state = GOAL_READY;
	}
}

/* A plan that found a derivation through its resolved form: remember it under its own. */
static int remember_cutoffs(struct realise *r, struct err *err)
{
	for (size_t i = 0; i < r->plan->count; i++) {
		const struct plan_step *step = &r->plan->steps[i];
		const struct eval_drv *d = eval_drv(r->e, i);
		for (size_t k = 0; step->cutoff && k < d->drv->output_count; k++) {
			_cleanup_buf_ struct buf id = BUF_INIT;
			drv_output_id(&step->id, d->drv->outputs[k].name, &id);
			if (store_realisation_add(r->s, id.data, step->paths[k], err) < 0)
				return -1;
		}
	}
	return 0;
}

static void on_signal(void *ctx, int signo)
{
	struct realise *r = ctx;
	if (signo == SIGWINCH)
		return;
	if (r->stopping && r->first.code == ERR_INTR) { /* asked twice: children die with forge */
		signal(signo, SIG_DFL);
		sigset_t set;
		sigemptyset(&set);
		sigaddset(&set, signo);
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		raise(signo);
	}
	if (r->first.code == ERR_NONE)
		err_set(&r->first, ERR_INTR, "stopped: what was finished is in the store; the same command goes on from there");
	schedule_stop(r);
}

static void set_limits(struct realise_options *o)
{
	if (!o->cores)
		o->cores = proc_cores();
	if (!o->jobs)
		o->jobs = o->cores;
	if (!o->memory)
		o->memory = memory_available() / 10 * 9;
}

static void realise_free(struct realise *r)
{
	for (size_t i = 0; i < r->plan->count; i++) {
		list_free(&r->goals[i].users);
		fs_close_ptr(&r->goals[i].lock);
		free(r->goals[i].log);
	}
	compile_pool_free(r->compiles);
	loop_timer_del(r->loop, r->pump_timer);
	loop_signals(r->loop, NULL, NULL, NULL);
	fetcher_free(r->fetcher);
	free(r->goals);
	free(r->order);
	list_free(&r->committing);
	arena_free(&r->arena);
}

int realise(struct loop *loop, struct eval *e, struct store *s, struct plan *plan,
	const struct realise_options *o, struct err *err)
{
	struct realise r = { .loop = loop, .e = e, .s = s, .plan = plan, .o = *o };
	if (remember_cutoffs(&r, err) < 0)
		return -1;
	if (plan->fetch + plan->build == 0)
		return 0;
	if (sources_add(e, s, plan, err) < 0)
		return -1;
	set_limits(&r.o);
	make_goals(&r);
	r.order = order_make(e);
	if (!o->compile_in_place)
		r.compiles = compile_pool_new(&(struct compile_pool_spec){ .loop = loop, .s = s, .events = o->events,
			.jobs = r.o.jobs, .memory = r.o.memory, .load = schedule_load, .changed = schedule_changed, .ctx = &r });
	event_emit(o->events, &(struct event){ .kind = EVENT_PLAN, .total = (int64_t)r.left,
		.done = plan->fetch_bytes });
	int rc = loop_signals(loop, on_signal, &r, err);
	if (rc == 0) {
		schedule_pump(&r);
		rc = loop_run(loop, &r.done, err);
	}
	realise_free(&r);
	if (rc == 0 && r.first.code != ERR_NONE)
		rc = err_move(err, &r.first);
	err_clear(&r.first);
	return rc;
}
