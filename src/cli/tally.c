#include "cli/tally.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/display_impl.h"
#include "cli/results.h"
#include "core/mem.h"

struct step {
	bool ran;
	int64_t ms;
	char *error, *log;
};

struct tally {
	const struct event_sink *to;
	struct step *steps; /* by derivation */
	size_t count;
};

static void on_event(void *ctx, const struct event *ev)
{
	struct tally *t = ctx;
	if (ev->kind == EVENT_DONE && ev->id > 0 && ev->id <= t->count) {
		struct step *step = &t->steps[ev->id - 1];
		free(step->error);
		free(step->log);
		*step = (struct step){ true, ev->ms, mem_dup(ev->text), mem_dup(ev->log) };
	}
	event_emit(t->to, ev);
}

struct tally *tally_new(size_t drvs, const struct event_sink *to, struct event_sink *sink)
{
	struct tally *t = mem_alloc(sizeof *t);
	t->to = to;
	t->count = drvs;
	t->steps = mem_alloc((drvs + 1) * sizeof *t->steps);
	*sink = (struct event_sink){ on_event, t };
	return t;
}

void tally_free(struct tally *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		free(t->steps[i].error);
		free(t->steps[i].log);
	}
	free(t->steps);
	free(t);
}

const char *tally_word(enum tally_state state)
{
	static const char *const words[] = {
		[TALLY_BUILT] = "built", [TALLY_FROM_STORE] = "from store", [TALLY_FAILED] = "failed",
		[TALLY_NOT_BUILT] = "not built", [TALLY_IMPOSSIBLE] = "impossible",
	};
	return words[state];
}

static bool all_valid(const struct chosen_target *t, const struct plan *plan)
{
	for (size_t i = 0; i < t->results.count; i++)
		if (plan->steps[t->results.items[i].drv].state != PLAN_VALID)
			return false;
	return t->results.count > 0;
}

/* Is it a step of a variant's own, and not of the world it is built in? */
static bool is_own(const struct eval_drv *d)
{
	return !str_eq(d->what, "fetch") && !str_eq(d->what, "unpack");
}

/* Add up what ran among all that the target needs; the failure that is nearest to the roots counts. */
static bool add_steps(const struct tally *tally, const struct chosen_target *t, const struct eval *e,
	struct tally_result *out)
{
	_cleanup_free_ bool *seen = mem_alloc(tally->count + 1);
	bool ran = false;
	for (size_t i = 0; i < t->results.count; i++)
		seen[t->results.items[i].drv] = true;
	for (size_t i = tally->count; i-- > 0;) {
		if (!seen[i])
			continue;
		const struct eval_drv *d = eval_drv(e, i);
		const struct step *step = &tally->steps[i];
		out->ms += step->ran && is_own(d) ? step->ms : 0;
		ran = ran || (step->ran && is_own(d));
		if (step->error) {
			out->error = step->error;
			out->log = step->log;
		}
		for (size_t k = 0; k < d->drv->input_count; k++)
			seen[d->inputs[k]] = true;
	}
	return ran;
}

static int64_t wheel_size(const struct chosen_target *t, const struct plan *plan, struct store *s)
{
	const char *path = results_path(t, plan, "wheel");
	_cleanup_free_ char *folder = path ? store_physical(s, path) : NULL;
	_cleanup_free_ char *wheel = folder ? results_wheel_in(folder) : NULL;
	struct stat st;
	return wheel && stat(wheel, &st) == 0 ? (int64_t)st.st_size : 0;
}

struct tally_result tally_of(const struct tally *tally, const struct chosen_target *t, const struct eval *e,
	const struct plan *plan, struct store *s)
{
	struct tally_result out = { 0 };
	if (!t->results.count) {
		out.state = TALLY_IMPOSSIBLE;
		return out;
	}
	bool ran = tally && add_steps(tally, t, e, &out);
	if (!all_valid(t, plan)) {
		out.state = out.error ? TALLY_FAILED : TALLY_NOT_BUILT;
		return out;
	}
	out.error = out.log = NULL;
	out.state = ran ? TALLY_BUILT : TALLY_FROM_STORE;
	out.size = wheel_size(t, plan, s);
	return out;
}

/* What stands at the end of a variant's line. */
static char *detail_of(const struct chosen_target *t, const struct tally_result *r, const struct plan *plan,
	struct store *s)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;
	if (r->state == TALLY_FAILED && r->log)
		return mem_dup(r->log);
	if (r->state == TALLY_FAILED || r->state == TALLY_IMPOSSIBLE) {
		display_clean(r->error ? r->error : t->target->impossible, &clean);
		return buf_steal(&clean);
	}
	const char *path = results_path(t, plan, "wheel");
	_cleanup_free_ char *folder = path ? store_physical(s, path) : NULL;
	_cleanup_free_ char *wheel = folder ? results_wheel_in(folder) : NULL;
	return mem_dup(wheel ? strrchr(wheel, '/') + 1 : "");
}

static void print_row(const struct chosen_target *t, const struct tally_result *r, int width, const char *detail)
{
	_cleanup_free_ char *time = r->ms ? cli_duration(r->ms) : mem_dup("-");
	_cleanup_free_ char *size = r->size ? cli_bytes(r->size) : mem_dup("-");
	fprintf(stderr, "%-*s  %-10s  %12s  %7s%s%s\n", width, *t->target->name ? t->target->name : t->target->recipe,
		tally_word(r->state), time, size, *detail ? "  " : "", detail);
}

size_t tally_print(const struct tally *tally, const struct chosen *c, const struct eval *e, const struct plan *plan,
	struct store *s, bool quiet)
{
	int width = 7;
	size_t failed = 0;
	for (size_t i = 0; i < c->targets.count; i++) {
		int n = (int)strlen(c->targets.items[i].target->name);
		width = n > width ? n : width;
	}
	if (!quiet)
		fprintf(stderr, "%-*s  %-10s  %12s  %7s\n", width, "VARIANT", "RESULT", "TIME", "SIZE");
	for (size_t i = 0; i < c->targets.count; i++) {
		const struct chosen_target *t = &c->targets.items[i];
		struct tally_result r = tally_of(tally, t, e, plan, s);
		_cleanup_free_ char *detail = detail_of(t, &r, plan, s);
		failed += r.state == TALLY_FAILED || r.state == TALLY_NOT_BUILT;
		if (!quiet)
			print_row(t, &r, width, detail);
	}
	return failed;
}
