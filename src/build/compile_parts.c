/* nvcc's cicc and ptxas steps: each an action with a key, a result and a record of its own. */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "build/compile_nvcc.h"
#include "compile/arch_names.h"
#include "compile/nvcc_key.h"
#include "core/fs.h"

#define PTX_MAX (1u << 30)   /* bytes of PTX or of a stub */
#define LIST_MAX 4096

static const struct nvcc_step *step_of(const struct compile_part *p)
{
	return &p->call->steps.items.items[p->step];
}

static const char *base(const char *path)
{
	return strrchr(path, '/') + 1; /* of a step's file: nvcc_steps_read() has seen to it */
}

/* In a worker: the result of a part's run. */
static int take(void *ctx, struct buf *answer, struct err *err)
{
	struct compile_part *p = ctx;
	struct compile_call *c = p->call;
	bool cicc = step_of(p)->kind == NVCC_CICC;
	static const struct taken_file of_cicc[] = { { "ptx", "ptx" }, { "stub.c", "stub.c" }, { NULL, NULL } };
	static const struct taken_file of_ptxas[] = { { "cubin", "cubin" }, { NULL, NULL } };
	_cleanup_buf_ struct buf said_out = BUF_INIT, said_err = BUF_INIT, record = BUF_INIT, ptx = BUF_INIT, stub = BUF_INIT;
	_cleanup_close_ int out = action_open_out(p->action, err);
	_cleanup_close_ int messages = out < 0 ? -1 : action_open_messages(p->action, err);
	struct store_prepared made = { 0 };
	char moves = 0;
	if (messages < 0 || take_messages(messages, &said_out, &said_err, err) < 0 ||
			take_result(c, p->made, out, cicc ? of_cicc : of_ptxas, buf_slice(&said_out),
				buf_slice(&said_err), err) < 0)
		return -1;
	if (p->named) {
		_cleanup_free_ char *list = fs_join(p->made, "list");
		if (fs_read_file(out, "ptx", PTX_MAX, &ptx, err) < 0 || fs_read_file(out, "stub.c", PTX_MAX, &stub, err) < 0 ||
				fs_write_file(store_tmp_fd(c->pool->o.s), list, c->steps.arch_list, strlen(c->steps.arch_list), 0644, err) < 0)
			return -1;
		moves = arch_names_can_move(buf_slice(&ptx), c->steps.arch_list) &&
			arch_names_stub_can_move(buf_slice(&stub), c->steps.arch_list) && said_err.len + said_out.len == 0;
	}
	if (take_prepare(c, p->made, cicc ? "-ptx" : "-cubin", &made, err) < 0)
		return -1;
	store_prepared_write(&made, &record);
	answer_put(answer, &moves, 1);
	answer_put(answer, record.data, record.len);
	return 0;
}

static int write_part(struct compile_call *c, const char *name, const void *data, size_t len, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/parts/%s", c->stage, name);
	return fs_write_file(store_tmp_fd(c->pool->o.s), path, data, len, 0644, err);
}

static int copy_said(struct compile_part *p, int folder, const char *from, const char *suffix, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *path = mem_printf("%s/said/%zu.%s", p->call->stage, p->step, suffix);
	if (faccessat(folder, from, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	if (fs_read_file(folder, from, COMPILE_MESSAGES_MAX, &text, err) < 0)
		return -1;
	return fs_write_file(store_tmp_fd(p->call->pool->o.s), path, text.data ? text.data : "", text.len, 0644, err);
}

/* The stub names itself; the name that it has with this list is put in the place of that. */
static void rename_stub(struct slice stub, const char *name, struct buf *out)
{
	const struct slice own = SLICE("\"" NVCC_STUB "\"");
	const char *p = stub.p, *end = stub.p + stub.n;
	for (const char *at; (at = memmem(p, (size_t)(end - p), own.p, own.n)) != NULL; p = at + own.n) {
		buf_add(out, p, (size_t)(at - p));
		buf_printf(out, "\"%s\"", name);
	}
	buf_add(out, p, (size_t)(end - p));
}

/* For which list of architectures was it made?  Text of an owned string, NULL: it makes no difference. */
static int read_list(const struct compile_part *p, int folder, struct buf *list, struct err *err)
{
	if (!p->named)
		return 0;
	return fs_read_file(folder, "list", LIST_MAX, list, err);
}

static void part_start(struct compile_call *c, size_t step, const struct hash *exact, const struct hash *shared, bool named);

/* PTX is there: what assembles it can go. */
static void start_assemblers(struct compile_call *c, size_t cicc, struct slice ptx)
{
	const struct nvcc_key k = { &c->command, c->service->view.toolchain, c->command.looks_at_files ? &c->view : NULL };
	for (size_t i = 0; i < c->steps.items.count && !c->placing; i++) {
		const struct nvcc_step *s = &c->steps.items.items[i];
		struct hash key;
		if (s->kind != NVCC_PTXAS || s->from != cicc)
			continue;
		nvcc_key_ptxas(&k, s, ptx, &key);
		part_start(c, i, &key, &key, false);
	}
}

static int use_cicc(struct compile_part *p, int folder, struct err *err)
{
	struct compile_call *c = p->call;
	const struct nvcc_step *s = step_of(p);
	const char *stub_name = nvcc_step_value(s, "--stub_file_name");
	_cleanup_buf_ struct buf ptx = BUF_INIT, moved = BUF_INIT, moved_stub = BUF_INIT, stub = BUF_INIT, named = BUF_INIT, list = BUF_INIT;
	if (fs_read_file(folder, "ptx", PTX_MAX, &ptx, err) < 0 || fs_read_file(folder, "stub.c", PTX_MAX, &stub, err) < 0 ||
			read_list(p, folder, &list, err) < 0)
		return -1;
	struct slice text = buf_slice(&ptx), stub_text = buf_slice(&stub);
	if (list.len && strcmp(list.data, c->steps.arch_list) != 0) {
		arch_names_move(text, list.data, c->steps.arch_list, &moved);
		arch_names_move(stub_text, list.data, c->steps.arch_list, &moved_stub);
		text = buf_slice(&moved);
		stub_text = buf_slice(&moved_stub);
	}
	rename_stub(stub_text, stub_name, &named);
	if (write_part(c, base(s->writes), text.p, text.n, err) < 0 ||
			write_part(c, base(stub_name), named.data, named.len, err) < 0)
		return -1;
	start_assemblers(c, p->step, text);
	return 0;
}

static int use_ptxas(struct compile_part *p, int folder, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/parts/%s", p->call->stage, base(step_of(p)->writes));
	_cleanup_close_ int from = result_open_file(folder, "cubin", err);
	_cleanup_close_ int to = from < 0 ? -1 : openat(store_tmp_fd(p->call->pool->o.s), path,
		O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (from >= 0 && to < 0)
		return err_sys(err, "can't write a compile's part");
	return from < 0 ? -1 : fs_copy_bytes(from, to, -1, err);
}

static bool all_done(const struct compile_call *c)
{
	size_t wanted = 0, done = 0;
	for (size_t i = 0; i < c->steps.items.count; i++)
		wanted += c->steps.items.items[i].kind == NVCC_CICC || c->steps.items.items[i].kind == NVCC_PTXAS;
	for (size_t i = 0; i < c->parts.count; i++)
		done += c->parts.items[i]->done;
	return done == wanted;
}

static void use(struct compile_part *p, int folder, const char *path)
{
	struct compile_call *c = p->call;
	_cleanup_err_ struct err err = { 0 };
	bool cicc = step_of(p)->kind == NVCC_CICC;
	queue_record(c->service, "step", p->name, p->action, p->action ? "miss" : "hit", path);
	if (p->action)
		call_count(c, p->action);
	claim_drop(&p->claim);
	action_free(steal_ptr(p->action));
	p->done = true;
	if (copy_said(p, folder, "stdout", "out", &err) < 0 || copy_said(p, folder, "stderr", "err", &err) < 0 ||
			(cicc ? use_cicc(p, folder, &err) : use_ptxas(p, folder, &err)) < 0)
		call_place(c, err.msg);
	else if (!c->placing && !c->action && all_done(c)) /* a ptxas step that was found at once may have begun it */
		nvcc_join(c);
}

/* Does it have a result by one of its keys? */
static bool look(void *ctx)
{
	struct compile_part *p = ctx;
	const struct hash *keys[] = { &p->exact, &p->shared };
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *path = NULL;
	for (size_t i = 0; i < (p->named ? 2 : 1); i++) {
		_cleanup_close_ int folder = result_find(p->call->pool, keys[i], &path, &err);
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
	p->action = action_new(c->service, &(struct action_spec){ .kind = cicc ? ACTION_CICC : ACTION_PTXAS, .name = p->name,
		.number = c->number, .argv = p->argv.items, .env = c->env.items, .cwd = c->command.cwd, .build = c->stage_view,
		.binds = &p->bind, .bind_count = 1, .ended = ended, .ctx = p });
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
	*p = (struct compile_part){ .call = c, .step = step, .exact = *exact, .shared = *shared, .named = named };
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
		struct slice exact, shared, named;
		struct hash hashes[2];
		if (c->steps.items.items[i].kind != NVCC_CICC)
			continue;
		if (answer_get(&keys, &exact, err) < 0 || answer_get(&keys, &shared, err) < 0 || answer_get(&keys, &named, err) < 0)
			return -1;
		memcpy(hashes[0].bytes, exact.p, HASH_SIZE);
		memcpy(hashes[1].bytes, shared.p, HASH_SIZE);
		part_start(c, i, &hashes[0], &hashes[1], named.p[0]);
	}
	return 0;
}

void parts_free(struct compile_call *c)
{
	for (size_t i = 0; i < c->parts.count; i++) {
		struct compile_part *p = c->parts.items[i];
		claim_drop(&p->claim);
		action_free(p->action);
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
