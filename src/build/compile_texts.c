/* In a worker: what nvcc's preprocessing left, made into keys and into what the steps behind it see. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build/compile_nvcc.h"
#include "compile/nvcc_deps.h"
#include "compile/nvcc_key.h"
#include "core/fs.h"

#define VIEW_MAX (8ull << 30)      /* bytes of all files of the view */

/* What is known of the texts of all steps: they are large, and are read one at a time. */
struct texts {
	struct nvcc_steps steps;
	struct hash *hashes;       /* by step */
	struct hash host;
	struct nvcc_deps deps;
	struct buf said, dryrun;
};

static void texts_free(struct texts *t)
{
	free(t->hashes);
	nvcc_deps_free(&t->deps);
	buf_free(&t->said);
	buf_free(&t->dryrun);
	nvcc_steps_free(&t->steps);
}

int nvcc_read_text(int out, const char *path, struct buf *text, struct err *err)
{
	struct stat st;
	_cleanup_close_ int fd = fs_open_beneath(out, path + strlen(COMPILE_OUT "/"), O_RDONLY | O_NONBLOCK, 0, err);
	if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INPUT, "nvcc's preprocessing left no file %s", path);
	return fs_slurp(fd, NVCC_TEXT_MAX, text, err);
}

/* What the run of step `n` of those that the script ran has said. */
static int read_said(int out, size_t n, struct buf *said, struct err *err)
{
	static const char *const streams[] = { "out", "err" };
	for (size_t i = 0; i < 2; i++) {
		_cleanup_free_ char *path = mem_printf(COMPILE_OUT "/said/%zu.%s", n, streams[i]);
		if (nvcc_read_text(out, path, said, err) < 0)
			return -1;
	}
	return said->len > COMPILE_MESSAGES_MAX ? err_set(err, ERR_INPUT, "it says too much") : 0;
}

static int read_one(struct texts *t, int out, const char *path, bool deps, struct hash *hash, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (nvcc_read_text(out, path, &text, err) < 0)
		return -1;
	struct slice bytes = buf_slice(&text);
	hash_of(bytes.p, bytes.n, hash);
	if (deps)
		nvcc_deps_text(&t->deps, bytes);
	return 0;
}

static int read_texts(const struct compile_call *c, struct texts *t, int out, struct err *err)
{
	size_t ran = 0;
	t->hashes = mem_alloc(t->steps.items.count * sizeof *t->hashes);
	t->deps = (struct nvcc_deps){ .users_only = c->command.deps_users, .phony = c->command.deps_phony };
	for (size_t i = 0; i < t->steps.items.count; i++) {
		const struct nvcc_step *s = &t->steps.items.items[i];
		if (s->kind == NVCC_PREPROCESS && (read_one(t, out, s->writes, c->command.depfile != NULL, &t->hashes[i], err) < 0 ||
				read_said(out, ran++, &t->said, err) < 0))
			return -1;
	}
	return read_one(t, out, COMPILE_OUT "/host.ii", false, &t->host, err);
}

/* Every step that forge is to run must be one it can. */
static int check_steps(const struct nvcc_steps *steps, struct err *err)
{
	for (size_t i = 0; i < steps->items.count; i++) {
		const struct nvcc_step *s = &steps->items.items[i];
		_cleanup_str_list_ struct str_list argv = STR_LIST_INIT;
		if ((s->kind == NVCC_CICC || s->kind == NVCC_PTXAS) && nvcc_step_argv(s, &argv, err) < 0)
			return -1;
		const char *module = s->kind == NVCC_CUDAFE ? nvcc_step_value(s, "--module_id_file_name") : COMPILE_OUT "/x";
		const char *stub = s->kind == NVCC_CICC ? nvcc_step_value(s, "--stub_file_name") : COMPILE_OUT "/x";
		if (!module || !str_starts(module, COMPILE_OUT "/") || !stub || !str_starts(stub, COMPILE_OUT "/"))
			return err_set(err, ERR_INPUT, "nvcc's steps leave out a file");
	}
	return 0;
}

static int write_deps(struct texts *t, int stage, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (t->deps.odd)
		return err_set(err, ERR_INPUT, "a header has an odd name");
	nvcc_deps_write(&t->deps, &text);
	return fs_write_file(stage, "deps", text.data, text.len, 0644, err);
}

/* The folders of path as they are spelled. */
static int make_folders(int view, const char *path, struct err *err)
{
	_cleanup_free_ char *part = mem_dup(path);
	for (char *slash = part; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
		*slash = '\0';
		if (*part && mkdirat(view, part, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "can't make the folder %s for a compile", part);
	}
	return 0;
}

static int place_file(int view, const struct trace_file *f, uint64_t *left, struct err *err)
{
	const char *name = f->path + strlen("/build/");
	const struct timespec times[2] = { { .tv_sec = ACTION_SOURCE_TIME }, { .tv_sec = ACTION_SOURCE_TIME } };
	if (f->content.n > *left)
		return err_set(err, ERR_INPUT, "its files are too large to be copied");
	*left -= f->content.n;
	if (make_folders(view, name, err) < 0)
		return -1;
	_cleanup_close_ int to = openat(view, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (to < 0)
		return err_sys(err, "can't copy %s", f->path);
	if (fs_write_all(to, f->content.p, f->content.n, err) < 0)
		return -1;
	return futimens(to, times) < 0 ? err_sys(err, "can't set the time of %s", f->path) : 0;
}

static int make_view(const struct compile_call *c, const struct trace *t, int stage, struct err *err)
{
	uint64_t left = VIEW_MAX;
	if (mkdirat(stage, "view", 0755) < 0)
		return err_sys(err, "can't make a folder for a compile");
	_cleanup_close_ int view = fs_open_beneath(stage, "view", O_RDONLY | O_DIRECTORY, 0, err);
	const char *cwd = c->command.cwd;
	_cleanup_free_ char *folder = str_starts(cwd, "/build/") ? mem_printf("%s/", cwd + strlen("/build/")) : NULL;
	if (view < 0 || make_folders(view, "home/", err) < 0 || (folder && make_folders(view, folder, err) < 0))
		return -1;
	for (size_t i = 0; i < t->files.count; i++)
		if (t->files.items[i].content.p && place_file(view, &t->files.items[i], &left, err) < 0)
			return -1;
	return 0;
}

static void hash_view(const struct manifest_entry *e, struct hash *out)
{
	const struct manifest_part *parts[] = { &e->build, &e->env };
	struct hasher h;
	hash_begin(&h);
	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < parts[i]->files.count; k++) {
			const struct manifest_file *f = &parts[i]->files.items[k];
			hash_update(&h, f->path, strlen(f->path) + 1);
			hash_update(&h, f->content.bytes, HASH_SIZE);
		}
	hash_end(&h, out);
}

static int make_stage(const struct compile_call *c, const struct trace *t, int *stage, struct err *err)
{
	int tmp = store_tmp_fd(c->pool->o.s);
	umask(022);
	if (mkdirat(tmp, c->stage, 0755) < 0)
		return err_sys(err, "can't make a folder for a compile");
	*stage = fs_open_beneath(tmp, c->stage, O_RDONLY | O_DIRECTORY, 0, err);
	if (*stage < 0 || make_view(c, t, *stage, err) < 0)
		return -1;
	return mkdirat(*stage, "parts", 0755) < 0 || mkdirat(*stage, "said", 0755) < 0 ?
		err_sys(err, "can't make a folder for a compile") : 0;
}

/* Take the command apart.  -1: nvcc is to compile it as a whole. */
static int take_apart(const struct compile_call *c, struct texts *t, int out, int stage, struct err *err)
{
	if (nvcc_steps_read(buf_slice(&t->dryrun), &t->steps, err) < 0 ||
			check_steps(&t->steps, err) < 0 || read_texts(c, t, out, err) < 0)
		return -1;
	if (c->command.depfile && !t->steps.deps)
		return err_set(err, ERR_INPUT, "nvcc makes its dependencies in another way");
	return c->command.depfile ? write_deps(t, stage, err) : 0;
}

static int answer_texts(struct compile_call *c, struct texts *t, struct manifest_entry *entry, const char *why,
	struct buf *answer, struct err *err)
{
	struct hash view;
	_cleanup_buf_ struct buf manifest = BUF_INIT;
	hash_view(entry, &view);
	const struct nvcc_key k = { &c->command, c->service->view.toolchain, c->command.looks_at_files ? &view : NULL };
	if (!*why)
		nvcc_key_whole(&k, &t->steps, t->hashes, &t->host, buf_slice(&t->said), &entry->result);
	if (!*why && trace_manifest(c, entry, &manifest, err) < 0)
		return -1;
	answer_put(answer, why, strlen(why) + 1);
	answer_put(answer, entry->result.bytes, HASH_SIZE);
	answer_put(answer, view.bytes, HASH_SIZE);
	answer_put(answer, manifest.data, manifest.len);
	answer_put(answer, t->dryrun.data, t->dryrun.len);
	struct slice news = compile_known_news(c->pool->known);
	answer_put(answer, news.p, news.n);
	return 0;
}

int nvcc_read_texts(void *ctx, struct buf *answer, struct err *err)
{
	struct compile_call *c = ctx;
	struct texts t = { 0 };
	_cleanup_compile_trace_ struct compile_trace trace = { 0 };
	_cleanup_manifest_entry_ struct manifest_entry entry = { 0 };
	_cleanup_err_ struct err why = { 0 };
	_cleanup_close_ int stage = -1;
	_cleanup_close_ int out = action_open_out(c->texts, err);
	int rc = -1;
	if (out >= 0 && trace_take(c, out, &trace, &entry, err) == 0 &&
			make_stage(c, &trace.seen, &stage, err) == 0 &&
			nvcc_read_text(out, COMPILE_OUT "/dryrun", &t.dryrun, err) == 0) {
		bool apart = take_apart(c, &t, out, stage, &why) == 0;
		rc = answer_texts(c, &t, &entry, apart ? "" : why.msg, answer, err);
	}
	texts_free(&t);
	return rc;
}
