#include "shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shim/proto.h"

/* A request as it is put together. `full` once something did not fit. */
struct request {
	unsigned char *bytes;
	size_t len;
	bool full;
};

static void put(struct request *r, const char *text, size_t n)
{
	if (r->full || n >= PROTO_REQUEST_MAX - r->len) {
		r->full = true;
		return;
	}
	memcpy(r->bytes + r->len, text, n);
	r->bytes[r->len + n] = 0;
	r->len += n + 1;
}

static void put_text(struct request *r, const char *text)
{
	put(r, text, strlen(text));
}

static void put_number(struct request *r, size_t n)
{
	char text[24];
	put(r, text, (size_t)snprintf(text, sizeof text, "%zu", n));
}

static void put_environment(struct request *r)
{
	static const char *const names[] = { PROTO_ENVIRONMENT };
	const size_t all = sizeof names / sizeof *names;
	size_t set = 0;
	for (size_t i = 0; i < all; i++)
		set += getenv(names[i]) != NULL;
	put_number(r, set);
	for (size_t i = 0; i < all; i++) {
		const char *value = getenv(names[i]);
		if (!value)
			continue;
		/* "NAME=value" stands in the environment as such */
		put_text(r, value - strlen(names[i]) - 1);
	}
}

/* False where there can be no request: it would be over a limit, or the working folder is gone. */
static bool request_make(const struct shim *s, char **argv, struct request *r)
{
	static const char *const tools[] = { [TOOL_CC] = "cc", [TOOL_CXX] = "c++", [TOOL_NVCC] = "nvcc" };
	char cwd[PATH_MAX];
	size_t argc = 0;
	while (argv[argc])
		argc++;
	if (argc > PROTO_ARGC_MAX || !getcwd(cwd, sizeof cwd) || cwd[0] != '/')
		return false;
	r->bytes = must(malloc(PROTO_REQUEST_MAX));
	r->len = PROTO_HEAD;
	put_text(r, tools[s->tool]);
	put_text(r, cwd);
	put_number(r, argc);
	for (size_t i = 0; i < argc; i++)
		put_text(r, argv[i]);
	put_environment(r);
	memcpy(r->bytes, PROTO_MAGIC, 4);
	proto_put_u32(r->bytes + 4, PROTO_VERSION);
	proto_put_u32(r->bytes + 8, (uint32_t)r->len);
	return !r->full;
}

/* -1: there is no service here. */
static int connect_to(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof to.sun_path)
		return -1;
	memcpy(to.sun_path, path, strlen(path));
	int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	/* Above 2: the compiler may inherit it, and a caller may have closed its stdin. */
	int fd = s < 0 ? -1 : fcntl(s, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		die("no socket for the compile service: %s", strerror(errno));
	close(s);
	while (connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != ENOENT && errno != ENOTDIR)
			die("the compile service is gone; nobody listens at %s (%s)", path, strerror(errno));
		close(fd);
		return -1;
	}
	return fd;
}

static void send_all(int fd, const struct request *r)
{
	for (size_t sent = 0; sent < r->len;) {
		ssize_t n = send(fd, r->bytes + sent, r->len - sent, MSG_NOSIGNAL);
		if (n > 0)
			sent += (size_t)n;
		else if (errno != EINTR)
			die("the compile service is gone; it took no request (%s)", strerror(errno));
	}
}

/* `gcc --version` and the like: nothing is named to work on. */
static bool works_on_nothing(char **argv)
{
	for (argv++; *argv; argv++)
		if ((*argv)[0] != '-' || (*argv)[1] == 0)
			return false;
	return true;
}

enum asked ask(const struct shim *s, char **argv, int *connection, int *status)
{
	struct request r = { 0 };
	if (getenv(PROTO_INSIDE) || works_on_nothing(argv))
		return ASKED_NOBODY;
	int fd = request_make(s, argv, &r) ? connect_to(s->socket) : -1;
	if (fd < 0) {
		free(r.bytes);
		return ASKED_NOBODY;
	}
	send_all(fd, &r);
	free(r.bytes);
	*connection = fd;
	return answer_take(fd, status);
}
