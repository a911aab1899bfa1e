/* cudafe++ splits the host's text into the C++ of the host's half and the module's id, which cicc needs: so it runs
 * before the keys of the cicc steps can be made, and not at all where the whole is there. */
#include "build/compile_nvcc.h"

#include <fcntl.h>
#include <string.h>

#include "compile/nvcc_key.h"
#include "core/fs.h"

static int put_key(const struct compile_call *c, const struct nvcc_step *s, int texts, struct slice module_id,
	struct buf *answer, struct err *err)
{
	const struct nvcc_key k = { &c->command, c->service->view.toolchain, c->command.looks_at_files ? &c->view : NULL };
	struct { struct hash exact, shared; bool named; } keys;
	_cleanup_buf_ struct buf text = BUF_INIT;
	memset(&keys, 0, sizeof keys);
	if (nvcc_read_text(texts, c->steps.items.items[s->from].writes, &text, err) < 0)
		return -1;
	nvcc_key_cicc(&k, s, c->steps.arch_list, buf_slice(&text), module_id, &keys.exact, &keys.shared, &keys.named);
	answer_put(answer, &keys.exact, HASH_SIZE);
	answer_put(answer, &keys.shared, HASH_SIZE);
	answer_put(answer, &keys.named, 1);
	return 0;
}

/* In a worker: the keys of the cicc steps; the module's id is put beside the texts, where those steps look for it. */
static int take(void *ctx, struct buf *answer, struct err *err)
{
	struct compile_call *c = ctx;
	const char *path = nvcc_step_value(nvcc_step_find(&c->steps, NVCC_CUDAFE), "--module_id_file_name");
	_cleanup_buf_ struct buf id = BUF_INIT;
	_cleanup_close_ int out = action_open_out(c->cudafe, err);
	_cleanup_close_ int texts = out < 0 ? -1 : action_open_out(c->texts, err);
	if (texts < 0 || nvcc_read_text(out, path, &id, err) < 0 ||
			fs_write_file(texts, path + strlen(COMPILE_OUT "/"), id.data ? id.data : "", id.len, 0644, err) < 0)
		return -1;
	for (size_t i = 0; i < c->steps.items.count; i++) {
		const struct nvcc_step *s = &c->steps.items.items[i];
		if (s->kind == NVCC_CICC && put_key(c, s, texts, buf_slice(&id), answer, err) < 0)
			return -1;
	}
	return 0;
}

static void taken(void *ctx, int rc, struct buf *answer, struct err *err)
{
	struct compile_call *c = ctx;
	action_release(c->cudafe);
	if (rc < 0 || parts_start(c, buf_slice(answer), err) < 0)
		call_place(c, err->msg);
}

static void ended(void *ctx, const char *why)
{
	struct compile_call *c = ctx;
	call_count(c, c->cudafe);
	if (why)
		call_place(c, why);
	else
		call_worker(c, take, c, taken);
}

/* As nvcc has the shell run it, with the texts under the names that it gives them. */
void nvcc_split(struct compile_call *c)
{
	const char *said = COMPILE_OUT "/said";
	char *script = mem_printf("umask 022\nset -e\nln -s " NVCC_IN "/*.ii " COMPILE_OUT "/\nmkdir %s\n"
		"%s >%s/0.out 2>%s/0.err\n", said, nvcc_step_find(&c->steps, NVCC_CUDAFE)->line, said, said);
	c->cudafe = nvcc_script(c, ACTION_CUDAFE, script, c->texts, ended);
}
