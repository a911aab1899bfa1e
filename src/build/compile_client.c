#include "build/compile_client.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "compile/request.h"
#include "core/fs.h"
#include "core/list.h"
#include "shim/proto.h"

#define REQUEST_MS 30000      /* for a whole request to come */
#define STALLED_MS 600000     /* for an answer that nobody reads */
#define TEXT_FRAME_MAX (1u << 20)
#define HELD_MAX (32u << 20)  /* bytes of requests and unread answers of a build; no sound one comes near */

/* A descriptor goes with the byte of the answer at this place. */
struct passed {
	size_t at;
	int fd;
};

struct compile_client {
	struct loop *loop;
	int fd;
	compile_client_asked_fn *asked;
	compile_client_ended_fn *ended;
	void *ctx;
	struct buf request;
	size_t wanted;        /* bytes of the whole request; the head's while that is not there */
	bool complete;        /* it was handed on */
	struct buf answer;
	size_t sent;
	LIST(struct passed) passed;
	size_t passed_sent;
	bool closing;         /* over once all is sent */
	size_t *held;         /* of all of the build */
	size_t share;         /* this one's of it */
	uint64_t timer;
};

/* The request counts until the end: what was made of it is about as much, several times. */
static void hold(struct compile_client *c, size_t bytes)
{
	c->share += bytes;
	*c->held += bytes;
}

bool compile_client_has_room(const struct compile_client *c, size_t len)
{
	return *c->held + len <= HELD_MAX;
}

static void end(struct compile_client *c)
{
	loop_fd_del(c->loop, c->fd);
	loop_timer_del(c->loop, c->timer);
	c->timer = 0;
	c->ended(c->ctx); /* frees c */
}

static void too_slow(void *ctx)
{
	struct compile_client *c = ctx;
	c->timer = 0;
	end(c);
}

static void set_timer(struct compile_client *c, int64_t ms)
{
	loop_timer_del(c->loop, c->timer);
	c->timer = ms ? loop_timer(c->loop, ms, too_slow, c) : 0;
}

/* Up to the next place where a descriptor goes along. */
static ssize_t send_part(struct compile_client *c)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	const struct passed *next = c->passed_sent < c->passed.count ? &c->passed.items[c->passed_sent] : NULL;
	bool now = next && next->at == c->sent;
	size_t until = c->answer.len;
	if (now && c->passed_sent + 1 < c->passed.count)
		until = c->passed.items[c->passed_sent + 1].at;
	else if (next && !now)
		until = next->at;
	struct iovec part = { c->answer.data + c->sent, until - c->sent };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	if (now) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof control.bytes;
		struct cmsghdr *head = CMSG_FIRSTHDR(&m);
		*head = (struct cmsghdr){ .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS };
		memcpy(CMSG_DATA(head), &next->fd, sizeof(int));
	}
	ssize_t n = sendmsg(c->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (n > 0 && now)
		fs_close_ptr(&c->passed.items[c->passed_sent++].fd);
	return n;
}

/* 0: all is sent, 1: more can't be now, -1: it is broken. */
static int flush(struct compile_client *c)
{
	while (c->sent < c->answer.len) {
		ssize_t n = send_part(c);
		if (n >= 0)
			c->sent += (size_t)n;
		else if (errno == EAGAIN)
			return 1;
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}

/* 1: the request is whole now. */
static int take_request(struct compile_client *c, const char *data, size_t len)
{
	buf_add(&c->request, data, len);
	if (c->wanted == COMPILE_REQUEST_HEAD && c->request.len >= c->wanted) {
		c->wanted = compile_request_length((const uint8_t *)c->request.data, NULL);
		if (c->wanted < COMPILE_REQUEST_HEAD)
			return -1;
	}
	return c->request.len > c->wanted ? -1 : c->request.len == c->wanted;
}

static void readable(struct compile_client *c)
{
	char block[16384];
	ssize_t n = recv(c->fd, block, sizeof block, MSG_DONTWAIT);
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) {
		end(c);
		return;
	}
	if (c->complete)
		return; /* more than was due: of no interest */
	bool room = compile_client_has_room(c, (size_t)n);
	hold(c, (size_t)n);
	int whole = room ? take_request(c, block, (size_t)n) : -1;
	if (whole < 0)
		end(c);
	if (whole <= 0)
		return;
	c->complete = true;
	set_timer(c, 0);
	struct buf request = c->request;
	c->request = (struct buf)BUF_INIT;
	c->asked(c->ctx, (const uint8_t *)request.data, request.len);
	buf_free(&request);
}

static void ready(void *ctx, int fd, int events)
{
	struct compile_client *c = ctx;
	if (events & LOOP_WRITE) {
		int left = flush(c);
		if (left < 0 || (left == 0 && c->closing)) {
			end(c);
			return;
		}
		if (left == 0) {
			set_timer(c, 0);
			loop_fd(c->loop, c->fd, LOOP_READ, ready, c, NULL);
		}
	}
	if (events & LOOP_READ)
		readable(c);
}

struct compile_client *compile_client_new(struct loop *loop, int fd, size_t *held, compile_client_asked_fn *asked,
	compile_client_ended_fn *ended, void *ctx, struct err *err)
{
	struct compile_client *c = mem_alloc(sizeof *c);
	*c = (struct compile_client){ .loop = loop, .fd = fd, .held = held, .asked = asked, .ended = ended, .ctx = ctx,
		.wanted = COMPILE_REQUEST_HEAD };
	if (loop_fd(loop, fd, LOOP_READ, ready, c, err) < 0) {
		compile_client_free(c);
		return NULL;
	}
	set_timer(c, REQUEST_MS);
	return c;
}

void compile_client_free(struct compile_client *c)
{
	if (!c)
		return;
	loop_fd_del(c->loop, c->fd);
	loop_timer_del(c->loop, c->timer);
	close(c->fd);
	for (size_t i = c->passed_sent; i < c->passed.count; i++)
		close(c->passed.items[i].fd);
	*c->held -= c->share;
	list_free(&c->passed);
	buf_free(&c->request);
	buf_free(&c->answer);
	free(c);
}

static void add_head(struct compile_client *c, uint8_t frame, size_t len)
{
	unsigned char head[PROTO_FRAME] = { frame };
	proto_put_u32(head + 1, (uint32_t)len);
	buf_add(&c->answer, head, sizeof head);
}

void compile_client_text(struct compile_client *c, uint8_t frame, struct slice text)
{
	hold(c, text.n);
	while (text.n > 0) {
		size_t n = text.n < TEXT_FRAME_MAX ? text.n : TEXT_FRAME_MAX;
		add_head(c, frame, n);
		buf_add(&c->answer, text.p, n);
		text.p += n;
		text.n -= n;
	}
}

void compile_client_file(struct compile_client *c, uint32_t mode, const char *path, int fd)
{
	unsigned char bits[4];
	proto_put_u32(bits, mode);
	*list_push(&c->passed) = (struct passed){ c->answer.len, fd };
	add_head(c, PROTO_FILE, sizeof bits + strlen(path));
	buf_add(&c->answer, bits, sizeof bits);
	buf_str(&c->answer, path);
}

/* All the rest is done by the loop, so that the end never comes from within this call. */
static void send_answer(struct compile_client *c)
{
	set_timer(c, STALLED_MS);
	loop_fd(c->loop, c->fd, LOOP_READ | LOOP_WRITE, ready, c, NULL);
}

void compile_client_exit(struct compile_client *c, uint32_t status)
{
	unsigned char bits[4];
	proto_put_u32(bits, status);
	add_head(c, PROTO_EXIT, sizeof bits);
	buf_add(&c->answer, bits, sizeof bits);
	c->closing = true;
	send_answer(c);
}

void compile_client_run(struct compile_client *c, const char *why)
{
	add_head(c, PROTO_RUN, strlen(why));
	buf_str(&c->answer, why);
	send_answer(c);
}
