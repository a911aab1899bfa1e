/* forge lock RECIPE …: name in forge.lock all that the recipes fetch. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/display.h"
#include "cli/lock_prune.h"
#include "core/fs.h"
#include "lock/lock.h"

static const struct option options[] = {
	{ "update", 0, OPTION_MAYBE, OPTION(update), "NAME", "resolve again what is locked already; with a name, "
	  "only that project, package or repository" },
	{ "prune", 0, OPTION_FLAG, OPTION(prune), NULL, "drop what none of these recipes asks for, as they stand (what was "
	  "locked with --set goes too); all that share the lock are to be named" },
	{ "index", 0, OPTION_TEXT, OPTION(index), "URL", "the Python index to ask" },
	{ "set", 0, OPTION_LIST, OPTION(sets), "FIELD=VALUE", "put another value in the place of the recipe's field" },
	{ "env", 0, OPTION_LIST, OPTION(envs), "NAME=VALUE", "the same by one of its aliases" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

/* Evaluating every variant asks for everything that any of them needs; of one that is impossible, for what says so. */
static int ask_everything(const char *recipe, const char *lib, const struct options *o,
	struct lock_resolver *resolver, struct prune *prune, struct err *err)
{
	_cleanup_json_ struct json *set = NULL, *env = NULL;
	if (cli_read_pairs("set", &o->sets, &set, err) < 0 || cli_read_pairs("env", &o->envs, &env, err) < 0)
		return -1;
	struct eval_options with = { .lib = lib, .locked = lock_resolve, .ctx = resolver, .set = set, .env = env };
	struct eval *e = eval_open(recipe, &with, err);
	int rc = e ? 0 : -1;
	for (size_t i = 0; rc == 0 && i < eval_target_count(e); i++) {
		const struct eval_result *results;
		size_t count;
		rc = eval_tell(e, i, err);
		if (rc == 0 && !eval_target(e, i)->excluded)
			rc = eval_derive(e, i, &results, &count, err);
	}
	if (rc == 0 && o->prune)
		rc = prune_add(prune, recipe, e, resolver, err);
	eval_close(e);
	return rc;
}

static int lock_recipe(const char *recipe, const struct options *o, struct store *s,
	const struct event_sink *events, bool *named, struct prune *prune, struct err *err)
{
	_cleanup_free_ char *file = cli_lock_file(recipe);
	_cleanup_free_ char *lib = cli_lib_folder(err);
	_cleanup_free_ char *scratch = fs_join(store_folder(s), "cache");
	struct lock *lock = lib ? lock_open(file, err) : NULL;
	if (!lock)
		return -1;
	struct lock_resolve_options with = { .index = o->index, .update = o->update, .scratch = scratch,
		.only = o->update && *o->update ? o->update : NULL, .events = events };
	struct lock_resolver *resolver = lock_resolver_new(lock, s, &with, err);
	int rc = resolver ? ask_everything(recipe, lib, o, resolver, prune, err) : -1;
	bool changed = lock_changed(lock);
	*named = *named || (resolver && lock_resolver_named(resolver));
	if (rc == 0)
		rc = lock_save(lock, err);
	if (rc == 0 && !o->quiet)
		event_note(events, "%s %s", file, changed ? "written" : "is up to date");
	lock_resolver_free(resolver);
	lock_free(lock);
	return rc;
}

static int run(const struct options *o, struct err *err)
{
	struct event_sink sink;
	if (o->prune && (o->sets.count || o->envs.count)) /* then what is asked for without them would be dropped */
		return err_set(err, ERR_USAGE, "--prune: not with --set or --env: it takes the recipes as they stand");
	struct store *s = cli_store(o, STORE_WRITE, err);
	if (!s)
		return -1;
	struct display *display = display_new(o, NULL, &sink);
	struct prune prune = { 0 };
	int rc = 0;
	bool named = false;
	for (size_t i = 0; rc == 0 && i < o->words.count; i++) {
		rc = lock_recipe(o->words.items[i], o, s, &sink, &named, &prune, err);
		if (rc < 0)
			err_add(err, "%s", o->words.items[i]);
	}
	if (rc == 0 && o->update && *o->update && !named)
		rc = err_set(err, ERR_USAGE, "--update=%s: these recipes ask for nothing of that name", o->update);
	if (rc == 0 && o->prune)
		rc = prune_locks(&prune, &sink, err);
	prune_free(&prune);
	display_free(display);
	store_close(s);
	return rc;
}

const struct command cmd_lock = {
	"lock", "RECIPE …", "Write into forge.lock what recipes fetch: versions, sizes, hashes",
	"Only what these recipes ask for is touched; what is locked stays as it is unless --update is given. "
	"Of Python's packages --update=NAME moves only NAME, as far as what else is locked agrees with it.",
	options, 1, -1, run,
};
