/*
 * Fetch through forge's own transfers from the command line, for benchmarks and by hand:
 *
 *	fetch_tool [-p PARALLEL] FILE…   lines of "<url> <path> [<sha256>]", "-" is standard input
 *
 * Prints one line a failure, then how many came, how many bytes, the time and the peak memory.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "fetch/fetch.h"

struct tool {
	struct loop *loop;
	struct fetcher *fetcher;
	size_t asked, ended, failed;
	int64_t bytes;
	bool done;
};

struct one {
	struct tool *tool;
	int fd;
};

static void came(void *ctx, int rc, const struct hash *sha256, int64_t size, struct buf *body,
	const char *content_type, const char *url, struct err *err)
{
	struct one *one = ctx;
	struct tool *t = one->tool;
	if (rc < 0) {
		fprintf(stderr, "%s\n", err->msg);
		t->failed++;
	} else {
		t->bytes += size;
	}
	close(one->fd);
	free(one);
	t->done = ++t->ended == t->asked;
}

static int ask(struct tool *t, char *line, struct err *err)
{
	char *url = strtok_r(line, " \t\n", &line), *path = strtok_r(NULL, " \t\n", &line);
	char *hex = strtok_r(NULL, " \t\n", &line);
	struct hash want;
	if (!url || !path)
		return 0;
	if (hex && hash_parse(slice_of(hex), &want, err) < 0)
		return -1;
	int fd = fs_open(path, O_RDWR | O_CREAT | O_TRUNC, 0644, err);
	if (fd < 0)
		return -1;
	struct one *one = mem_alloc(sizeof *one);
	*one = (struct one){ t, fd };
	const char *urls[] = { url };
	struct fetch_request r = {
		.urls = urls, .url_count = 1, .fd = fd, .sha256 = hex ? &want : NULL, .size = -1,
		.done = came, .ctx = one,
	};
	if (!fetch_start(t->fetcher, &r, err)) {
		close(fd);
		free(one);
		return -1;
	}
	t->asked++;
	return 0;
}

static int run(struct tool *t, int count, char **files, unsigned parallel, struct err *err)
{
	struct fetch_config config = { .parallel = parallel };
	t->loop = loop_new(err);
	t->fetcher = t->loop ? fetcher_new(t->loop, &config, err) : NULL;
	if (!t->fetcher)
		return -1;
	for (int i = 0; i < count; i++) {
		FILE *in = strcmp(files[i], "-") == 0 ? stdin : fopen(files[i], "re");
		if (!in)
			return err_sys(err, "can't open %s", files[i]);
		char *line = NULL;
		size_t room = 0;
		int rc = 0;
		while (rc == 0 && getline(&line, &room, in) > 0)
			rc = ask(t, line, err);
		free(line);
		if (in != stdin)
			fclose(in);
		if (rc < 0)
			return -1;
	}
	return t->asked ? loop_run(t->loop, &t->done, err) : 0;
}

int main(int argc, char **argv)
{
	struct tool t = { 0 };
	_cleanup_err_ struct err err = { 0 };
	unsigned parallel = 0;
	int first = 1;
	if (argc > 2 && strcmp(argv[1], "-p") == 0) {
		parallel = (unsigned)atoi(argv[2]);
		first = 3;
	}
	int64_t start = loop_now();
	int rc = run(&t, argc - first, argv + first, parallel, &err);
	if (rc < 0)
		fprintf(stderr, "fetch_tool: %s\n", err.msg);
	struct rusage use;
	getrusage(RUSAGE_SELF, &use);
	printf("%zu came, %zu failed, %" PRId64 " bytes in %" PRId64 " ms, %ld KiB at most\n",
		t.ended - t.failed, t.failed, t.bytes, loop_now() - start, use.ru_maxrss);
	if (t.fetcher)
		fetcher_free(t.fetcher);
	loop_free(t.loop);
	return rc < 0 || t.failed ? 1 : 0;
}
