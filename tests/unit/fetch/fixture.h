/* A fetcher, a scripted server and what came of one fetch. */
#ifndef TESTS_UNIT_FETCH_FIXTURE_H
#define TESTS_UNIT_FETCH_FIXTURE_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/fs.h"
#include "core/mem.h"
#include "fetch/fetch.h"
#include "support/httpd.h"
#include "support/tempdir.h"

struct fixture {
	struct tempdir dir;  /* root/ is served; the server's log and the results are beside it */
	struct httpd server;
	struct loop *loop;
	struct fetcher *fetcher;
};

/* What a callback was told. */
struct result {
	bool done;
	int rc;
	struct hash sha256;
	int64_t size;
	struct buf body;
	char *type, *url;
	struct err err;
	int fd;              /* where it went, -1: into body */
	int64_t told;        /* the last progress */
	int times;           /* done was called */
};

static inline void fixture_file(struct fixture *f, const char *name, const void *data, size_t len)
{
	_cleanup_free_ char *path = mem_printf("root/%s", name), *folder = mem_dup(path);
	struct err err = { 0 };
	*strrchr(folder, '/') = '\0';
	assert_int_equal(fs_mkdirs_beneath(f->dir.fd, folder, 0755, &err), 0);
	assert_int_equal(fs_write_file(f->dir.fd, path, data, len, 0644, &err), 0);
}

/* size bytes that do not compress and differ from place to place; owned by the caller. */
static inline char *fixture_bytes(size_t size)
{
	char *data = mem_alloc(size);
	uint64_t x = 88172645463325252ull;
	for (size_t i = 0; i < size; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		data[i] = (char)x;
	}
	return data;
}

static inline void fixture_open(struct fixture *f)
{
	*f = (struct fixture){ .dir = tempdir_make(), .server.pid = -1 };
	assert_int_equal(mkdirat(f->dir.fd, "root", 0755), 0);
}

static inline void fixture_serve(struct fixture *f, const char *script)
{
	_cleanup_free_ char *root = fs_join(f->dir.path, "root");
	f->server = httpd_start(root, f->dir.path, "server", script, NULL, NULL);
}

/* Before each test: fresh connections, quick retries. */
static inline void fixture_fetcher(struct fixture *f, const struct fetch_config *config)
{
	static const struct fetch_config quick = { .tries = 3, .stall_ms = 5000, .backoff_ms = 5 };
	struct err err = { 0 };
	f->loop = loop_new(&err);
	assert_non_null(f->loop);
	f->fetcher = fetcher_new(f->loop, config ? config : &quick, &err);
	assert_non_null(f->fetcher);
}

static inline void fixture_no_fetcher(struct fixture *f)
{
	fetcher_free(f->fetcher);
	loop_free(f->loop);
	f->fetcher = NULL;
	f->loop = NULL;
}

static inline void fixture_close(struct fixture *f)
{
	if (f->server.pid > 0)
		httpd_stop(&f->server);
	tempdir_remove(&f->dir);
}

static inline void fixture_done(void *ctx, int rc, const struct hash *sha256, int64_t size, struct buf *body,
	const char *content_type, const char *url, struct err *err)
{
	struct result *r = ctx;
	assert_non_null(err);
	r->done = true;
	r->rc = rc;
	r->times++;
	r->size = size;
	if (sha256)
		r->sha256 = *sha256;
	if (body)
		buf_add(&r->body, body->data, body->len);
	r->type = mem_dup(content_type);
	r->url = mem_dup(url);
	if (rc < 0)
		err_move(&r->err, err);
}

static inline void fixture_progress(void *ctx, int64_t done, int64_t total)
{
	struct result *r = ctx;
	r->told = done;
}

static inline void result_free(struct result *r)
{
	if (r->fd >= 0)
		close(r->fd);
	buf_free(&r->body);
	free(r->type);
	free(r->url);
	err_clear(&r->err);
	*r = (struct result){ .fd = -1 };
}

/* A fresh file for a result. */
static inline int fixture_output(struct fixture *f)
{
	struct err err = { 0 };
	int fd = fs_open_beneath(f->dir.fd, "out", O_RDWR | O_CREAT | O_TRUNC, 0600, &err);
	assert_true(fd >= 0);
	return fd;
}

static inline void fixture_wait(struct fixture *f, struct result *r)
{
	struct err err = { 0 };
	int64_t start = loop_now();
	while (!r->done) {
		assert_int_equal(loop_once(f->loop, 1000, &err), 0);
		if (loop_now() - start > 60000)
			fail_msg("nothing was told within 60 s");
	}
}

/* The URL of a path on the server; the buffer is reused by the eighth call after this. */
static inline const char *fixture_url(const struct fixture *f, const char *path)
{
	static char ring[8][512];
	static unsigned next;
	char *at = ring[next++ % 8];
	snprintf(at, sizeof ring[0], "http://127.0.0.1:%u%s", f->server.port, path);
	return at;
}

/* The bytes of a file that was fetched are data. */
static inline void assert_came(const struct result *r, const char *data, size_t len)
{
	if (r->rc < 0)
		fail_msg("%s", r->err.msg);
	assert_int_equal(r->size, len);
	struct hash want;
	hash_of(data, len, &want);
	assert_true(hash_eq(&want, &r->sha256));
	if (r->fd < 0) {
		assert_int_equal(r->body.len, len);
		assert_memory_equal(r->body.data, data, len);
		return;
	}
	struct stat st;
	struct err err = { 0 };
	assert_int_equal(fstat(r->fd, &st), 0);
	assert_int_equal(st.st_size, len);
	_cleanup_free_ char *got = mem_alloc(len + 1);
	assert_int_equal(fs_pread_full(r->fd, got, len, 0, &err), 0);
	assert_memory_equal(got, data, len);
}

static inline void assert_failed(const struct result *r, enum err_code code, const char *part)
{
	assert_int_equal(r->rc, -1);
	assert_int_equal(r->times, 1);
	assert_non_null(r->err.msg);
	if (r->err.code != code || !strstr(r->err.msg, part) || strchr(r->err.msg, '\n'))
		fail_msg("code %d: %s", r->err.code, r->err.msg);
}

#endif
