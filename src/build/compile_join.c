/* nvcc's host half, and its last steps over what all the others left. */
#include "build/compile_nvcc.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "compile/nvcc_host.h"
#include "compile/nvcc_key.h"
#include "core/fs.h"

/* What the steps have said, the last ones excepted, in nvcc's order.  A step that said nothing may have left no file. */
static int gather_said(struct compile_call *c, struct buf *out, struct buf *messages, struct err *err)
{
	_cleanup_close_ int texts = action_open_out(c->texts, err);
	_cleanup_close_ int cudafe = texts < 0 ? -1 : action_open_out(c->cudafe, err);
	_cleanup_close_ int stage = cudafe < 0 ? -1 :
		fs_open_beneath(store_tmp_fd(c->pool->o.s), c->stage, O_RDONLY | O_DIRECTORY, 0, err);
	size_t preprocessed = 0;
	if (stage < 0)
		return -1;
	buf_str(messages, c->steps.said);
	for (size_t i = 0; i < c->steps.items.count; i++) {
		enum nvcc_step_kind kind = c->steps.items.items[i].kind;
		if (kind == NVCC_FATBINARY || kind == NVCC_HOST)
			continue;
		int from = kind == NVCC_PREPROCESS ? texts : kind == NVCC_CUDAFE ? cudafe : stage;
		size_t n = kind == NVCC_PREPROCESS ? preprocessed++ : kind == NVCC_CUDAFE ? 0 : i;
		for (int k = 0; k < 2; k++) {
			_cleanup_free_ char *path = mem_printf("said/%zu.%s", n, k ? "err" : "out");
			if (faccessat(from, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0 &&
					fs_read_file(from, path, COMPILE_MESSAGES_MAX, k ? messages : out, err) < 0)
				return -1;
		}
	}
	return 0;
}

/* In a worker: the object that the last sandbox left, and whether the host's half was made again for it. */
static int take_joined(void *ctx, struct buf *answer, struct err *err)
{
	struct compile_call *c = ctx;
	_cleanup_buf_ struct buf said_out = BUF_INIT, said_err = BUF_INIT, record = BUF_INIT;
	_cleanup_close_ int out = action_open_out(c->action, err);
	_cleanup_close_ int messages = out < 0 ? -1 : action_open_messages(c->action, err);
	const struct taken_file files[] = { { c->command.out_object + strlen(COMPILE_OUT "/"), "object" }, { NULL, NULL } };
	struct store_prepared made = { 0 };
	if (messages < 0 || gather_said(c, &said_out, &said_err, err) < 0 ||
			take_messages(messages, &said_out, &said_err, err) < 0 ||
			take_result(c, c->made, out, files, buf_slice(&said_out),
				buf_slice(&said_err), err) < 0)
		return -1;
	if (c->command.depfile) {
		_cleanup_close_ int stage = fs_open_beneath(store_tmp_fd(c->pool->o.s), c->stage, O_RDONLY | O_DIRECTORY, 0, err);
		_cleanup_free_ char *to = fs_join(c->made, "deps");
		if (stage < 0 || store_copy_in(store_tmp_fd(c->pool->o.s), stage, "deps", to, err) < 0)
			return -1;
	}
	if (take_prepare(c, c->made, "", &made, err) < 0)
		return -1;
	char again = faccessat(out, NVCC_HOST_AGAIN, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	store_prepared_write(&made, &record);
	answer_put(answer, record.data, record.len);
	answer_put(answer, &again, 1);
	return 0;
}

static void joined(void *ctx, int rc, struct buf *answer, struct err *err)
{
	struct compile_call *c = ctx;
	struct slice rest = buf_slice(answer), record, again;
	struct store_prepared made = { 0 };
	if (rc < 0 || answer_get(&rest, &record, err) < 0 || answer_get(&rest, &again, err) < 0 ||
			store_prepared_read(record, &made, err) < 0)
		call_place(c, err->msg);
	else
		call_made(c, &made, &c->whole, *again.p ? "miss, the host's half made twice: fatbinary's file has another form" : "miss");
}

static void join_ended(void *ctx, const char *why)
{
	struct compile_call *c = ctx;
	call_count(c, c->action);
	if (why)
		call_place(c, why);
	else
		nvcc_take(c, take_joined, joined);
}

static void join(struct compile_call *c)
{
	const struct compile_action *left = c->host ? c->host : c->cudafe;
	_cleanup_buf_ struct buf script = BUF_INIT;
	buf_str(&script, "umask 022\nset -e\nln -s " NVCC_IN "/*.cudafe1.cpp " NVCC_IN "/*.module_id " NVCC_PARTS "/* " COMPILE_OUT "/\n");
	for (size_t i = 0; i < c->steps.items.count; i++) {
		const struct nvcc_step *s = &c->steps.items.items[i];
		if (s->kind == NVCC_FATBINARY)
			buf_printf(&script, "%s\n", s->line);
		else if (s->kind == NVCC_HOST)
			buf_printf(&script, "%s\n", c->host_object ? c->host_object : s->line);
	}
	c->action = nvcc_script(c, ACTION_JOIN, buf_steal(&script), left, join_ended);
}

static void host_ended(void *ctx, const char *why)
{
	struct compile_call *c = ctx;
	call_count(c, c->host);
	action_release(c->host);
	c->host_done = true;
	if (why)
		call_place(c, why);
	else
		nvcc_go_on(c);
}

/* To assembly, beside ptxas, if it can be: it needs no device code but its names, which cicc's stubs have. */
static void start_host(struct compile_call *c)
{
	_cleanup_buf_ struct buf script = BUF_INIT, object = BUF_INIT;
	buf_str(&script, "umask 022\nset -e\ncp " NVCC_IN "/*.cudafe1.cpp " NVCC_IN "/*.module_id " COMPILE_OUT "/\nln -s " NVCC_PARTS "/* " COMPILE_OUT "/\n");
	c->host_done = !nvcc_host_split(&c->steps, &script, &object);
	if (c->host_done)
		return;
	c->host_object = buf_steal(&object);
	c->host = nvcc_script(c, ACTION_HOST, buf_steal(&script), c->cudafe, host_ended);
}

void nvcc_go_on(struct compile_call *c)
{
	if (!c->host && !c->host_done && parts_done(c, false))
		start_host(c);
	if (c->host_done && parts_done(c, true))
		join(c);
}
