/*
 * A compile service over a world of busybox, in which the compiler is a script that does what its source says, and
 * clients that play the shim.  The script's shell loads libraries and opens all files itself: forge watches what a
 * compiler opens.
 */
#ifndef FORGE_TESTS_BUILD_COMPILE_FIXTURE_H
#define FORGE_TESTS_BUILD_COMPILE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "build/compile_service.h"
#include "core/fs.h"
#include "core/mem.h"
#include "shim/proto.h"
#include "support/tempdir.h"

#define BUSYBOX "/bin/busybox"

/* Lines "//!word arguments" of the source are orders.  "object" is what it makes, with something that no two
 * compiles have in common. */
static const char fake_compiler[] =
	"#!/bin/dash\n"
	"mode=c out= deps= src=\n"
	"while [ $# -gt 0 ]; do\n"
	"  case $1 in -E) mode=E ;; -o) out=$2; shift ;; -MF) deps=$2; shift ;; -MT) shift ;; -*) ;; *) src=$1 ;; esac\n"
	"  shift\n"
	"done\n"
	"[ -e \"$src\" ] || exit 1\n"
	"text=\"# 1 \\\"$src\\\"\n$(cat < \"$src\")\"\n"
	"include() { text=\"$text\n# 1 \\\"$1\\\"\n$(cat < \"$1\")\"; }\n"
	"before() { [ $mode = c ] || sleep $1; }\n"
	"after() { [ $mode = E ] || sleep $1; }\n"
	"has() { [ ! -e \"$1\" ] || text=\"$text has $1\"; }\n"
	"say() { [ $mode = E ] || { echo said; echo warned >&2; }; }\n"
	"noise() { [ $mode = E ] || yes | head -c 5000000 >&2; }\n"
	"fail() { [ $mode = E ] || { echo it is wrong >&2; exit 1; }; }\n"
	"eat() { [ $mode = E ] || dd if=/dev/zero bs=${1}M count=1 | { sleep ${2:-2}; cat >/dev/null; }; }\n"
	"nothing() { [ $mode = E ] || exit 0; }\n"
	"alink() { [ $mode = E ] || { ln -s /etc/passwd \"$out\"; exit 0; }; }\n"
	"write() { echo x > $1 && text=\"$text wrote\"; }\n"
	"grep '^//!' < \"$src\" | cut -c4- > /tmp/orders\n"
	". /tmp/orders\n"
	"if [ $mode = E ]; then echo \"$text\" > \"$out\"; exit; fi\n"
	"{ echo object; echo \"$text\"; cat /proc/sys/kernel/random/uuid; } > \"$out\"\n"
	"[ -z \"$deps\" ] || echo \"forge-object: $src\" > \"$deps\"\n";

struct bench {
	struct tempdir dir;
	char *layer, *build, *socket;
	struct sandbox_mount root;
	struct loop *loop;
	struct store *s;
	struct event_sink sink;
	int64_t told_done, told_total, told_hits; /* the last EVENT_COMPILES */
	unsigned warned;
	struct compile_pool *pool;
	struct compile_service *service;
	struct compile_view view;
	unsigned jobs;
	uint64_t memory;
	size_t playing;                         /* clients that run */
	bool still;
};

/* What a client got; shared with its process. */
struct answer {
	struct bench *b;
	pid_t pid;
	bool broken;                            /* the connection ended without a last frame */
	char last;                              /* PROTO_EXIT or PROTO_RUN */
	uint32_t status;
	char why[1024];
	char out[4096], messages[4096];
	size_t files;
	char path[2][4096], text[2][8192];
	uint32_t mode[2];
	int64_t ended_ms;
};

static inline void put(struct bench *b, const char *name, const char *text, mode_t mode)
{
	struct err err = { 0 };
	_cleanup_free_ char *folder = mem_dup(name);
	char *slash = strrchr(folder, '/');
	if (slash) {
		*slash = 0;
		assert_int_equal(fs_mkdirs_beneath(b->dir.fd, folder, 0755, &err), 0);
	}
	unlinkat(b->dir.fd, name, 0);
	if (fs_write_file(b->dir.fd, name, text, strlen(text), mode, &err) < 0)
		fail_msg("%s", err.msg);
}

/* A file of this machine, at the same place in the world. */
static inline void copy_in(struct bench *b, const char *path)
{
	struct err err = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *to = mem_printf("layer%s", path), *folder = mem_dup(to);
	*strrchr(folder, '/') = '\0';
	if (fs_read_file(AT_FDCWD, path, 64 << 20, &text, &err) < 0 || fs_mkdirs_beneath(b->dir.fd, folder, 0755, &err) < 0 ||
			fs_write_file(b->dir.fd, to, text.data, text.len, 0755, &err) < 0)
		fail_msg("%s", err.msg);
}

static inline void make_world(struct bench *b)
{
	static const char *const files[] = { BUSYBOX, "/bin/dash", "/lib64/ld-linux-x86-64.so.2", "/lib/x86_64-linux-gnu/libc.so.6" };
	static const char *const applets[] = { "sh", "cat", "sleep", "yes", "head", "dd", "ln", "grep", "cut" };
	for (size_t i = 0; i < sizeof files / sizeof *files; i++)
		copy_in(b, files[i]);
	for (size_t i = 0; i < sizeof applets / sizeof *applets; i++) {
		_cleanup_free_ char *at = mem_printf("layer/bin/%s", applets[i]);
		assert_int_equal(symlinkat("busybox", b->dir.fd, at), 0);
	}
	put(b, "layer/usr/bin/gcc-12", fake_compiler, 0755);
}

static inline void listen_in(void *ctx, const struct event *e)
{
	struct bench *b = ctx;
	if (e->kind == EVENT_COMPILES) {
		b->told_done = e->done;
		b->told_total = e->total;
		b->told_hits = e->hits;
	}
	b->warned += e->kind == EVENT_WARN;
}

static inline void on_change(void *ctx)
{
}

static inline struct compile_service *open_service(struct bench *b, const char *socket)
{
	struct err err = { 0 };
	struct compile_service *v = compile_service_open(b->pool, &b->view, socket, &err);
	if (!v)
		fail_msg("%s", err.msg);
	return v;
}

static inline void bench_start(struct bench *b, unsigned jobs, uint64_t memory)
{
	b->pool = compile_pool_new(&(struct compile_pool_spec){ .loop = b->loop, .s = b->s, .events = &b->sink,
		.jobs = jobs, .memory = memory, .changed = on_change, .ctx = b });
	b->service = open_service(b, b->socket);
}

static inline void bench_stop(struct bench *b)
{
	struct err err = { 0 };
	compile_service_close(b->service);
	for (int i = 0; i < 1000 && !compile_pool_idle(b->pool); i++)
		assert_int_equal(loop_once(b->loop, 20, &err), 0);
	assert_true(compile_pool_idle(b->pool));
	compile_pool_free(b->pool);
	assert_false(fs_exists(b->socket));
}

static inline int bench_new(void **state)
{
	struct err err = { 0 };
	struct bench *b = mem_alloc(sizeof *b);
	*state = b;
	b->dir = tempdir_make();
	fchmod(b->dir.fd, 0755);
	b->layer = fs_join(b->dir.path, "layer");
	b->build = fs_join(b->dir.path, "build");
	b->socket = fs_join(b->dir.path, "socket");
	_cleanup_free_ char *store = fs_join(b->dir.path, "store");
	make_world(b);
	put(b, "build/w/a.c", "int a;\n", 0644);
	b->root = (struct sandbox_mount){ "/", &b->layer, 1 };
	b->view = (struct compile_view){ .build = b->build, .mounts = &b->root, .mount_count = 1, .toolchain = "busybox",
		.drv_path = "/forge/store/00000000000000000000000000000000-x.drv", .name = "x", .id = 7, .timeout_ms = 20000 };
	b->sink = (struct event_sink){ listen_in, b };
	b->loop = loop_new(&err);
	b->s = store_open(store, STORE_WRITE, &err);
	if (!b->s)
		fail_msg("%s", err.msg);
	bench_start(b, 4, 1ull << 40);
	return 0;
}

static inline int bench_free(void **state)
{
	struct bench *b = *state;
	bench_stop(b);
	store_close(b->s);
	loop_free(b->loop);
	sandbox_scratch_remove(b->dir.path, NULL);
	assert_false(fs_exists(b->dir.path));
	close(b->dir.fd);
	free(b->layer);
	free(b->build);
	free(b->socket);
	free(b);
	return 0;
}

/* --- the client's process ------------------------------------------------------------------------ */

static inline void add_text(struct buf *b, const char *text)
{
	buf_add(b, text, strlen(text) + 1);
}

static inline void make_request(struct buf *r, const char *const *argv)
{
	unsigned char head[PROTO_HEAD] = PROTO_MAGIC;
	size_t argc = 0;
	while (argv[argc])
		argc++;
	buf_add(r, head, sizeof head);
	add_text(r, "cc");
	add_text(r, "/build/w");
	buf_printf(r, "%zu", argc);
	buf_byte(r, 0);
	for (size_t i = 0; i < argc; i++)
		add_text(r, argv[i]);
	add_text(r, "0");
	proto_put_u32((unsigned char *)r->data + 4, PROTO_VERSION);
	proto_put_u32((unsigned char *)r->data + 8, (uint32_t)r->len);
}

static inline int connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
	if (connect(fd, (struct sockaddr *)&to, sizeof to) < 0)
		_exit(3);
	return fd;
}

/* False at the connection's end.  A descriptor may come only where one is due. */
static inline bool take(int from, void *to, size_t n, int *fd)
{
	for (size_t got = 0; got < n;) {
		union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control;
		struct iovec part = { (char *)to + got, n - got };
		struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes,
			.msg_controllen = sizeof control.bytes };
		ssize_t more = recvmsg(from, &m, 0);
		if (more <= 0)
			return false;
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		if (c && (!fd || got > 0))
			_exit(4);
		if (c)
			memcpy(fd, CMSG_DATA(c), sizeof(int));
		got += (size_t)more;
	}
	return true;
}

static inline void take_file(struct answer *a, const char *payload, uint32_t len, int fd)
{
	if (fd < 0 || a->files == 2)
		_exit(5);
	a->mode[a->files] = proto_get_u32((const unsigned char *)payload);
	memcpy(a->path[a->files], payload + 4, len - 4);
	if (pread(fd, a->text[a->files], sizeof a->text[0] - 1, 0) < 0)
		_exit(6);
	close(fd);
	a->files++;
}

static inline void read_answer(struct answer *a, int from)
{
	unsigned char head[PROTO_FRAME];
	int fd = -1;
	for (a->broken = true; take(from, head, sizeof head, &fd); fd = -1) {
		uint32_t len = proto_get_u32(head + 1);
		_cleanup_free_ char *payload = mem_alloc(len + 1);
		if (!take(from, payload, len, NULL))
			return;
		if (head[0] == PROTO_FILE)
			take_file(a, payload, len, fd);
		else if (head[0] == PROTO_STDOUT || head[0] == PROTO_STDERR)
			strncat(head[0] == PROTO_STDOUT ? a->out : a->messages, payload, 1000);
		else if (head[0] == PROTO_RUN)
			snprintf(a->why, sizeof a->why, "%s", payload);
		else
			a->status = proto_get_u32((unsigned char *)payload);
		if (head[0] == PROTO_RUN || head[0] == PROTO_EXIT) {
			a->last = (char)head[0];
			a->broken = false;
			return;
		}
	}
}

static inline void client_ended(void *ctx, const struct proc_result *result)
{
	struct answer *a = ctx;
	a->b->playing--;
	a->b->still = a->b->playing == 0;
	a->ended_ms = loop_now();
	if (WIFEXITED(result->status) && WEXITSTATUS(result->status))
		a->status = 1000u + (uint32_t)WEXITSTATUS(result->status);
}

/* A client that sends these bytes and takes the answer; it lives on its own until the loop runs. */
static inline struct answer *play_bytes(struct bench *b, const char *socket, struct slice bytes)
{
	struct err err = { 0 };
	struct answer *a = mmap(NULL, sizeof *a, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	a->b = b;
	pid_t pid = fork();
	if (pid == 0) {
		close_range(3, ~0u, 0); /* locks among them */
		int fd = connect_to(socket);
		if (write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n)
			_exit(7);
		read_answer(a, fd);
		_exit(0);
	}
	a->pid = pid;
	b->playing++;
	assert_int_equal(loop_child(b->loop, a->pid, client_ended, a, &err), 0);
	return a;
}

static inline struct answer *play_argv(struct bench *b, const char *socket, const char *const *argv)
{
	_cleanup_buf_ struct buf r = BUF_INIT;
	make_request(&r, argv);
	return play_bytes(b, socket, (struct slice){ r.data, r.len });
}

#define play(b, ...) play_argv((b), (b)->socket, (const char *[]){ "cc", __VA_ARGS__, NULL })

/* Run the loop until every client has its answer. */
static inline void finish(struct bench *b)
{
	struct err err = { 0 };
	b->still = b->playing == 0;
	if (loop_run(b->loop, &b->still, &err) < 0)
		fail_msg("%s", err.msg);
}

static inline void run_for(struct bench *b, int64_t ms)
{
	struct err err = { 0 };
	for (int64_t end = loop_now() + ms; loop_now() < end;)
		assert_int_equal(loop_once(b->loop, 10, &err), 0);
}

#define compile(b, ...) ({ struct answer *a_ = play((b), __VA_ARGS__); finish(b); a_; })

static inline void forget(struct answer *a)
{
	munmap(a, sizeof *a);
}

#define assert_says(text, part) do { \
	if (!strstr((text), (part))) \
		fail_msg("no \"%s\" in \"%s\"", (part), (text)); \
} while (0)

#define assert_object(a) do { \
	if ((a)->last != PROTO_EXIT || (a)->status != 0 || (a)->files == 0) \
		fail_msg("no object: %c %u %s %s", (a)->last ? (a)->last : '-', (a)->status, (a)->why, (a)->messages); \
	assert_int_equal(strncmp((a)->text[0], "object\n", 7), 0); \
} while (0)

#define assert_in_place(a, part) do { \
	if ((a)->last != PROTO_RUN) \
		fail_msg("not in place: %c %u %s", (a)->last ? (a)->last : '-', (a)->status, (a)->text[0]); \
	assert_int_equal((a)->files, 0); \
	assert_says((a)->why, (part)); \
} while (0)

/* The notes of all records, newest first. */
static inline int note_one(void *ctx, const struct store_build *r)
{
	char *text = ctx;
	snprintf(text + strlen(text), 4096 - strlen(text), "%s=%.8s ", r->name, r->note);
	return 0;
}

static inline const char *notes(struct bench *b)
{
	static char text[4096];
	text[0] = 0;
	assert_int_equal(store_compiles(b->s, NULL, 100, note_one, text, NULL), 0);
	return text;
}

#endif
