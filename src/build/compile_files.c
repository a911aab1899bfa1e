/*
 * What the workers of a compile read and copy.  The build's folder is hostile and may change at any moment: files
 * are opened beneath it without following a link, and only plain ones are read.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "build/compile_impl.h"
#include "build/compile_world.h"
#include "compile/key.h"
#include "core/fs.h"

#define TEXT_MAX (1u << 30)        /* bytes of a preprocessed text */
#define TEXTS_MAX 256
#define INPUTS_MAX 100000
#define SOURCE_TIME 315619200      /* of every copy: nvcc -lineinfo writes it down; lib/build/build.sh has it too */
#define COPY_MAX (8ull << 30)      /* bytes of all inputs of a compile */

static int key_texts(struct compile_key *k, int out, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fs_list(out, &names, err) < 0)
		return -1;
	if (names.count == 0 || names.count > TEXTS_MAX)
		return err_set(err, ERR_INPUT, "the preprocessor left %zu texts", names.count);
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		struct stat st;
		_cleanup_close_ int fd = fs_open_beneath(out, names.items[i], O_RDONLY | O_NONBLOCK, 0, err);
		if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
			return err_set(err, ERR_INPUT, "the preprocessor left what is no text");
		if (fs_slurp(fd, TEXT_MAX, &text, err) < 0)
			return -1;
		struct slice bytes = { text.data ? text.data : "", text.len };
		if (compile_key_text(k, names.items[i], bytes, err) < 0)
			return -1;
	}
	return 0;
}

static int open_scratch(const struct compile_action *a, struct err *err)
{
	return fs_open_beneath(store_tmp_fd(a->pool->o.s), a->scratch, O_RDONLY | O_DIRECTORY, 0, err);
}

static int key_stderr(struct compile_action *a, struct compile_key *k, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_close_ int scratch = open_scratch(a, err);
	if (scratch < 0 || fs_read_file(scratch, "stderr", COMPILE_MESSAGES_MAX, &text, err) < 0)
		return -1;
	compile_key_stderr(k, (struct slice){ text.data ? text.data : "", text.len });
	return 0;
}

static int key_inputs(struct compile_key *k, const char *build, struct buf *found, struct err *err)
{
	const struct str_list *inputs = compile_key_inputs(k);
	_cleanup_close_ int folder = fs_open_dir(build, err);
	if (folder < 0)
		return -1;
	if (inputs->count > INPUTS_MAX)
		return err_set(err, ERR_INPUT, "it reads %zu files of the build's", inputs->count);
	for (size_t i = 0; i < inputs->count; i++) {
		const char *path = inputs->items[i];
		struct stat st;
		struct hash content;
		bool missing;
		_cleanup_free_ char *compiled = mem_printf("%s.gch", path);
		_cleanup_close_ int fd = compile_open_input(folder, path, &st, &missing, err);
		if (fd < 0 && !missing)
			return -1;
		if (missing)
			continue; /* a generated source names what it was made from */
		if (faccessat(folder, compiled + strlen("/build/"), F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			return err_set(err, ERR_INPUT, "%s has a precompiled form", path);
		if (compile_hash_input(fd, &content, err) < 0)
			return -1;
		compile_key_input(k, path, &content);
		buf_add(found, path, strlen(path) + 1);
	}
	return 0;
}

int compile_read_key(struct compile_action *a, const char *build, struct buf *out, struct err *err)
{
	_cleanup_compile_key_ struct compile_key k;
	_cleanup_buf_ struct buf found = BUF_INIT;
	_cleanup_free_ char *scratch = mem_printf("%s/tmp/%s", store_folder(a->pool->o.s), a->scratch);
	bool missing;
	struct hash key;
	compile_key_begin(&k, &a->command, a->service->view.toolchain);
	_cleanup_close_ int texts = sandbox_open_result(scratch, COMPILE_OUT, &missing, err);
	if (texts < 0 || key_texts(&k, texts, err) < 0 || key_stderr(a, &k, err) < 0 ||
			key_inputs(&k, build, &found, err) < 0)
		return -1;
	compile_key_end(&k, &key);
	buf_add(out, key.bytes, HASH_SIZE);
	if (found.len)
		buf_add(out, found.data, found.len);
	return 0;
}

/* The folders of path as they are spelled: "a/../b.c" is found only where there is an "a".  What could lead out was
 * refused when the original was opened. */
static int make_folders(int copy, const char *path, struct err *err)
{
	_cleanup_free_ char *part = mem_dup(path);
	for (char *slash = part; (slash = strchr(slash, '/')) != NULL; *slash++ = '/') {
		*slash = '\0';
		if (*part && mkdirat(copy, part, 0755) < 0 && errno != EEXIST)
			return err_sys(err, "can't make the folder %s for a compile", part);
	}
	return 0;
}

static int copy_input(int build, int copy, const char *path, uint64_t *left, struct err *err)
{
	const char *name = path + strlen("/build/");
	struct stat st;
	bool missing;
	_cleanup_close_ int from = compile_open_input(build, path, &st, &missing, err);
	if (from < 0)
		return missing ? err_set(err, ERR_INPUT, "%s is gone", path) : -1;
	if ((uint64_t)st.st_size > *left)
		return err_set(err, ERR_INPUT, "its files are too large to be copied");
	*left -= (uint64_t)st.st_size;
	if (make_folders(copy, name, err) < 0)
		return -1;
	_cleanup_close_ int to = openat(copy, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (to < 0)
		return errno == EEXIST ? 0 /* under another spelling */ : err_sys(err, "can't copy %s", path);
	const struct timespec times[2] = { { .tv_sec = SOURCE_TIME }, { .tv_sec = SOURCE_TIME } };
	if (fs_copy_bytes(from, to, st.st_size, err) < 0)
		return err_add(err, "%s", path);
	return futimens(to, times) < 0 ? err_sys(err, "can't copy %s", path) : 0;
}

static int copy_all(struct compile_action *a, int build, int copy, struct err *err)
{
	uint64_t left = COPY_MAX;
	const char *cwd = a->command.cwd;
	for (size_t i = 0; i < a->inputs.count; i++)
		if (copy_input(build, copy, a->inputs.items[i], &left, err) < 0)
			return -1;
	_cleanup_free_ char *folder = str_starts(cwd, "/build/") ? mem_printf("%s/", cwd + strlen("/build/")) : NULL;
	return make_folders(copy, "home/", err) < 0 || (folder && make_folders(copy, folder, err) < 0) ? -1 : 0;
}

int compile_copy_inputs(struct compile_action *a, struct err *err)
{
	int tmp = store_tmp_fd(a->pool->o.s);
	_cleanup_close_ int build = fs_open_dir(a->service->view.build, err);
	if (build < 0)
		return -1;
	umask(022);
	if (mkdirat(tmp, a->copy, 0755) < 0)
		return err_sys(err, "can't make a folder for a compile");
	_cleanup_close_ int copy = fs_open_beneath(tmp, a->copy, O_RDONLY | O_DIRECTORY, 0, err);
	return copy < 0 ? -1 : copy_all(a, build, copy, err);
}

/* One file of /out, under the name that it has in the result. */
static int take_file(int tmp, int out, const char *name, const char *made, const char *as, struct err *err)
{
	struct stat st;
	_cleanup_free_ char *to = fs_join(made, as);
	if (fstatat(out, name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
		return err_set(err, ERR_INPUT, "the compiler left no file %s", name);
	return store_copy_in(tmp, out, name, to, err);
}

static int take_messages(struct compile_action *a, int tmp, struct err *err)
{
	static const char *const names[] = { "stdout", "stderr" };
	_cleanup_close_ int scratch = open_scratch(a, err);
	if (scratch < 0)
		return -1;
	for (size_t i = 0; i < 2; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		_cleanup_free_ char *to = fs_join(a->made, names[i]);
		if (fs_read_file(scratch, names[i], COMPILE_MESSAGES_MAX, &text, err) < 0)
			return -1;
		if (text.len && fs_write_file(tmp, to, text.data, text.len, 0644, err) < 0)
			return -1;
	}
	return 0;
}

/* "<source>.o" in the characters that an object's name may have. */
static char *object_name(const struct compile_command *c)
{
	const char *slash = strrchr(c->source, '/'), *base = slash ? slash + 1 : c->source;
	char *name = mem_printf("compile-%.100s", base);
	for (char *p = name; *p; p++)
		if (!strchr("+-._?=", *p) && !(*p >= '0' && *p <= '9') && !((*p | 32) >= 'a' && (*p | 32) <= 'z'))
			*p = '-';
	return name;
}

int compile_take_result(struct compile_action *a, struct buf *answer, struct err *err)
{
	const struct compile_command *c = &a->command;
	int tmp = store_tmp_fd(a->pool->o.s);
	_cleanup_free_ char *scratch = mem_printf("%s/tmp/%s", store_folder(a->pool->o.s), a->scratch);
	_cleanup_free_ char *name = object_name(c);
	bool missing;
	_cleanup_close_ int out = sandbox_open_result(scratch, COMPILE_OUT, &missing, err);
	if (out < 0)
		return missing ? err_set(err, ERR_INPUT, "the compiler left nothing") : -1;
	if (mkdirat(tmp, a->made, 0755) < 0)
		return err_sys(err, "can't make a folder for a compile");
	if (take_file(tmp, out, c->out_object + strlen(COMPILE_OUT "/"), a->made, "object", err) < 0 ||
			(c->out_deps && take_file(tmp, out, c->out_deps + strlen(COMPILE_OUT "/"), a->made, "deps", err) < 0) ||
			take_messages(a, tmp, err) < 0)
		return -1;
	struct store_prepared made = { 0 };
	if (store_prepare(tmp, a->made, name, DRV_NAR, NULL, NULL, &made, err) < 0)
		return -1;
	store_prepared_write(&made, answer);
	return 0;
}
