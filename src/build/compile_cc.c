/* A compile by gcc: one run over the build's folder, watched by the tracer, is all it takes. */
#include "build/compile_impl.h"
#include "build/compile_take.h"
#include "core/fs.h"

/* In a worker. */
static int take(void *ctx, struct buf *answer, struct err *err)
{
	struct compile_call *c = ctx;
	_cleanup_compile_trace_ struct compile_trace trace = { 0 };
	_cleanup_manifest_entry_ struct manifest_entry entry = { 0 };
	_cleanup_close_ int out = action_open_out(c->action, err);
	if (out < 0 || trace_take(c, out, &trace, &entry, err) < 0)
		return -1;
	return take_run(c, &entry, answer, err);
}

static void ended(void *ctx, const char *why)
{
	struct compile_call *c = ctx;
	_cleanup_err_ struct err err = { 0 };
	call_count(c, c->action);
	if (why) {
		call_place(c, why);
		return;
	}
	c->made = store_tmp_name(c->pool->o.s, "compile", &err);
	if (c->made)
		call_worker(c, take, c, take_run_done);
	else
		call_place(c, err.msg);
}

void cc_run(struct compile_call *c)
{
	c->action = call_action(c, (struct action_spec){ .kind = ACTION_CC, .argv = c->command.compile.items,
		.env = c->command.env.items, .traced = true, .ended = ended, .ctx = c });
}
