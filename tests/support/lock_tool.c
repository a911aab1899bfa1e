/*
 * Resolve requests as `forge lock` does, without a recipe:
 *
 *	lock_tool [--update[=NAME]] [--index URL] STORE LOCK < requests
 *
 * One JSON request a line on standard input (see lock/lock.h); each answer is printed on one line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/buf.h"
#include "core/err.h"
#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"
#include "lock/lock.h"
#include "store/store.h"

static void emit(void *ctx, const struct event *e)
{
	if (e->kind == EVENT_START)
		fprintf(stderr, "%s: %s\n", e->what, e->name);
	if (e->kind == EVENT_DONE)
		fprintf(stderr, "  %lld ms\n", (long long)e->ms);
	if (e->kind == EVENT_NOTE || e->kind == EVENT_WARN)
		fprintf(stderr, "%s\n", e->text);
}

static int answer_line(struct lock_resolver *r, struct slice line, struct err *err)
{
	_cleanup_json_ struct json *request = json_parse(line, 1 << 20, err);
	_cleanup_json_ struct json *answer = NULL;
	_cleanup_buf_ struct buf out = BUF_INIT;
	if (!request || lock_resolve(r, request, &answer, err) < 0)
		return -1;
	json_write(answer, 0, &out);
	puts(out.data);
	return 0;
}

static int work(const char *folder, const char *file, struct lock_resolve_options *o, struct err *err)
{
	_cleanup_buf_ struct buf in = BUF_INIT;
	struct store *store = store_open(folder, STORE_WRITE, err);
	struct lock *lock = store ? lock_open(file, err) : NULL;
	_cleanup_free_ char *scratch = store ? fs_join(store_folder(store), "cache") : NULL;
	o->scratch = scratch;
	struct lock_resolver *r = lock ? lock_resolver_new(lock, store, o, err) : NULL;
	int rc = r ? fs_slurp(STDIN_FILENO, 1 << 20, &in, err) : -1;
	struct slice line, rest = { in.data ? in.data : "", in.len };
	while (rc == 0 && rest.n) {
		slice_cut(rest, '\n', &line, &rest);
		line = slice_trim(line);
		rc = line.n ? answer_line(r, line, err) : 0;
	}
	if (rc == 0)
		rc = lock_save(lock, err);
	lock_resolver_free(r);
	lock_free(lock);
	if (store)
		store_close(store);
	return rc;
}

int main(int argc, char **argv)
{
	struct event_sink sink = { emit, NULL };
	struct lock_resolve_options o = { .events = &sink };
	_cleanup_err_ struct err err = { 0 };
	int i = 1;
	for (; i < argc && str_starts(argv[i], "--"); i++) {
		if (strcmp(argv[i], "--update") == 0)
			o.update = true;
		else if (str_starts(argv[i], "--update="))
			o.update = true, o.only = argv[i] + strlen("--update=");
		else if (strcmp(argv[i], "--index") == 0 && i + 1 < argc)
			o.index = argv[++i];
		else
			break;
	}
	if (argc - i != 2) {
		fprintf(stderr, "usage: lock_tool [--update] [--index URL] STORE LOCK < requests\n");
		return 2;
	}
	if (work(argv[i], argv[i + 1], &o, &err) == 0)
		return 0;
	fprintf(stderr, "error: %s\n", err.msg);
	return err_exit_status(err.code);
}
