/* The shim in a process of its own, in front of compilers that are scripts, with this process as the service. */
#ifndef TESTS_UNIT_SHIM_FIXTURE_H
#define TESTS_UNIT_SHIM_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "shim/proto.h"
#include "shim/shim.h"
#include "support/tempdir.h"

struct bench {
	struct tempdir dir;
	struct shim shim;
	char socket[300], gcc[300], gxx[300], cwd[PATH_MAX];
	char request[PROTO_REQUEST_MAX];
	uint32_t request_len;
	const char *setting;           /* NAME=value, set for the shim alone */
	void (*prepare)(void);         /* called in the shim's process, last */
	char text[1 << 17];            /* what bench_text read */
	int listener;
	pid_t pid;
};

static inline const char *bench_path(const struct bench *b, const char *name)
{
	static char path[4][PATH_MAX + 64];
	static unsigned at;
	char *p = path[at++ % 4];
	snprintf(p, sizeof path[0], "%s/%.60s", b->cwd, name);
	return p;
}

static inline void bench_write(const struct bench *b, const char *name, const char *text, mode_t mode)
{
	int fd = openat(b->dir.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static inline const char *bench_text(struct bench *b, const char *name)
{
	int fd = openat(b->dir.fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	ssize_t n = read(fd, b->text, sizeof b->text - 1);
	assert_true(n >= 0);
	b->text[n] = 0;
	close(fd);
	return b->text;
}

/* Every compiler prints its name and arguments, one a line, whether it runs inside, and ends with 7. */
#define BENCH_SCRIPT "#!/bin/sh\nprintf '%s\\n' \"${0##*/}\" \"$@\" ${" PROTO_INSIDE ":+inside}\nexit 7\n"

static inline struct bench *bench_begin(enum tool tool)
{
	struct bench *b = calloc(1, sizeof *b);
	b->dir = tempdir_make();
	assert_non_null(realpath(b->dir.path, b->cwd));
	b->listener = -1;
	snprintf(b->socket, sizeof b->socket, "%s/socket", b->dir.path);
	snprintf(b->gcc, sizeof b->gcc, "%s/real-gcc", b->dir.path);
	snprintf(b->gxx, sizeof b->gxx, "%s/real-g++", b->dir.path);
	b->shim = (struct shim){ .tool = tool, .socket = b->socket, .gcc = b->gcc, .gxx = b->gxx,
		.ccbin = "/toolchain/bin/g++", .floor = "-L/toolchain/floor" };
	snprintf(b->shim.nvcc, sizeof b->shim.nvcc, "%s/nvcc.real", b->dir.path);
	static const char *const names[] = { "real-gcc", "real-g++", "nvcc.real" };
	for (size_t i = 0; i < 3; i++)
		bench_write(b, names[i], BENCH_SCRIPT, 0755);
	return b;
}

static inline void bench_end(struct bench *b)
{
	if (b->listener >= 0)
		close(b->listener);
	tempdir_remove(&b->dir);
	free(b);
}

static inline void bench_listen(struct bench *b)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	assert_true(strlen(b->socket) < sizeof at.sun_path);
	memcpy(at.sun_path, b->socket, strlen(b->socket));
	b->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(b->listener, (struct sockaddr *)&at, sizeof at), 0);
	assert_int_equal(listen(b->listener, 4), 0);
}

static inline void bench_redirect(const struct bench *b, const char *name, int to)
{
	int fd = openat(b->dir.fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || dup2(fd, to) != to || close(fd) < 0)
		_exit(99);
}

/* Start the shim with argv, in the bench's folder. */
static inline void bench_start(struct bench *b, char **argv)
{
	b->pid = fork();
	assert_true(b->pid >= 0);
	if (b->pid > 0)
		return;
	bench_redirect(b, "stdout", 1);
	bench_redirect(b, "stderr", 2);
	if (fchdir(b->dir.fd) < 0 || (b->setting && putenv((char *)b->setting) != 0))
		_exit(99);
	umask(022);
	if (b->prepare)
		b->prepare();
	shim_run(&b->shim, argv);
}
#define bench_run(b, ...) bench_start(b, (char *[]){ __VA_ARGS__, NULL })

/* Its exit status; 1000 and the signal where one ended it. */
static inline int bench_wait(struct bench *b)
{
	int status;
	assert_int_equal(waitpid(b->pid, &status, 0), b->pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static inline bool bench_was_asked(const struct bench *b)
{
	struct pollfd p = { .fd = b->listener, .events = POLLIN };
	return poll(&p, 1, 0) > 0;
}

/* Take the connection and the whole request. */
static inline int bench_accept(struct bench *b)
{
	struct timeval limit = { .tv_sec = 20 };
	struct pollfd p = { .fd = b->listener, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 20000), 1);
	int fd = accept4(b->listener, NULL, NULL, SOCK_CLOEXEC);
	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
	assert_int_equal(recv(fd, b->request, PROTO_HEAD, MSG_WAITALL), PROTO_HEAD);
	b->request_len = proto_get_u32((unsigned char *)b->request + 8);
	assert_in_range(b->request_len, PROTO_HEAD + 1, PROTO_REQUEST_MAX);
	ssize_t rest = (ssize_t)(b->request_len - PROTO_HEAD);
	assert_int_equal(recv(fd, b->request + PROTO_HEAD, (size_t)rest, MSG_WAITALL), rest);
	return fd;
}

/* A frame; with fd >= 0 that goes along. */
static inline void bench_send(int to, char type, const void *payload, size_t len, int fd)
{
	union { char bytes[CMSG_SPACE(sizeof(int))]; struct cmsghdr align; } control = { { 0 } };
	unsigned char head[PROTO_FRAME] = { (unsigned char)type };
	proto_put_u32(head + 1, (uint32_t)len);
	struct iovec part = { head, sizeof head };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	if (fd >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof control.bytes;
		struct cmsghdr *c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof fd);
	}
	assert_int_equal(sendmsg(to, &m, MSG_NOSIGNAL), sizeof head);
	for (size_t sent = 0; sent < len;) {
		ssize_t n = send(to, (const char *)payload + sent, len - sent, MSG_NOSIGNAL);
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return; /* the head was enough for the shim to refuse it */
		assert_true(n > 0);
		sent += (size_t)n;
	}
}

static inline void bench_send_text(int to, char type, const char *text)
{
	bench_send(to, type, text, strlen(text), -1);
}

static inline void bench_send_exit(int to, uint32_t status)
{
	unsigned char bytes[4];
	proto_put_u32(bytes, status);
	bench_send(to, PROTO_EXIT, bytes, 4, -1);
}

/* The file `from` of the bench under the path `to`. */
static inline void bench_send_file(const struct bench *b, int conn, uint32_t mode, const char *to, const char *from)
{
	char payload[PROTO_PATH_MAX + 64];
	size_t n = strlen(to);
	proto_put_u32((unsigned char *)payload, mode);
	memcpy(payload + 4, to, n);
	int fd = from ? openat(b->dir.fd, from, O_RDONLY | O_CLOEXEC) : -1;
	assert_true(!from || fd >= 0);
	bench_send(conn, PROTO_FILE, payload, n + 4, fd);
	if (fd >= 0)
		close(fd);
}

#endif
