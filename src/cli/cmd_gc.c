/* forge gc: remove what is not needed any more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/results.h"
#include "core/fs.h"
#include "core/json.h"
#include "core/loop.h"
#include "store/gc.h"

#define SHOW_AFTER_MS 500
#define SHOW_EVERY_MS 100

static const struct option options[] = {
	{ "max-size", 0, OPTION_TEXT, OPTION(max_size), "SIZE", "remove only until the objects take no more than this" },
	{ "dry-run", 'n', OPTION_FLAG, OPTION(dry_run), NULL, "print what would go and stop" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* To collect in a store that is not there must not make one. */
static struct store *open_store(const struct options *o, struct err *err)
{
	_cleanup_free_ char *folder = cli_store_folder(o, err);
	_cleanup_free_ char *db = folder ? fs_join(folder, "db.sqlite") : NULL;
	if (!folder)
		return NULL;
	/* Opened to read first: that tells why it can't be, where it is not missing. */
	struct store *s = store_open(folder, STORE_READ, err);
	if (!s || (o->dry_run && fs_exists(db)))
		return s;
	store_close(s);
	if (fs_exists(db))
		return store_open(folder, STORE_WRITE, err);
	err_set(err, ERR_FAIL, "there is no store %s (name another with --store DIR or $FORGE_STORE)", folder);
	return NULL;
}

static void print_plan(const struct store_gc *gc)
{
	for (size_t i = 0; i < gc->stale.count; i++)
		printf("root     %s (its link or its object is gone)\n", gc->stale.items[i]);
	for (size_t i = 0; i < gc->dead.count; i++) {
		const struct store_dead *d = &gc->dead.items[i];
		_cleanup_free_ char *bytes = cli_bytes((int64_t)d->bytes);
		char used[32] = "left by a crash";
		time_t seconds = (time_t)d->used;
		struct tm tm;
		if (d->registered)
			strftime(used, sizeof used, "used %Y-%m-%d", localtime_r(&seconds, &tm));
		printf("%-8s %s (%s)\n", bytes, d->base, used);
	}
}

static struct json *plan_json(const struct store_gc *gc)
{
	struct json *all = json_new_arr();
	for (size_t i = 0; i < gc->dead.count; i++) {
		const struct store_dead *d = &gc->dead.items[i];
		_cleanup_free_ char *path = mem_printf(STORE_DIR "/%s", d->base);
		struct json *j = json_new_obj();
		json_set_str(j, "path", path);
		json_set_int(j, "bytes", (int64_t)d->bytes);
		if (d->registered)
			json_set_int(j, "used", d->used);
		json_push(all, j);
	}
	return all;
}

static void tell(const struct store_gc *gc, const struct store_gc_done *done, const struct options *o)
{
	_cleanup_free_ char *bytes = cli_bytes((int64_t)done->bytes), *left = cli_bytes((int64_t)done->left_bytes);
	if (!o->json) {
		/* Files that objects share make what a bound needs more, as far as only removing them tells. */
		printf("%s%zu object%s %sremoved, %s %sfreed; %zu left, %s\n", o->dry_run && o->max_size ? "at least " : "",
			done->removed, done->removed == 1 ? "" : "s", o->dry_run ? "would be " : "", bytes, o->dry_run ? "would be " : "",
			done->left, left);
		return;
	}
	_cleanup_json_ struct json *j = json_new_obj(), *roots = json_new_strs(&gc->stale);
	json_set_int(j, "removed", (int64_t)done->removed);
	json_set_int(j, "bytes", (int64_t)done->bytes);
	json_set_int(j, "left", (int64_t)done->left);
	json_set_int(j, "left_bytes", (int64_t)done->left_bytes);
	json_set(j, "roots", json_ref(roots));
	if (o->dry_run)
		json_set(j, "objects", plan_json(gc));
	results_print_json(j);
}

/* One line on a terminal, once it takes long enough to wonder. */
struct progress {
	int64_t began, shown;
};

static void progress(void *ctx, size_t done, size_t total)
{
	struct progress *p = ctx;
	int64_t now = loop_now();
	if (now - p->began < SHOW_AFTER_MS || now - p->shown < SHOW_EVERY_MS)
		return;
	p->shown = now;
	fprintf(stderr, "\r\033[Kremoving %zu of %zu objects", done, total);
	fflush(stderr);
}

static int collect(struct store *s, const struct store_gc *gc, const struct options *o, struct store_gc_done *done,
	struct err *err)
{
	struct progress p = { loop_now(), 0 };
	bool show = !o->quiet && cli_is_terminal(STDERR_FILENO);
	int rc = store_gc_run(s, gc, show ? progress : NULL, &p, done, err);
	if (p.shown)
		fprintf(stderr, "\r\033[K");
	return rc;
}

/* Of objects that share files less is freed than they take: as long as that is what is missing, once more. */
static int again(struct store *s, const uint64_t *max_size, const struct options *o, struct store_gc_done *done, struct err *err)
{
	int rc = 0;
	for (size_t removed = done->removed; rc == 0 && removed && done->left_bytes > *max_size;) {
		struct store_gc gc;
		struct store_gc_done more = { 0 };
		if (store_gc_plan(s, max_size, &gc, err) < 0)
			return -1;
		rc = collect(s, &gc, o, &more, err);
		store_gc_free(&gc);
		removed = more.removed;
		*done = (struct store_gc_done){ done->removed + removed, done->bytes + more.bytes, more.left, more.left_bytes };
	}
	return rc;
}

static int gc_store(struct store *s, const uint64_t *max_size, const struct options *o, struct err *err)
{
	struct store_gc gc;
	if (store_gc_plan(s, max_size, &gc, err) < 0)
		return -1;
	struct store_gc_done done = { gc.dead.count, gc.bytes, gc.left, gc.left_bytes };
	int rc = 0;
	if (!o->dry_run)
		rc = collect(s, &gc, o, &done, err) < 0 || (max_size && again(s, max_size, o, &done, err) < 0) ? -1 : 0;
	else if (!o->json)
		print_plan(&gc);
	if (rc == 0 || done.removed)
		tell(&gc, &done, o);
	if (rc == 0 && max_size && done.left_bytes > *max_size && !o->quiet)
		fprintf(stderr, "what is left is more than --max-size: roots and running forges need it\n");
	store_gc_free(&gc);
	return rc;
}

static int run(const struct options *o, struct err *err)
{
	uint64_t max_size = 0;
	if (o->max_size && options_size(o->max_size, &max_size, err) < 0)
		return err_add(err, "--max-size");
	struct store *s = open_store(o, err);
	if (!s)
		return -1;
	int rc = gc_store(s, o->max_size ? &max_size : NULL, o, err);
	store_close(s);
	return rc;
}

const struct command cmd_gc = {
	"gc", "", "Remove from the store what no result needs any more",
	"What the links in store/roots name stays, with all that it needs, and so does what a running forge uses; to let "
	"go of a result, remove its link. Of the rest all goes but the results of compiles. With --max-size the least "
	"recently used goes, results of compiles as well, and only until what is left takes no more than SIZE.",
	options, 0, 0, run,
};
