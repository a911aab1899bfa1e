/* forge log [NAME]: what was built, and what a build printed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/display.h"
#include "core/fs.h"
#include "core/json.h"

static const struct option options[] = {
	{ "list", 'l', OPTION_FLAG, OPTION(list), NULL, "list the records, also with NAME" },
	{ "compiles", 0, OPTION_FLAG, OPTION(compiles), NULL, "list the compiles: time, memory, hit or miss and why" },
	{ "lines", 'n', OPTION_COUNT, OPTION(lines), "N", "how many records (default: 20)" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

struct listing {
	struct json *json; /* NULL: print a table */
	size_t count;
};

static int list_one(void *ctx, const struct store_build *b)
{
	struct listing *l = ctx;
	_cleanup_free_ char *time_taken = cli_duration(b->end_ms - b->start_ms);
	_cleanup_free_ char *peak = b->peak_memory ? cli_bytes((int64_t)b->peak_memory) : mem_dup("-");
	char when[32] = "";
	time_t seconds = (time_t)(b->start_ms / 1000);
	struct tm tm;
	strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", localtime_r(&seconds, &tm));
	l->count++;
	if (!l->json) {
		const char *how = b->note ? b->note : b->status ? "failed" : "ok";
		const char *word = str_starts(how, "in place: ") ? "place" : str_starts(how, "again: ") ? "again" :
			str_starts(how, "miss") ? "miss" : how;
		_cleanup_buf_ struct buf name = BUF_INIT, why = BUF_INIT;
		display_clean(b->name, &name); /* a compile's is what the build called its source */
		display_clean(how, &why);
		printf("%s  %-7s %-6s  %10s  %8s  %s\n", when, b->what, word, time_taken, peak, name.data ? name.data : "");
		if (strcmp(word, how) != 0)
			printf("%21s%s\n", "", why.data);
		return 0;
	}
	struct json *j = json_new_obj();
	json_set_str(j, "name", b->name);
	json_set_str(j, "what", b->what);
	json_set_str(j, "drv", b->drv_path);
	json_set_str(j, "path", b->path);
	json_set_str(j, "log", b->log);
	json_set_int(j, "start_ms", b->start_ms);
	json_set_int(j, "end_ms", b->end_ms);
	json_set_int(j, "cpu_ms", b->cpu_ms);
	json_set_int(j, "peak_memory", (int64_t)b->peak_memory);
	json_set_int(j, "status", b->status);
	json_set_str(j, "note", b->note);
	json_push(l->json, j);
	return 0;
}

/* Of the newest steps that have a log: the build, or one after it that failed; else the first that came by. */
static int best_log(void *ctx, const struct store_build *b)
{
	char **log = ctx;
	bool best = str_eq(b->what, "build") || b->status != 0;
	if (!b->log || (*log && !best))
		return 0;
	free(*log);
	*log = mem_dup(b->log);
	return best;
}

static int print_log(struct store *s, const char *name, struct err *err)
{
	_cleanup_free_ char *log = NULL;
	if (store_builds(s, name, 1000, best_log, &log, err) < 0)
		return -1;
	if (!log)
		return err_set(err, ERR_FAIL, "there is no log of \"%s\" in %s; forge log --list shows what there is",
			name, store_folder(s));
	_cleanup_free_ char *path = fs_join(store_folder(s), log);
	_cleanup_close_ int fd = fs_open(path, O_RDONLY, 0, err);
	if (fd < 0)
		return -1;
	fflush(stdout);
	return fs_copy_bytes(fd, STDOUT_FILENO, -1, err);
}

static int list_builds(struct store *s, const struct options *o, struct err *err)
{
	_cleanup_json_ struct json *all = o->json ? json_new_arr() : NULL;
	struct listing l = { all, 0 };
	const char *match = o->words.count ? o->words.items[0] : NULL;
	size_t most = o->lines ? o->lines : 20;
	if ((o->compiles ? store_compiles : store_builds)(s, match, most, list_one, &l, err) < 0)
		return -1;
	if (all) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		json_write(all, 1, &text);
		puts(text.data);
	} else if (!l.count && !o->quiet) {
		fprintf(stderr, "nothing was %s in %s yet\n", o->compiles ? "compiled" : "built", store_folder(s));
	}
	return 0;
}

static int run(const struct options *o, struct err *err)
{
	struct store *s = cli_store(o, STORE_READ, err);
	if (!s)
		return -1;
	int rc = o->words.count && !o->list && !o->compiles && !o->json ? print_log(s, o->words.items[0], err)
	                                                 : list_builds(s, o, err);
	store_close(s);
	return rc;
}

const struct command cmd_log = {
	"log", "[NAME]", "List builds, or print the log of the newest whose name holds NAME",
	"The steps after a build (finish, test) are shown where they failed, or where NAME fits nothing else.",
	options, 0, 1, run,
};
