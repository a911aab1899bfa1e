/*
 * What a build may do to the compile service that no compiler does; run inside of a build's sandbox.
 *
 *   request CWD WORD…      print the bytes of a sound request of "cc" for these words
 *   send SECONDS           send what stdin has and say what comes of it: "ended" without a frame, the type of the
 *                          first frame, or "silence" for that long
 *   hold COUNT SECONDS     as many connections at once, on each of which that is sent and nothing is read; it says
 *                          how many there were
 *   knock COUNT            as many after another, each of which sends it and goes away
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "shim/proto.h"

static char bytes[4 << 20];
static size_t len;

static void add(const char *text)
{
	size_t n = strlen(text) + 1;
	if (len + n > sizeof bytes)
		exit(2);
	memcpy(bytes + len, text, n);
	len += n;
}

static int print_request(char **args)
{
	char count[24];
	int n = 0;
	while (args[1 + n])
		n++;
	snprintf(count, sizeof count, "%d", n + 1);
	memcpy(bytes, PROTO_MAGIC, 4);
	proto_put_u32((unsigned char *)bytes + 4, PROTO_VERSION);
	len = PROTO_HEAD;
	add("cc");
	add(args[0]);
	add(count);
	add("cc");
	for (int i = 1; args[i]; i++)
		add(args[i]);
	add("0");
	proto_put_u32((unsigned char *)bytes + 8, (uint32_t)len);
	return fwrite(bytes, 1, len, stdout) == len ? 0 : 1;
}

static void read_stdin(void)
{
	for (ssize_t n; (n = read(0, bytes + len, sizeof bytes - len)) > 0;)
		len += (size_t)n;
}

/* -1: there is no room in the queue of those that wait to be accepted. */
static int connected(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX, .sun_path = PROTO_SOCKET };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0)
		return fd;
	if (errno != EAGAIN && errno != EMFILE) {
		perror("connect");
		exit(2);
	}
	close(fd);
	return -1;
}

/* As much as the other end takes; one that was not accepted does not hold up the next for long. */
static void pour(int fd)
{
	static int patience = 200;
	struct pollfd p = { fd, POLLOUT, 0 };
	for (size_t sent = 0; sent < len;) {
		ssize_t n = send(fd, bytes + sent, len - sent, MSG_NOSIGNAL);
		if (n < 0 && (errno != EAGAIN || poll(&p, 1, patience) <= 0)) {
			patience = 1;
			return;
		}
		if (n > 0)
			sent += (size_t)n;
	}
}

static int say_what_comes(char **args)
{
	char first;
	int fd = connected();
	pour(fd);
	struct pollfd p = { fd, POLLIN, 0 };
	if (poll(&p, 1, 1000 * atoi(args[0])) <= 0)
		puts("silence");
	else if (read(fd, &first, 1) <= 0)
		puts("ended");
	else
		printf("%c\n", first);
	return 0;
}

static int hold(char **args)
{
	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	int most = atoi(args[0]), count = 0;
	for (int i = 0; i < most; i++) {
		int fd = connected();
		if (fd < 0)
			continue;
		count++;
		pour(fd);
	}
	printf("%d\n", count);
	fflush(stdout);
	sleep((unsigned)atoi(args[1]));
	return 0;
}

static int knock(char **args)
{
	for (int i = 0; i < atoi(args[0]);) {
		int fd = connected();
		if (fd < 0) {
			usleep(1000);
			continue;
		}
		pour(fd);
		close(fd);
		i++;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 2;
	if (strcmp(argv[1], "request") == 0)
		return print_request(argv + 2);
	read_stdin();
	if (strcmp(argv[1], "send") == 0)
		return say_what_comes(argv + 2);
	if (strcmp(argv[1], "hold") == 0 && argc > 3)
		return hold(argv + 2);
	return strcmp(argv[1], "knock") == 0 ? knock(argv + 2) : 2;
}
