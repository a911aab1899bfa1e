/* In a worker: a part's result put into the stage, where the steps behind it look for it; see compile_nvcc.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build/compile_nvcc.h"
#include "build/compile_ptx.h"
#include "compile/arch_names.h"
#include "compile/nvcc_key.h"
#include "core/fs.h"

#define LIST_MAX 4096

static const char *base(const char *path)
{
	return strrchr(path, '/') + 1; /* of a step's file: nvcc_steps_read() has seen to it */
}

static int write_part(struct compile_call *c, const char *name, struct slice data, struct err *err)
{
	_cleanup_free_ char *path = mem_printf("%s/parts/%s", c->stage, name);
	return fs_write_file(store_tmp_fd(c->pool->o.s), path, data.p, data.n, 0644, err);
}

static int place_said(struct compile_part *p, const char *from, const char *suffix, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *path = mem_printf("%s/said/%zu.%s", p->call->stage, p->step, suffix);
	if (faccessat(p->folder, from, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : err_sys(err, "a compile's result can't be read"); /* it said nothing */
	if (fs_read_file(p->folder, from, COMPILE_MESSAGES_MAX, &text, err) < 0)
		return -1;
	return fs_write_file(store_tmp_fd(p->call->pool->o.s), path, buf_slice(&text).p, text.len, 0644, err);
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

/* Made for another list of architectures than this one's. */
static bool has_moved(const struct compile_part *p, const char *list)
{
	return *list && strcmp(list, p->call->steps.arch_list) != 0;
}

static int place_ptx(struct compile_part *p, const char *list, const char *path, struct err *err)
{
	int tmp = store_tmp_fd(p->call->pool->o.s);
	if (!has_moved(p, list))
		return store_copy_in(tmp, p->folder, "ptx", path, err);
	_cleanup_close_ int from = fs_open_beneath(p->folder, "ptx", O_RDONLY, 0, err);
	_cleanup_close_ int to = from < 0 ? -1 : fs_open_beneath(tmp, path, O_WRONLY | O_CREAT | O_EXCL, 0644, err);
	if (to < 0 || ptx_move(from, list, to, p->call->steps.arch_list, err) < 0)
		return -1;
	return close(steal_fd(to)) < 0 ? err_sys(err, "can't write PTX") : 0;
}

static int place_stub(struct compile_part *p, const char *list, const char *name, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT, moved = BUF_INIT, named = BUF_INIT;
	if (fs_read_file(p->folder, "stub.c", NVCC_TEXT_MAX, &text, err) < 0)
		return -1;
	if (has_moved(p, list))
		arch_names_move(buf_slice(&text), list, p->call->steps.arch_list, &moved);
	rename_stub(buf_slice(has_moved(p, list) ? &moved : &text), name, &named);
	return write_part(p->call, base(name), buf_slice(&named), err);
}

/* The keys of what assembles the PTX, in the order of the steps. */
static int put_keys(const struct compile_part *p, const char *path, struct buf *answer, struct err *err)
{
	const struct compile_call *c = p->call;
	const struct nvcc_key k = { &c->command, c->service->view.toolchain, c->command.looks_at_files ? &c->view : NULL };
	_cleanup_close_ int ptx = fs_open_beneath(store_tmp_fd(c->pool->o.s), path, O_RDONLY, 0, err);
	struct stat st;
	if (ptx < 0)
		return -1;
	if (fstat(ptx, &st) < 0)
		return err_sys(err, "can't read PTX");
	for (size_t i = 0; i < c->steps.items.count; i++) {
		const struct nvcc_step *s = &c->steps.items.items[i];
		struct hasher h;
		struct hash key;
		if (s->kind != NVCC_PTXAS || s->from != p->step)
			continue;
		nvcc_key_ptxas(&k, s, (uint64_t)st.st_size, &h);
		if (lseek(ptx, 0, SEEK_SET) < 0)
			return err_sys(err, "can't read PTX");
		if (ptx_hash(ptx, &h, err) < 0)
			return -1;
		hash_end(&h, &key);
		answer_put(answer, key.bytes, HASH_SIZE);
	}
	return 0;
}

static int place_cicc(struct compile_part *p, struct buf *answer, struct err *err)
{
	const struct nvcc_step *s = &p->call->steps.items.items[p->step];
	_cleanup_free_ char *path = mem_printf("%s/parts/%s", p->call->stage, base(s->writes));
	_cleanup_buf_ struct buf list = BUF_INIT;
	if (p->named && fs_read_file(p->folder, "list", LIST_MAX, &list, err) < 0)
		return -1;
	const char *made_for = buf_slice(&list).p;
	if (place_ptx(p, made_for, path, err) < 0 ||
			place_stub(p, made_for, nvcc_step_value(s, "--stub_file_name"), err) < 0)
		return -1;
	return put_keys(p, path, answer, err);
}

static int place_ptxas(struct compile_part *p, struct err *err)
{
	const struct nvcc_step *s = &p->call->steps.items.items[p->step];
	_cleanup_free_ char *path = mem_printf("%s/parts/%s", p->call->stage, base(s->writes));
	return store_copy_in(store_tmp_fd(p->call->pool->o.s), p->folder, "cubin", path, err);
}

int part_place(void *ctx, struct buf *answer, struct err *err)
{
	struct compile_part *p = ctx;
	if (place_said(p, "stdout", "out", err) < 0 || place_said(p, "stderr", "err", err) < 0)
		return -1;
	bool cicc = p->call->steps.items.items[p->step].kind == NVCC_CICC;
	return cicc ? place_cicc(p, answer, err) : place_ptxas(p, err);
}
