#include "shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/proto.h"

#define BLOCK (64u << 10)

static unsigned char block[BLOCK];

/* Read exactly n bytes; a descriptor that comes with them is put into *fd (NULL: none is taken). */
static void take(int connection, void *to, size_t n, int *fd)
{
	for (size_t got = 0; got < n;) {
		union {
			char bytes[CMSG_SPACE(sizeof(int))];
			struct cmsghdr align;
		} control;
		struct iovec part = { (char *)to + got, n - got };
		struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
		if (fd) {
			m.msg_control = control.bytes;
			m.msg_controllen = sizeof control.bytes;
		}
		ssize_t more = recvmsg(connection, &m, MSG_CMSG_CLOEXEC);
		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			die("the compile service is gone; it broke off (%s)",
				more < 0 ? strerror(errno) : "forge has ended, or it refused the request");
		got += (size_t)more;
		struct cmsghdr *c = fd ? CMSG_FIRSTHDR(&m) : NULL;
		if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(fd, CMSG_DATA(c), sizeof(int));
	}
}

/* False: with errno. */
static bool write_all(int fd, const unsigned char *from, size_t n)
{
	while (n > 0) {
		ssize_t wrote = write(fd, from, n);
		if (wrote < 0 && errno != EINTR)
			return false;
		if (wrote > 0) {
			from += wrote;
			n -= (size_t)wrote;
		}
	}
	return true;
}

static void take_text(int connection, uint32_t len, int to)
{
	while (len > 0) {
		uint32_t n = len < BLOCK ? len : BLOCK;
		take(connection, block, n, NULL);
		if (!write_all(to, block, n))
			die("the compiler's messages can't be written: %s", strerror(errno));
		len -= n;
	}
}

/* The descriptor may be shared with others that read the same object: its offset is not used. */
static bool copy(int from, int to)
{
	for (off_t at = 0;;) {
		ssize_t n = pread(from, block, BLOCK, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n == 0;
		if (!write_all(to, block, (size_t)n))
			return false;
		at += n;
	}
}

/* As compilers do: what is there goes first, so that a link or a hard link is replaced, not written through. */
static void write_file(const char *path, mode_t mode, int from)
{
	struct stat st;
	if (lstat(path, &st) == 0 && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) && unlink(path) < 0)
		die("%s can't be replaced: %s", path, strerror(errno));
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
	if (to < 0)
		die("%s can't be written: %s", path, strerror(errno));
	bool copied = copy(from, to);
	int why = errno;
	if (close(to) < 0 && copied) {
		copied = false;
		why = errno;
	}
	if (!copied) {
		unlink(path);
		die("%s can't be written: %s", path, strerror(why));
	}
}

static void take_file(int connection, uint32_t len, int from)
{
	char path[PROTO_PATH_MAX];
	unsigned char mode[4];
	if (len < 5 || len - 4 >= sizeof path || from < 0)
		die("the compile service sent a file in a form that this shim does not know");
	take(connection, mode, sizeof mode, NULL);
	take(connection, path, len - 4, NULL);
	path[len - 4] = 0;
	if (path[0] != '/' || strlen(path) != len - 4)
		die("the compile service sent a file in a form that this shim does not know");
	write_file(path, proto_get_u32(mode) & 0777, from);
}

static int take_status(int connection, uint32_t len)
{
	unsigned char status[4];
	if (len != 4)
		die("the compile service sent a status in a form that this shim does not know");
	take(connection, status, sizeof status, NULL);
	return (int)(proto_get_u32(status) & 0xff);
}

/* Why it is run in place is for forge's records; read past it, so that nothing is left in the connection. */
static void skip(int connection, uint32_t len)
{
	while (len > 0) {
		uint32_t n = len < BLOCK ? len : BLOCK;
		take(connection, block, n, NULL);
		len -= n;
	}
}

enum asked answer_take(int connection, int *status)
{
	for (;;) {
		unsigned char head[PROTO_FRAME];
		int fd = -1;
		take(connection, head, sizeof head, &fd);
		uint32_t len = proto_get_u32(head + 1);
		switch (head[0]) {
		case PROTO_STDOUT: take_text(connection, len, 1); break;
		case PROTO_STDERR: take_text(connection, len, 2); break;
		case PROTO_FILE: take_file(connection, len, fd); break;
		case PROTO_EXIT: *status = take_status(connection, len); return ASKED_DONE;
		case PROTO_RUN: skip(connection, len); return ASKED_RUN;
		default: die("the compile service answers in a way that this shim does not know");
		}
		if (fd >= 0)
			close(fd);
	}
}
