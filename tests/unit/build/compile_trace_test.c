/* The files of a compile from outside, and a tracer's folder that becomes an entry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "build/compile_trace.h"
#include "core/fs.h"
#include "core/mem.h"
#include "support/tempdir.h"

/* build/, layers upper/ and lower/ at /env, inner/ at /env/site, and a placed file and link. */
struct bench {
	struct tempdir dir;
	char *build, *upper, *lower, *inner;
	char *env_layers[2], *inner_layers[1];
	struct sandbox_mount mounts[2];
	struct sandbox_file files[2];
	struct compile_view view;
	struct compile_known *known;
	struct compile_world *world;
};

static void put(struct bench *b, const char *path, const char *text)
{
	assert_int_equal(fs_write_file(b->dir.fd, path, text, strlen(text), 0644, NULL), 0);
}

static char *folder(struct bench *b, const char *name)
{
	assert_int_equal(mkdirat(b->dir.fd, name, 0755), 0);
	return mem_printf("%s/%s", b->dir.path, name);
}

static struct bench *begin(void)
{
	struct bench *b = mem_alloc(sizeof *b);
	b->dir = tempdir_make();
	b->build = folder(b, "build");
	b->env_layers[0] = b->upper = folder(b, "upper");
	b->env_layers[1] = b->lower = folder(b, "lower");
	b->inner_layers[0] = b->inner = folder(b, "inner");
	b->mounts[0] = (struct sandbox_mount){ "/env", b->env_layers, 2 };
	b->mounts[1] = (struct sandbox_mount){ "/env/site", b->inner_layers, 1 };
	b->files[0] = (struct sandbox_file){ "/env/etc/placed", "placed text", false };
	b->files[1] = (struct sandbox_file){ "/env/link", "etc", true };
	b->view = (struct compile_view){ .build = b->build, .mounts = b->mounts, .mount_count = 2, .files = b->files,
		.file_count = 2 };
	b->known = compile_known_new();
	b->world = compile_world_open(&b->view, b->known, NULL);
	assert_non_null(b->world);
	return b;
}

static void end(struct bench *b)
{
	compile_world_close(b->world);
	compile_known_free(b->known);
	free(b->build);
	free(b->upper);
	free(b->lower);
	free(b->inner);
	tempdir_remove(&b->dir);
	free(b);
}

static void assert_content(struct bench *b, const char *path, const char *text)
{
	struct hash got, want;
	hash_of(text, strlen(text), &want);
	if (compile_world_hash(b->world, path, &got) != 1)
		fail_msg("%s is not there", path);
	if (!hash_eq(&got, &want))
		fail_msg("%s is not \"%s\"", path, text);
	assert_int_equal(compile_world_exists(b->world, path), MANIFEST_FILE);
}

static void assert_kind(struct bench *b, const char *path, enum manifest_kind kind)
{
	struct hash h;
	int got = compile_world_exists(b->world, path);
	if (got != (int)kind)
		fail_msg("%s: %d, not %d", path, got, kind);
	assert_int_equal(compile_world_hash(b->world, path, &h), kind == MANIFEST_MISSING ? 0 : -1);
}

static void test_build_files(void **state)
{
	struct bench *b = begin();
	put(b, "build/a.c", "one");
	free(folder(b, "build/inc"));
	assert_int_equal(symlinkat("a.c", b->dir.fd, "build/link"), 0);
	assert_int_equal(symlinkat("inc", b->dir.fd, "build/in"), 0);
	assert_int_equal(mkfifoat(b->dir.fd, "build/pipe", 0644), 0);
	assert_content(b, "/build/a.c", "one");
	put(b, "build/a.c", "two");
	assert_content(b, "/build/a.c", "two"); /* nothing of it is kept */
	assert_kind(b, "/build/no", MANIFEST_MISSING);
	assert_kind(b, "/build/no/deeper", MANIFEST_MISSING);
	assert_kind(b, "/build/a.c/below", MANIFEST_MISSING);
	assert_kind(b, "/build/inc", MANIFEST_DIR);
	assert_kind(b, "/build", MANIFEST_DIR);
	assert_kind(b, "/build/link", MANIFEST_ODD);
	assert_kind(b, "/build/in/x", MANIFEST_ODD);
	assert_kind(b, "/build/pipe", MANIFEST_ODD);
	end(b);
}

static void test_layers(void **state)
{
	struct bench *b = begin();
	put(b, "upper/both", "upper");
	put(b, "lower/both", "lower");
	put(b, "lower/low", "low");
	put(b, "upper/hides", "file");
	free(folder(b, "lower/hides"));
	put(b, "lower/hides/x", "hidden");
	free(folder(b, "upper/merged"));
	free(folder(b, "lower/merged"));
	put(b, "lower/merged/x", "merged");
	free(folder(b, "upper/dir"));
	put(b, "lower/dir", "hidden");
	assert_int_equal(symlinkat("merged", b->dir.fd, "upper/low-link"), 0);
	assert_content(b, "/env/both", "upper");
	assert_content(b, "/env/low", "low");
	assert_content(b, "/env/merged/x", "merged");
	assert_kind(b, "/env/hides/x", MANIFEST_MISSING);
	assert_kind(b, "/env/dir", MANIFEST_DIR);
	assert_kind(b, "/env/low-link/x", MANIFEST_ODD);
	assert_kind(b, "/env/no", MANIFEST_MISSING);
	/* An inner mount is all there is at its place. */
	free(folder(b, "upper/site"));
	put(b, "upper/site/x", "covered");
	put(b, "inner/y", "inner");
	assert_kind(b, "/env/site/x", MANIFEST_MISSING);
	assert_content(b, "/env/site/y", "inner");
	assert_kind(b, "/env/site", MANIFEST_DIR);
	assert_kind(b, "/env", MANIFEST_DIR);
	assert_kind(b, "/elsewhere", MANIFEST_MISSING);
	assert_content(b, "/env/etc/placed", "placed text");
	assert_kind(b, "/env/etc", MANIFEST_DIR);
	assert_kind(b, "/env/link", MANIFEST_ODD);
	assert_kind(b, "/env/link/placed", MANIFEST_ODD);
	end(b);
}

/* A layer never changes: its files are hashed once. */
static void test_known(void **state)
{
	struct bench *b = begin();
	put(b, "lower/x", "one");
	assert_content(b, "/env/x", "one");
	put(b, "lower/x", "two");
	assert_content(b, "/env/x", "one");
	compile_world_close(b->world);
	b->world = compile_world_open(&b->view, b->known, NULL);
	assert_content(b, "/env/x", "one");
	compile_world_close(b->world);
	b->world = compile_world_open(&b->view, NULL, NULL);
	assert_content(b, "/env/x", "two");
	end(b);
}

static void test_env_id(void **state)
{
	struct bench *b = begin();
	_cleanup_buf_ struct buf one = BUF_INIT, other = BUF_INIT;
	compile_env_id(&b->view, &one);
	b->view.build = "/somewhere/else";
	compile_env_id(&b->view, &other);
	assert_string_equal(one.data, other.data);
	b->view.build = b->build;
	b->env_layers[0] = b->lower;
	b->env_layers[1] = b->upper;
	buf_clear(&other);
	compile_env_id(&b->view, &other);
	assert_string_not_equal(one.data, other.data);
	end(b);
}

/* --- what a tracer left ------------------------------------------------------------------------ */

static int read_trace(struct bench *b, const void *log, size_t len, struct manifest_entry *e, char **odd)
{
	struct err err = { 0 };
	fs_remove_tree(b->dir.fd, "trace", NULL);
	free(folder(b, "trace"));
	assert_int_equal(fs_write_file(b->dir.fd, "trace/log", log, len, 0644, NULL), 0);
	*e = (struct manifest_entry){ .env_id = mem_dup("env") };
	_cleanup_close_ int fd = fs_open_beneath(b->dir.fd, "trace", O_RDONLY | O_DIRECTORY, 0, NULL);
	_cleanup_compile_trace_ struct compile_trace t = { 0 };
	int rc = compile_trace_read(fd, b->world, &t, e, odd, &err);
	assert_int_equal(err.code != ERR_NONE, rc < 0);
	err_clear(&err);
	return rc;
}
#define READ(b, log, e, odd) read_trace(b, log, sizeof(log) - 1, e, odd)

/* From a log to an entry that holds where it should. */
static void test_entry(void **state)
{
	struct bench *b = begin();
	_cleanup_manifest_entry_ struct manifest_entry e;
	_cleanup_manifest_ struct manifest m = { 0 };
	_cleanup_buf_ struct buf bytes = BUF_INIT;
	const struct manifest_check check = { compile_world_hash, compile_world_exists, b->world };
	struct hash result;
	char *odd;
	put(b, "build/a.c", "changed since");
	put(b, "build/asked", "12345");
	put(b, "build/h.h", "header");
	put(b, "lower/e.h", "environment");
	free(folder(b, "build/inc"));
	assert_int_equal(READ(b, "c/build/a.c\0" "6\0" "1\0source" "c/build/h.h\0" "6\0" "1\0header" "f/env/e.h\0" "11\0" "1\0" "s/build/asked\0" "5\0" "1\0" "m/build/no.h\0" "m/env/no.h\0" "d/build/inc\0", &e, &odd), 0);
	assert_null(odd);
	assert_int_equal(e.build.files.count, 3);
	assert_int_equal(e.env.files.count, 1);
	memset(e.result.bytes, 9, HASH_SIZE);
	assert_int_equal(manifest_add(&m, &e, &bytes, NULL), 0);
	assert_int_equal(manifest_read((struct slice){ bytes.data, bytes.len }, &m, NULL), 0);
	/* The copy was compiled, not what is there now. */
	assert_int_equal(manifest_find(&m, "env", &check, &result, NULL), 0);
	put(b, "build/a.c", "source");
	assert_int_equal(manifest_find(&m, "env", &check, &result, NULL), 1);
	assert_int_equal(result.bytes[0], 9);
	assert_int_equal(manifest_find(&m, "another", &check, &result, NULL), 1);
	put(b, "build/no.h", "");
	assert_int_equal(manifest_find(&m, "env", &check, &result, NULL), 0);
	end(b);
}

static void assert_trace_odd(struct bench *b, const void *log, size_t len, const char *why)
{
	_cleanup_manifest_entry_ struct manifest_entry e;
	_cleanup_free_ char *odd = NULL;
	assert_int_equal(read_trace(b, log, len, &e, &odd), 0);
	if (!odd)
		fail_msg("it is not odd: %s", why);
	assert_string_equal(odd, why);
}
#define ODD(b, log, why) assert_trace_odd(b, log, sizeof(log) - 1, why)

static void test_odd(void **state)
{
	struct bench *b = begin();
	ODD(b, "x/build/l\0is reached through a link\0", "/build/l is reached through a link");
	ODD(b, "f/build/a.c\0" "6\0" "1\0", "/build/a.c was read in place");
	ODD(b, "c/env/a.c\0" "6\0" "1\0source", "/env/a.c was read in place");
	ODD(b, "f/env/a.c\0" "6\0" "1\0", "/env/a.c is not to be found in the environment");
	ODD(b, "s/build/a.c\0" "6\0" "1\0", "/build/a.c changed while it was compiled");
	put(b, "build/a.c", "other size");
	ODD(b, "s/build/a.c\0" "6\0" "1\0", "/build/a.c changed while it was compiled");
	end(b);
}

static void test_broken(void **state)
{
	struct bench *b = begin();
	struct manifest_entry e;
	char *odd;
	assert_int_equal(READ(b, "", &e, &odd), -1);
	manifest_entry_free(&e);
	assert_int_equal(READ(b, "c/build/a.c\0" "6\0" "1\0sourc", &e, &odd), -1);
	manifest_entry_free(&e);
	end(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_files), cmocka_unit_test(test_layers), cmocka_unit_test(test_known),
		cmocka_unit_test(test_env_id), cmocka_unit_test(test_entry), cmocka_unit_test(test_odd),
		cmocka_unit_test(test_broken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
