/* The scripted web server (tests/support/httpd.py) as a child of a test program run in the project's folder. */
#ifndef TESTS_SUPPORT_HTTPD_H
#define TESTS_SUPPORT_HTTPD_H

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct httpd {
	pid_t pid;
	int input;      /* its standard input: it ends when this is closed, so also when the test dies */
	unsigned port;
	char log[300];  /* one JSON object a request */
};

static inline void httpd_die(const char *what)
{
	perror(what);
	abort();
}

/* "port N", within two minutes: a busy machine starts slowly. */
static inline unsigned httpd_port(int fd)
{
	char text[64] = "";
	size_t have = 0;
	while (!strchr(text, '\n') && have < sizeof text - 1) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n = poll(&p, 1, 120000) == 1 ? read(fd, text + have, sizeof text - 1 - have) : -1;
		if (n <= 0)
			httpd_die("httpd.py did not start");
		have += (size_t)n;
	}
	unsigned port = 0;
	if (sscanf(text, "port %u", &port) != 1 || !port)
		httpd_die("httpd.py said no port");
	return port;
}

/* Serve root by script (JSON text or NULL); files beside, named after name, are made in folder.
 * cert and key: NULL for plain http. */
static inline struct httpd httpd_start(const char *root, const char *folder, const char *name,
	const char *script, const char *cert, const char *key)
{
	struct httpd h = { .pid = -1 };
	char script_path[300];
	int in[2], out[2];
	snprintf(h.log, sizeof h.log, "%s/%s.log", folder, name);
	snprintf(script_path, sizeof script_path, "%s/%s.json", folder, name);
	FILE *f = fopen(script_path, "we");
	if (!f || fputs(script ? script : "{}", f) < 0 || fclose(f) != 0)
		httpd_die(script_path);
	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		httpd_die("pipe");
	h.pid = fork();
	if (h.pid == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execlp("python3", "python3", "tests/support/httpd.py", root, "--script", script_path,
			"--log", h.log, cert ? "--tls" : (char *)NULL, cert, key, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	h.input = in[1];
	h.port = httpd_port(out[0]);
	close(out[0]);
	return h;
}

static inline void httpd_stop(struct httpd *h)
{
	close(h->input);
	waitpid(h->pid, NULL, 0);
	h->pid = -1;
}

/* How many requests of a path were made so far (any method), by the log. */
static inline int httpd_asked(const struct httpd *h, const char *path)
{
	char line[8192], mark[512];
	int count = 0;
	snprintf(mark, sizeof mark, "\"path\": \"%s\"", path);
	FILE *f = fopen(h->log, "re");
	while (f && fgets(line, sizeof line, f))
		count += strstr(line, mark) != NULL;
	if (f)
		fclose(f);
	return count;
}

/* The log's line of the nth request (from 0) of a path; NULL if there was none.  Lent until the next call. */
static inline const char *httpd_line(const struct httpd *h, const char *path, int nth)
{
	static char line[8192];
	char mark[512];
	snprintf(mark, sizeof mark, "\"path\": \"%s\"", path);
	FILE *f = fopen(h->log, "re");
	while (f && fgets(line, sizeof line, f)) {
		if (strstr(line, mark) && nth-- == 0) {
			fclose(f);
			return line;
		}
	}
	if (f)
		fclose(f);
	return NULL;
}

#endif
