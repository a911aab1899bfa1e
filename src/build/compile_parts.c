/* nvcc's cicc and ptxas steps: each an action with a key, a result and a record of its own. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "build/compile_nvcc.h"
#include "build/compile_ptx.h"
#include "compile/arch_names.h"
#include "compile/nvcc_key.h"
#include "core/fs.h"

static const struct nvcc_step *step_of(const struct compile_part *p)
{
	return &p->call->steps.items.items[p->step];
}

/* In a worker: is it right for other lists of architectures too, once their names are put in? */
static int judge_moves(struct compile_part *p, int out, bool silent, char *moves, struct err *err)
{
	const struct compile_call *c = p->call;
	const char *names = c->steps.arch_list;
	_cleanup_buf_ struct buf stub = BUF_INIT;
	_cleanup_free_ char *list = fs_join(p->made, "list");
	_cleanup_close_ int ptx = fs_open_beneath(out, "ptx", O_RDONLY, 0, err);
	bool can = false;
	if (ptx < 0 || fs_read_file(out, "stub.c", NVCC_TEXT_MAX, &stub, err) < 0 ||
			fs_write_file(store_tmp_fd(c->pool->o.s), list, names, strlen(names), 0644, err) < 0 ||
			(silent && ptx_can_move(ptx, names, &can, err) < 0))
		return -1;
	*moves = can && arch_names_stub_can_move(buf_slice(&stub), names);
	return 0;
}

/* In a worker: the result of a part's run. */
static int take(void *ctx, struct buf *answer, struct err *err)
{
	struct compile_part *p = ctx;
	struct compile_call *c = p->call;
	bool cicc = step_of(p)->kind == NVCC_CICC;
	static const struct taken_file of_cicc[] = { { "ptx", "ptx" }, { "stub.c", "stub.c" }, { NULL, NULL } };
	static const struct taken_file of_ptxas[] = { { "cubin", "cubin" }, { NULL, NULL } };
	_cleanup_buf_ struct buf said_out = BUF_INIT, said_err = BUF_INIT, record = BUF_INIT;
	_cleanup_close_ int out = action_open_out(p->action, err);
	_cleanup_close_ int messages = out < 0 ? -1 : action_open_messages(p->action, err);
	struct store_prepared made = { 0 };
	char moves = 0;
	if (messages < 0 || take_messages(messages, &said_out, &said_err, err) < 0 ||
			take_result(c, p->made, out, cicc ? of_cicc : of_ptxas, buf_slice(&said_out), buf_slice(&said_err), err) < 0 ||
			(p->named && judge_moves(p, out, said_out.len + said_err.len == 0, &moves, err) < 0) ||
			take_prepare(c, p->made, cicc ? "-ptx" : "-cubin", &made, err) < 0)
		return -1;
	store_prepared_write(&made, &record);
	answer_put(answer, &moves, 1);
	answer_put(answer, record.data, record.len);
	return 0;
}

static void part_start(struct compile_call *c, size_t step, const struct hash *exact, const struct hash *shared, bool named);

bool parts_done(const struct compile_call *c, bool ptxas)
{
	size_t wanted = 0, done = 0;
	for (size_t i = 0; i < c->steps.items.count; i++) {
		enum nvcc_step_kind kind = c->steps.items.items[i].kind;
		wanted += kind == NVCC_CICC || (kind == NVCC_PTXAS && ptxas);
	}
	for (size_t i = 0; i < c->parts.count; i++) {
		const struct compile_part *p = c->parts.items[i];
		done += p->done && (ptxas || step_of(p)->kind == NVCC_CICC);
	}
	return done == wanted;
}

/* What waited for it: of a cicc step, the ptxas steps, whose keys the worker has written. */
static int start_next(struct compile_part *p, struct slice keys, struct err *err)
{
	struct compile_call *c = p->call;
	for (size_t i = 0; i < c->steps.items.count && !c->placing; i++) {
		const struct nvcc_step *s = &c->steps.items.items[i];
		struct hash key;
		if (s->kind != NVCC_PTXAS || s->from != p->step)
			continue;
		if (answer_get_hash(&keys, &key, err) < 0)
			return -1;
		part_start(c, i, &key, &key, false);
	}
	return 0;
}

/* Its share is given back only now: what follows from it goes before others. */
static void placed(void *ctx, int rc, struct buf *answer, struct err *err)
{
	struct compile_part *p = ctx;
	struct compile_call *c = p->call;
	fs_close_ptr(&p->folder);
	p->done = true;
	if (rc < 0 || (step_of(p)->kind == NVCC_CICC && start_next(p, buf_slice(answer), err) < 0)) {
		call_place(c, err->msg);
		return;
	}
	if (c->placing)
		return;
	nvcc_go_on(c);
	action_free(steal_ptr(p->action));
}

/* Its result, an open folder that is taken over, into the stage. */
static void use(struct compile_part *p, int folder, const char *path)
{
	struct compile_call *c = p->call;
	queue_record(c->service, "step", p->name, p->action, p->action ? "miss" : "hit", path);
	if (p->action) {
		call_count(c, p->action);
		if (step_of(p)->kind == NVCC_CICC)
			queue_reckon(c, p->action);
	}
	claim_drop(&p->claim);
	p->folder = folder;
	call_worker(c, part_place, p, placed);
}

/* Does it have a result by one of its keys? */
static bool look(void *ctx)
{
	struct compile_part *p = ctx;
	const struct hash *keys[] = { &p->exact, &p->shared };
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *path = NULL;
	for (size_t i = 0; i < (p->named ? 2 : 1); i++) {
		int folder = result_find(p->call->pool, keys[i], &path, &err);
		if (folder >= 0) {
			use(p, folder, path);
			return true;
		}
		if (err.code != ERR_NONE) {
			call_place(p->call, err.msg);
			return true;
		}
	}
	return false;
}

static void taken(void *ctx, int rc, struct buf *answer, struct err *err)
{
	struct compile_part *p = ctx;
	struct compile_call *c = p->call;
	struct slice rest = buf_slice(answer), moves, record;
	struct compile_made m = { .key = { p->exact, p->shared }, .key_count = 1, .has_made = true };
	if (rc < 0 || answer_get(&rest, &moves, err) < 0 || answer_get(&rest, &record, err) < 0 ||
			store_prepared_read(record, &m.made, err) < 0) {
		call_place(c, err->msg);
		return;
	}
	m.key_count += moves.n == 1 && moves.p[0];
	m.lock = p->claim.lock;
	p->claim.lock = -1;
	mem_free_ptr(&p->made);
	result_keep(c->pool, &m);
	if (!look(p))
		call_place(c, "a part of its result is gone");
}

static void ended(void *ctx, const char *why)
{
	struct compile_part *p = ctx;
	_cleanup_err_ struct err err = { 0 };
	if (why) {
		call_count(p->call, p->action);
		call_place(p->call, why);
		return;
	}
	p->made = store_tmp_name(p->call->pool->o.s, "compile", &err);
	if (p->made)
		call_worker(p->call, take, p, taken);
	else
		call_place(p->call, err.msg);
}

static void turn(void *ctx)
{
	struct compile_part *p = ctx;
	struct compile_call *c = p->call;
	bool cicc = step_of(p)->kind == NVCC_CICC;
	p->bind = (struct sandbox_bind){ p->in, NVCC_IN };
	p->action = call_action(c, (struct action_spec){ .kind = cicc ? ACTION_CICC : ACTION_PTXAS, .name = p->name,
		.argv = p->argv.items, .env = c->env.items, .build = c->stage_view, .binds = &p->bind, .bind_count = 1,
		.ended = ended, .ctx = p });
}

static void claim_failed(void *ctx, const char *why)
{
	struct compile_part *p = ctx;
	call_place(p->call, why);
}

static void part_start(struct compile_call *c, size_t step, const struct hash *exact, const struct hash *shared, bool named)
{
	struct compile_part *p = mem_alloc(sizeof *p);
	_cleanup_err_ struct err err = { 0 };
	*p = (struct compile_part){ .call = c, .step = step, .exact = *exact, .shared = *shared, .named = named, .folder = -1 };
	*list_push(&c->parts) = p;
	const struct nvcc_step *s = step_of(p);
	bool cicc = s->kind == NVCC_CICC;
	p->name = mem_printf("%s %s %s", c->name, cicc ? "cicc" : "ptxas", s->arch);
	p->in = cicc ? action_out(c->texts) : mem_dup(c->stage_parts);
	p->claim = (struct compile_claim){ .look = look, .turn = turn, .failed = claim_failed, .ctx = p };
	if (nvcc_step_argv(s, &p->argv, &err) < 0)
		call_place(c, err.msg);
	else
		claim_take(&p->claim, c->pool, &p->shared);
}

int parts_start(struct compile_call *c, struct slice keys, struct err *err)
{
	for (size_t i = 0; i < c->steps.items.count && !c->placing; i++) {
		struct hash exact, shared;
		struct slice named;
		if (c->steps.items.items[i].kind != NVCC_CICC)
			continue;
		if (answer_get_hash(&keys, &exact, err) < 0 || answer_get_hash(&keys, &shared, err) < 0 ||
				answer_get(&keys, &named, err) < 0)
			return -1;
		part_start(c, i, &exact, &shared, named.n == 1 && named.p[0]);
	}
	return 0;
}

void parts_free(struct compile_call *c)
{
	for (size_t i = 0; i < c->parts.count; i++) {
		struct compile_part *p = c->parts.items[i];
		claim_drop(&p->claim);
		action_free(p->action);
		fs_close_ptr(&p->folder);
		if (p->made)
			fs_remove_tree(store_tmp_fd(c->pool->o.s), p->made, NULL);
		str_list_free(&p->argv);
		free(p->made);
		free(p->name);
		free(p->in);
		free(p);
	}
	list_free(&c->parts);
}
