/* A compile by nvcc: see compile_nvcc.h. */
#include "build/compile_nvcc.h"

#include <string.h>

#include "compile/nvcc_key.h"
#include "core/fs.h"

void nvcc_free(struct compile_call *c)
{
	parts_free(c);
	action_free(steal_ptr(c->texts));
	action_free(steal_ptr(c->cudafe));
	action_free(steal_ptr(c->host));
	nvcc_steps_free(&c->steps);
	str_list_free(&c->env);
	str_list_free(&c->script);
	mem_free_ptr(&c->script_in);
	mem_free_ptr(&c->host_object);
	mem_free_ptr(&c->stage_view);
	mem_free_ptr(&c->stage_parts);
}

void nvcc_take(struct compile_call *c, proc_worker_fn *fn, call_worker_fn *done)
{
	_cleanup_err_ struct err err = { 0 };
	c->made = store_tmp_name(c->pool->o.s, "compile", &err);
	if (c->made)
		call_worker(c, fn, c, done);
	else
		call_place(c, err.msg);
}

struct compile_action *nvcc_script(struct compile_call *c, enum action_kind kind, char *script,
	const struct compile_action *in, action_ended_fn *ended)
{
	str_list_free(&c->script);
	str_list_add(&c->script, "/bin/sh");
	str_list_add(&c->script, "-c");
	str_list_take(&c->script, script);
	str_list_take(&c->script, NULL);
	free(c->script_in);
	c->script_in = action_out(in);
	c->binds[0] = (struct sandbox_bind){ c->script_in, NVCC_IN };
	c->binds[1] = (struct sandbox_bind){ c->stage_parts, NVCC_PARTS };
	return call_action(c, (struct action_spec){ .kind = kind, .argv = c->script.items, .env = c->env.items,
		.build = c->stage_view, .binds = c->binds, .bind_count = 2, .ended = ended, .ctx = c });
}

/* In a worker: the object of nvcc's own run.  What it read is what its preprocessing read, copies of which it saw. */
static int take_whole(void *ctx, struct buf *answer, struct err *err)
{
	struct compile_call *c = ctx;
	_cleanup_compile_trace_ struct compile_trace trace = { 0 };
	_cleanup_manifest_entry_ struct manifest_entry entry = { 0 };
	_cleanup_close_ int texts = action_open_out(c->texts, err);
	if (texts < 0 || trace_take(c, texts, &trace, &entry, err) < 0)
		return -1;
	return take_run(c, &entry, answer, err);
}

static void whole_ended(void *ctx, const char *why)
{
	struct compile_call *c = ctx;
	call_count(c, c->action);
	if (why)
		call_place(c, why);
	else
		nvcc_take(c, take_whole, take_run_done);
}

static void run_whole(struct compile_call *c)
{
	c->action = call_action(c, (struct action_spec){ .kind = ACTION_NVCC, .argv = c->command.compile.items,
		.env = c->command.env.items, .build = c->stage_view, .ended = whole_ended, .ctx = c });
}

/* The steps get what nvcc would give them besides the command's own environment. */
static void make_env(struct compile_call *c)
{
	for (size_t i = 0; i < c->command.env.count; i++)
		if (!str_starts(c->command.env.items[i], "PATH=") && !str_starts(c->command.env.items[i], "LD_LIBRARY_PATH="))
			str_list_add(&c->env, c->command.env.items[i]);
	for (size_t i = 0; i < c->steps.env.count; i++)
		str_list_add(&c->env, c->steps.env.items[i]);
	str_list_take(&c->env, NULL);
}

static int read_answer(struct compile_call *c, const struct buf *answer, struct slice *why, struct err *err)
{
	struct slice manifest, dryrun, news, rest = buf_slice(answer);
	if (answer_get(&rest, why, err) < 0 || answer_get_hash(&rest, &c->whole, err) < 0 || answer_get_hash(&rest, &c->view, err) < 0 ||
			answer_get(&rest, &manifest, err) < 0 || answer_get(&rest, &dryrun, err) < 0 || answer_get(&rest, &news, err) < 0)
		return -1;
	compile_known_learn(c->pool->known, news);
	if (why->n > 1)
		return 0;
	buf_clear(&c->manifest);
	buf_add(&c->manifest, manifest.p, manifest.n);
	return nvcc_steps_read(dryrun, &c->steps, err);
}

static void texts_read(void *ctx, int rc, struct buf *answer, struct err *err)
{
	struct compile_call *c = ctx;
	struct slice why;
	if (rc < 0 || read_answer(c, answer, &why, err) < 0) {
		call_place(c, err->msg);
		return;
	}
	action_release(c->texts);
	if (why.n > 1) {
		c->why = mem_dup(why.p);
		run_whole(c);
		return;
	}
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int there = result_find(c->pool, &c->whole, &path, err);
	if (there >= 0) {
		call_made(c, NULL, &c->whole, "hit"); /* the manifest alone is new */
		return;
	}
	if (err->code != ERR_NONE) {
		call_place(c, err->msg);
		return;
	}
	make_env(c);
	nvcc_split(c);
}

static void texts_ended(void *ctx, const char *why)
{
	struct compile_call *c = ctx;
	_cleanup_err_ struct err err = { 0 };
	call_count(c, c->texts);
	if (why) {
		call_place(c, why);
		return;
	}
	c->stage = store_tmp_name(c->pool->o.s, "stage", &err);
	if (!c->stage) {
		call_place(c, err.msg);
		return;
	}
	c->stage_view = mem_printf("%s/tmp/%s/view", store_folder(c->pool->o.s), c->stage);
	c->stage_parts = mem_printf("%s/tmp/%s/parts", store_folder(c->pool->o.s), c->stage);
	call_worker(c, nvcc_read_texts, c, texts_read);
}

void nvcc_run(struct compile_call *c)
{
	c->texts = call_action(c, (struct action_spec){ .kind = ACTION_TEXTS, .argv = c->command.preprocess.items,
		.env = c->command.env.items, .traced = true, .ended = texts_ended, .ctx = c });
}
