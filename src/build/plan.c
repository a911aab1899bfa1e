#include "build/plan.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

int plan_realised(struct store *s, const struct drv *d, const struct hash *id, struct arena *a,
	const char **paths, struct err *err)
{
	for (size_t i = 0; i < d->output_count; i++) {
		const struct drv_output *o = &d->outputs[i];
		int there;
		if (o->path) {
			there = store_valid(s, o->path, err);
			paths[i] = o->path;
		} else {
			_cleanup_buf_ struct buf name = BUF_INIT;
			_cleanup_free_ char *path = NULL;
			drv_output_id(id, o->name, &name);
			there = store_realisation(s, name.data, &path, err);
			paths[i] = there > 0 ? arena_dup(a, path) : NULL;
		}
		if (there <= 0)
			return there;
	}
	return 1;
}

struct resolving {
	struct eval *e;
	const struct eval_drv *user;
	plan_paths_fn *paths_of;
	void *ctx;
};

static const char *known_path(void *ctx, const char *drv_path, const char *output)
{
	struct resolving *r = ctx;
	for (size_t i = 0; i < r->user->drv->input_count; i++) {
		if (strcmp(r->user->drv->inputs[i].path, drv_path) != 0)
			continue;
		const struct drv *input = eval_drv(r->e, r->user->inputs[i])->drv;
		const char *const *paths = r->paths_of(r->ctx, r->user->inputs[i]);
		for (size_t k = 0; paths && k < input->output_count; k++)
			if (strcmp(input->outputs[k].name, output) == 0)
				return paths[k];
	}
	return NULL;
}

struct drv *plan_resolve(struct eval *e, size_t drv, plan_paths_fn *paths_of, void *ctx,
	struct arena *a, struct hash *id, struct err *err)
{
	struct resolving r = { e, eval_drv(e, drv), paths_of, ctx };
	struct drv *resolved = drv_resolve(r.user->drv, known_path, &r, a, err);
	if (!resolved || drv_hash_id(resolved, NULL, NULL, id, err) < 0)
		return NULL;
	return resolved;
}

struct planning {
	struct eval *e;
	struct store *s;
	struct plan *plan;
};

static const char *const *step_paths(void *ctx, size_t drv)
{
	struct plan *p = ctx;
	return p->steps[drv].state == PLAN_VALID ? p->steps[drv].paths : NULL;
}

static int visit(struct planning *p, size_t i, struct err *err);

/* The first input that is not there, or NULL. */
static const struct eval_drv *visit_inputs(struct planning *p, const struct eval_drv *d, int *rc,
	struct err *err)
{
	const struct eval_drv *missing = NULL;
	for (size_t i = 0; i < d->drv->input_count; i++) {
		if (visit(p, d->inputs[i], err) < 0) {
			*rc = -1;
			return NULL;
		}
		if (!missing && p->plan->steps[d->inputs[i]].state != PLAN_VALID)
			missing = eval_drv(p->e, d->inputs[i]);
	}
	*rc = 0;
	return missing;
}

int64_t plan_fetch_size(const struct drv *d)
{
	/* Compact JSON with sorted keys, as forge.fetch writes it: inside of a text the quotes would be escaped, so this
	 * can only be the key.  Reading all of it would be a good part of a plan's time. */
	const char *entry = drv_env_get(d, "entry"), *size = entry ? strstr(entry, "\"size\":") : NULL;
	long long bytes = size ? strtoll(size + strlen("\"size\":"), NULL, 10) : 0;
	return bytes > 0 ? bytes : 0;
}

static int visit_fetch(struct planning *p, const struct eval_drv *d, struct plan_step *step)
{
	step->state = PLAN_FETCH;
	step->reason = "not in the store";
	step->bytes = plan_fetch_size(d->drv);
	p->plan->fetch++;
	p->plan->fetch_bytes += step->bytes;
	return 0;
}

static int visit_build(struct planning *p, size_t i, const struct eval_drv *d, struct plan_step *step,
	struct err *err)
{
	struct plan *plan = p->plan;
	int rc;
	const struct eval_drv *missing = visit_inputs(p, d, &rc, err);
	if (rc < 0)
		return -1;
	step->state = PLAN_BUILD;
	if (missing) {
		step->reason = arena_printf(&plan->arena, "needs %s", missing->drv->name);
		plan->build++;
		return 0;
	}
	struct hash id;
	struct drv *resolved = plan_resolve(p->e, i, step_paths, plan, &plan->arena, &id, err);
	if (!resolved)
		return -1;
	int there = plan_realised(p->s, resolved, &id, &plan->arena, step->paths, err);
	if (there < 0)
		return -1;
	step->state = there ? PLAN_VALID : PLAN_BUILD;
	step->cutoff = there && resolved->outputs[0].kind != DRV_OUT_FIXED;
	step->reason = there ? "in the store: its inputs came out the same" : "not built before";
	plan->cutoffs += step->cutoff;
	*(there ? &plan->valid : &plan->build) += 1;
	return 0;
}

static int visit(struct planning *p, size_t i, struct err *err)
{
	struct plan_step *step = &p->plan->steps[i];
	const struct eval_drv *d = eval_drv(p->e, i);
	if (step->state != PLAN_UNNEEDED)
		return 0;
	step->paths = arena_alloc(&p->plan->arena, d->drv->output_count * sizeof *step->paths);
	step->id = d->id;
	int there = plan_realised(p->s, d->drv, &step->id, &p->plan->arena, step->paths, err);
	if (there < 0)
		return -1;
	if (there) {
		step->state = PLAN_VALID;
		step->reason = "in the store";
		p->plan->valid++;
		return 0;
	}
	if (d->drv->outputs[0].kind == DRV_OUT_FIXED && d->drv->input_count == 0)
		return visit_fetch(p, d, step);
	return visit_build(p, i, d, step, err);
}

int plan_make(struct eval *e, const size_t *wanted, size_t count, struct store *s, struct plan *out,
	struct err *err)
{
	struct planning p = { e, s, out };
	out->count = eval_drv_count(e);
	out->steps = arena_alloc(&out->arena, (out->count + 1) * sizeof *out->steps);
	if (store_look_begin(s, err) < 0)
		return -1;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < count; i++)
		if (visit(&p, wanted[i], err) < 0)
			rc = err_add(err, "planning %s", eval_drv(e, wanted[i])->drv->name);
	return store_look_end(s, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

/* Inputs have smaller indexes than their users: going down once meets each after all that want it. */
struct plan_left plan_left(const struct plan *p, const struct eval *e, const size_t *wanted, size_t count,
	unsigned char *seen)
{
	struct plan_left left = { 0 };
	size_t highest = 0;
	memset(seen, 0, p->count);
	for (size_t i = 0; i < count; i++) {
		seen[wanted[i]] = 1;
		highest = wanted[i] + 1 > highest ? wanted[i] + 1 : highest;
	}
	for (size_t i = highest; i-- > 0;) {
		const struct plan_step *step = &p->steps[i];
		if (!seen[i] || step->state == PLAN_VALID)
			continue;
		left.fetch += step->state == PLAN_FETCH;
		left.build += step->state == PLAN_BUILD;
		const struct eval_drv *d = eval_drv(e, i);
		for (size_t k = 0; k < d->drv->input_count; k++)
			seen[d->inputs[k]] = 1;
	}
	return left;
}

void plan_free(struct plan *p)
{
	arena_free(&p->arena);
	*p = (struct plan)PLAN_INIT;
}
