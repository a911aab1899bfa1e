/* A folder with build/, env/ and out/, and compilers of this machine that are traced in there. */
#ifndef FORGE_TESTS_TRACE_FIXTURE_H
#define FORGE_TESTS_TRACE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include <sys/wait.h>

#include "build/compile_trace.h"
#include "compile/trace_log.h"
#include "core/fs.h"
#include "core/mem.h"
#include "core/proc.h"
#include "support/tempdir.h"
#include "trace/proto.h"

struct bench {
	struct tempdir dir;
	char *extra[4];       /* more of the environment, NULL: no more; owned */
	struct trace trace;   /* of the last bench_trace() */
	struct buf log;       /* its contents are in there */
	struct buf messages;  /* likewise */
};

static inline struct bench *bench_begin(void)
{
	struct bench *b = mem_alloc(sizeof *b);
	b->dir = tempdir_make();
	static const char *const folders[] = { "build", "build/inc", "build/sub", "env", "out" };
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		assert_int_equal(mkdirat(b->dir.fd, folders[i], 0755), 0);
	assert_int_equal(compile_trace_write(b->dir.fd, "trace.so", NULL), 0);
	return b;
}

static inline void bench_end(struct bench *b)
{
	trace_free(&b->trace);
	buf_free(&b->messages);
	buf_free(&b->log);
	for (size_t i = 0; i < 4; i++)
		free(b->extra[i]);
	tempdir_remove(&b->dir);
	free(b);
}

static inline void bench_file(struct bench *b, const char *path, const char *text)
{
	assert_int_equal(fs_write_file(b->dir.fd, path, text, strlen(text), 0644, NULL), 0);
}

static inline char *bench_path(struct bench *b, const char *path)
{
	return mem_printf("%s/%s", b->dir.path, path);
}

/* Runs a command of the shell's words in `cwd`; its exit status. */
static inline int bench_run(struct bench *b, bool traced, const char *cwd, const char *command)
{
	_cleanup_free_ char *line = mem_printf("cd %s/%s && exec %s", b->dir.path, cwd, command);
	const char *env[10] = { "PATH=/usr/bin:/bin", "LC_ALL=C", b->extra[0] };
	_cleanup_free_ char *folder = mem_printf(TRACE_ENV "=%s/out/trace", b->dir.path);
	_cleanup_free_ char *roots = mem_printf(TRACE_ENV_ROOTS "=%s/build:%s/env", b->dir.path, b->dir.path);
	_cleanup_free_ char *preload = mem_printf("LD_PRELOAD=%s/trace.so", b->dir.path);
	size_t n = b->extra[0] ? 3 : 2;
	for (size_t i = 1; i < 4 && b->extra[i]; i++)
		env[n++] = b->extra[i];
	if (traced) {
		env[n++] = folder;
		env[n++] = roots;
		env[n++] = preload;
	}
	struct proc_spec spec = PROC_SPEC_INIT;
	spec.argv = (const char *const[]){ "/bin/sh", "-c", line, NULL };
	spec.env = env;
	struct proc_result result;
	struct err err = { 0 };
	buf_clear(&b->messages);
	buf_str(&b->messages, "");
	if (proc_run(&spec, &b->messages, &b->messages, 1 << 24, &result, &err) < 0)
		fail_msg("%s", err.msg);
	return WIFEXITED(result.status) ? WEXITSTATUS(result.status) : 128;
}

/* Reads what the last traced command left. */
static inline void bench_read(struct bench *b)
{
	struct err err = { 0 };
	trace_free(&b->trace);
	buf_clear(&b->log);
	if (fs_read_file(b->dir.fd, "out/trace/log", 1 << 28, &b->log, &err) < 0 ||
			trace_log_read((struct slice){ b->log.data, b->log.len }, &b->trace, &err) < 0)
		fail_msg("%s", err.msg);
}

/* Traced, over a fresh out/; exits with 0. */
static inline void bench_trace(struct bench *b, const char *cwd, const char *command)
{
	assert_int_equal(fs_remove_tree(b->dir.fd, "out", NULL), 0);
	assert_int_equal(mkdirat(b->dir.fd, "out", 0755), 0);
	if (bench_run(b, true, cwd, command) != 0)
		fail_msg("%s: %s", command, b->messages.data);
	bench_read(b);
}

/* A path of the trace is below the bench. */
static inline const char *bench_short(struct bench *b, const char *path)
{
	size_t n = strlen(b->dir.path);
	return strncmp(path, b->dir.path, n) == 0 ? path + n + 1 : path;
}

static inline const struct trace_file *bench_found(struct bench *b, const char *path)
{
	for (size_t i = 0; i < b->trace.files.count; i++)
		if (strcmp(bench_short(b, b->trace.files.items[i].path), path) == 0)
			return &b->trace.files.items[i];
	return NULL;
}

static inline bool bench_has(struct bench *b, const struct str_list *l, const char *path)
{
	_cleanup_free_ char *whole = bench_path(b, path);
	return str_list_has(l, whole);
}

static inline bool bench_asked(struct bench *b, const char *path)
{
	for (size_t i = 0; i < b->trace.asked.count; i++)
		if (strcmp(bench_short(b, b->trace.asked.items[i].path), path) == 0)
			return true;
	return false;
}

static inline void bench_slurp(struct bench *b, const char *path, struct buf *out)
{
	struct err err = { 0 };
	buf_clear(out);
	buf_str(out, "");
	if (fs_read_file(b->dir.fd, path, 1 << 26, out, &err) < 0)
		fail_msg("%s", err.msg);
}

/* What the compiler got of a file. */
static inline void bench_copy(struct bench *b, const char *path, struct buf *out)
{
	const struct trace_file *f = bench_found(b, path);
	if (!f || !f->content.p)
		fail_msg("no copy of %s", path);
	buf_clear(out);
	buf_str(out, "");
	buf_add(out, f->content.p, f->content.n);
	assert_int_equal(out->len, f->size);
}

static inline void assert_odd(struct bench *b, const char *path, const char *why)
{
	if (!b->trace.odd)
		fail_msg("%s is not odd", path);
	_cleanup_free_ char *want = mem_printf("%s %s", path, why);
	assert_string_equal(bench_short(b, b->trace.odd), want);
}

static inline void assert_not_odd(struct bench *b)
{
	if (b->trace.odd)
		fail_msg("%s", b->trace.odd);
}

static inline void assert_same_file(struct bench *b, const char *one, const char *other)
{
	_cleanup_buf_ struct buf x = BUF_INIT, y = BUF_INIT;
	bench_slurp(b, one, &x);
	bench_slurp(b, other, &y);
	assert_int_equal(x.len, y.len);
	assert_memory_equal(x.data, y.data, x.len);
}

#endif
