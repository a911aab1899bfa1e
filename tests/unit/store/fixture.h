/* A store of its own for each test, below $TMPDIR, and small trees to put into it. */
#ifndef FORGE_TESTS_STORE_FIXTURE_H
#define FORGE_TESTS_STORE_FIXTURE_H

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "core/fs.h"
#include "core/mem.h"
#include "store/internal.h"

struct fixture {
	char *folder;       /* fresh and empty */
	int fd;             /* of it */
	char *store_folder; /* "<folder>/store" */
	struct store *s;    /* open for writing */
};

/* Fails the test with the error's line. */
#define assert_ok(call) do { \
	struct err e_ = { 0 }; \
	struct err *err = &e_; \
	long rc_ = (long)(call); \
	if (rc_ < 0) \
		fail_msg("%s: %s", #call, e_.msg); \
	err_clear(&e_); \
} while (0)

/* The call must fail and say `part`. */
#define assert_refused(call, part) do { \
	struct err e_ = { 0 }; \
	struct err *err = &e_; \
	long rc_ = (long)(call); \
	assert_int_equal(rc_, -1); \
	assert_non_null(e_.msg); \
	if (!strstr(e_.msg, (part))) \
		fail_msg("%s: said \"%s\", not \"%s\"", #call, e_.msg, (part)); \
	assert_null(strchr(e_.msg, '\n')); \
	err_clear(&e_); \
} while (0)

static inline struct store *open_or_fail(const char *folder, enum store_mode mode)
{
	struct err err = { 0 };
	struct store *s = store_open(folder, mode, &err);
	if (!s)
		fail_msg("%s", err.msg);
	return s;
}

static inline int fixture_setup(void **state)
{
	struct fixture *f = mem_alloc(sizeof *f);
	const char *tmp = getenv("TMPDIR");
	f->folder = mem_printf("%s/forge-test-XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(f->folder));
	f->fd = open(f->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f->store_folder = fs_join(f->folder, "store");
	f->s = open_or_fail(f->store_folder, STORE_WRITE);
	*state = f;
	return 0;
}

static inline int fixture_teardown(void **state)
{
	struct fixture *f = *state;
	store_close(f->s);
	close(f->fd);
	assert_ok(fs_remove_tree(AT_FDCWD, f->folder, err));
	free(f->store_folder);
	free(f->folder);
	free(f);
	return 0;
}

#define store_test(f) cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

static inline void fixture_reopen(struct fixture *f, enum store_mode mode)
{
	store_close(f->s);
	f->s = open_or_fail(f->store_folder, mode);
}

static inline void put_file(int dirfd, const char *path, const char *text, mode_t mode)
{
	assert_ok(fs_write_file(dirfd, path, text, strlen(text), 0600, err));
	assert_int_equal(fchmodat(dirfd, path, mode, 0), 0);
}

/* A tree in store/tmp: folder with a program, a file that holds `text`, a link. */
static inline char *put_tree(struct fixture *f, const char *text)
{
	struct err err = { 0 };
	char *name = store_tmp_name(f->s, "tree", &err);
	if (!name)
		fail_msg("%s", err.msg);
	assert_int_equal(mkdirat(f->s->tmp_fd, name, 0700), 0);
	_cleanup_close_ int fd = openat(f->s->tmp_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(fd, "bin", 0755), 0);
	put_file(fd, "bin/program", "#!/bin/sh\n", 0711);
	put_file(fd, "data", text, 0640);
	assert_int_equal(symlinkat("bin/program", fd, "link"), 0);
	return name;
}

/* Prepare such a tree; candidates may be NULL. */
static inline void prepare_tree(struct fixture *f, const char *name, const char *text,
	const struct str_list *candidates, struct store_prepared *p)
{
	_cleanup_free_ char *tmp = put_tree(f, text);
	assert_ok(store_prepare(f->s->tmp_fd, tmp, name, DRV_NAR, candidates, NULL, p, err));
}

/* Add such a tree; the path is owned by the caller. */
static inline char *add_tree(struct fixture *f, const char *name, const char *text, const struct str_list *candidates)
{
	struct store_prepared p;
	prepare_tree(f, name, text, candidates, &p);
	assert_ok(store_commit(f->s, &p, 1, err));
	char *path = mem_dup(p.path);
	store_prepared_free(&p);
	return path;
}

static inline void assert_valid(struct fixture *f, const char *path, int wanted)
{
	struct err err = { 0 };
	int valid = store_valid(f->s, path, &err);
	if (valid < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(valid, wanted);
}

static inline void show_bad(void *ctx, const char *path, const char *why)
{
	print_message("bad: %s: %s\n", path, why);
}

static inline void assert_clean(struct store *s)
{
	struct err err = { 0 };
	int bad = store_verify(s, true, show_bad, NULL, &err);
	if (bad < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(bad, 0);
}

/* Names in store/tmp that are no locks. */
static inline size_t count_tmp(struct store *s)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	assert_ok(fs_list(s->tmp_fd, &names, err));
	size_t n = 0;
	for (size_t i = 0; i < names.count; i++)
		n += !str_ends(names.items[i], ".lock");
	return n;
}

#endif
