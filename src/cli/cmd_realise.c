/* forge realise RECIPE …: make what the recipe describes and print where it is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "build/realise.h"
#include "cli/cli.h"
#include "cli/display.h"
#include "cli/results.h"
#include "cli/tally.h"
#include "core/json.h"

static const struct option options[] = {
	{ "variant", 0, OPTION_LIST, OPTION(variants), "NAME", "a variant by its short name, or axis=value,… (may be given again)" },
	{ "profile", 0, OPTION_LIST, OPTION(profiles), "NAME", "the variants of a profile (may be given again)" },
	{ "all", 0, OPTION_FLAG, OPTION(all), NULL, "every variant" },
	{ "set", 0, OPTION_LIST, OPTION(sets), "FIELD=VALUE", "put another value in the place of the recipe's field" },
	{ "env", 0, OPTION_LIST, OPTION(envs), "NAME=VALUE", "the same for a variable of its env, or by one of its aliases for an axis or a field" },
	{ "dry-run", 'n', OPTION_FLAG, OPTION(dry_run), NULL, "print the plan and stop" },
	{ "jobs", 'j', OPTION_COUNT, OPTION(jobs), "N", "builds at once (default: the number of cores)" },
	{ "cores", 0, OPTION_COUNT, OPTION(cores), "N", "cores that builds may use (default: all)" },
	{ "memory", 0, OPTION_SIZE, OPTION(memory), "SIZE", "memory that builds may use together (default: what is free)" },
	{ "keep-failed", 'K', OPTION_FLAG, OPTION(keep_failed), NULL, "keep the folder of a build that failed" },
	{ "keep-going", 'k', OPTION_FLAG, OPTION(keep_going), NULL, "after a failure go on with what does not need it (so it is with several variants)" },
	{ "fail-fast", 0, OPTION_FLAG, OPTION(fail_fast), NULL, "after a failure start nothing more" },
	{ "offline", 0, OPTION_FLAG, OPTION(offline), NULL, "fetch nothing" },
	{ "no-compile-store", 0, OPTION_FLAG, OPTION(no_compile_store), NULL, "compile in the build itself: slower the next time, the same bytes" },
	{ "index", 0, OPTION_TEXT, OPTION(index), "URL", "the Python index to fetch from" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static void print_plan(const struct eval *e, const struct plan *plan, bool json)
{
	static const char *const names[] = { NULL, "valid", "fetch", "build" };
	_cleanup_json_ struct json *all = json_new_arr();
	for (size_t i = 0; i < plan->count; i++) {
		const struct plan_step *step = &plan->steps[i];
		const struct eval_drv *d = eval_drv(e, i);
		if (step->state == PLAN_UNNEEDED)
			continue;
		if (!json) {
			_cleanup_free_ char *bytes = cli_bytes(step->bytes);
			printf("%-6s %s (%s%s%s)\n", step->state == PLAN_BUILD ? d->what : names[step->state], d->drv->name, step->reason,
				step->bytes ? ", " : "", step->bytes ? bytes : "");
			continue;
		}
		struct json *j = json_new_obj();
		json_set_str(j, "state", names[step->state]);
		json_set_str(j, "what", d->what);
		json_set_str(j, "name", d->drv->name);
		json_set_str(j, "drv", d->path);
		json_set_str(j, "reason", step->reason);
		if (step->bytes)
			json_set_int(j, "bytes", step->bytes);
		json_push(all, j);
	}
	if (json)
		results_print_json(all);
}

/* "88 to fetch (109 MB), 5 to build, 12 in the store", without what is none. */
static void tell_plan(const struct plan *plan, const struct event_sink *sink)
{
	_cleanup_free_ char *bytes = cli_bytes(plan->fetch_bytes);
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (plan->fetch)
		buf_printf(&text, "%zu to fetch (%s)", plan->fetch, plan->fetch_bytes ? bytes : "size unknown");
	if (plan->build)
		buf_printf(&text, "%s%zu to build", text.len ? ", " : "", plan->build);
	if (text.len && plan->valid)
		buf_printf(&text, ", %zu in the store", plan->valid);
	if (text.len)
		event_note(sink, "%s", text.data);
}

static int carry_out(struct eval *e, struct store *s, struct plan *plan, const struct options *o,
	struct tally **tally, struct err *err)
{
	struct event_sink shown, sink;
	struct loop *loop = loop_new(err);
	if (!loop)
		return -1;
	struct display *display = display_new(o, loop, &shown);
	*tally = tally_new(plan->count, &shown, &sink);
	struct realise_options with = {
		.jobs = (unsigned)o->jobs, .cores = (unsigned)o->cores, .memory = o->memory,
		.keep_failed = o->keep_failed, .keep_going = o->keep_going, .offline = o->offline,
		.compile_in_place = o->no_compile_store,
		.index = o->index, .events = &sink,
	};
	display_expect(display, plan->fetch_bytes);
	tell_plan(plan, &sink);
	int rc = realise(loop, e, s, plan, &with, err);
	display_free(display);
	loop_free(loop);
	return rc;
}

/* Of several variants: the table, and one error for all that failed. */
static int sum_up(const struct chosen *chosen, const struct eval *e, const struct plan *plan,
	const struct tally *tally, struct store *s, const struct options *o, int rc, struct err *err)
{
	size_t failed = tally_print(tally, chosen, e, plan, s, o->quiet);
	if (rc == 0 || !failed || err->code == ERR_INTR)
		return rc;
	_cleanup_err_ struct err first = { 0 };
	err_move(&first, err);
	return err_set(err, ERR_BUILD, "%zu of %zu variants failed; the first: %s", failed, chosen->targets.count, first.msg);
}

static int realise_chosen(struct cli_recipe *recipe, struct chosen *chosen, struct store *s,
	const struct options *o, struct json *results, struct err *err)
{
	struct plan plan = PLAN_INIT;
	struct tally *tally = NULL;
	struct options own = *o;
	own.keep_going = !o->fail_fast && (o->keep_going || chosen->targets.count > 1);
	int rc = plan_make(recipe->eval, chosen->wanted.items, chosen->wanted.count, s, &plan, err);
	if (rc == 0 && o->dry_run) {
		print_plan(recipe->eval, &plan, o->json);
	} else if (rc == 0) {
		rc = plan.fetch + plan.build + plan.cutoffs ? carry_out(recipe->eval, s, &plan, &own, &tally, err) : 0;
		/* what was made is told and kept also where another variant failed */
		if (results_keep(chosen, recipe->eval, &plan, tally, s, o->json ? results : NULL, rc == 0 ? err : NULL) < 0)
			rc = -1;
		if (chosen->targets.count > 1)
			rc = sum_up(chosen, recipe->eval, &plan, tally, s, o, rc, err);
	}
	tally_free(tally);
	plan_free(&plan);
	return rc;
}

static int realise_recipe(const char *path, const struct options *o, struct store *s, struct json *results,
	struct err *err)
{
	struct cli_recipe recipe;
	struct chosen chosen = { 0 };
	size_t *indexes = NULL, count = 0;
	if (cli_recipe_open(&recipe, path, o, err) < 0)
		return -1;
	int rc = cli_select(recipe.eval, o, &indexes, &count, err);
	if (rc == 0)
		rc = chosen_derive(&chosen, path, recipe.eval, indexes, count, err);
	if (rc == 0)
		rc = realise_chosen(&recipe, &chosen, s, o, results, err);
	chosen_free(&chosen);
	free(indexes);
	cli_recipe_close(&recipe);
	return rc;
}

/* A build that failed does not stop the other recipes; what is wrong with a recipe or the store does. */
static bool goes_on(const struct options *o, const struct err *err)
{
	bool build = err->code == ERR_BUILD || err->code == ERR_TIMEOUT || err->code == ERR_HASH;
	return build && !o->fail_fast && o->words.count > 1;
}

static int realise_all(const struct options *o, struct store *s, struct json *results, struct err *err)
{
	size_t failed = 0;
	for (size_t i = 0; i < o->words.count; i++) {
		if (realise_recipe(o->words.items[i], o, s, results, err) == 0)
			continue;
		if (!goes_on(o, err))
			return -1;
		fprintf(stderr, "%s: %s\n", o->words.items[i], err->msg);
		err_clear(err);
		failed++;
	}
	if (!failed)
		return 0;
	return err_set(err, ERR_BUILD, "%zu of %zu recipes failed", failed, o->words.count);
}

static int run(const struct options *o, struct err *err)
{
	_cleanup_json_ struct json *results = json_new_arr();
	struct store *s = cli_store(o, o->dry_run ? STORE_READ : STORE_WRITE, err);
	if (!s)
		return -1;
	int rc = realise_all(o, s, results, err);
	store_close(s);
	if (o->json && !o->dry_run)
		results_print_json(results);
	return rc;
}

const struct command cmd_realise = {
	"realise", "RECIPE …", "Make the wheels that recipes describe and print where they are",
	"Without --variant, --profile or --all, a recipe's default variant. What is in the store already is not made again. "
	"Of several variants one that fails does not stop the others; a table tells what became of each.\n"
	"Every recipe has the profiles default and all; one with the axes has stable (the newest Python for each torch), "
	"one for each torch (pytorch211) and each Python (python313).\n"
	"Exit status: 100 a build failed, 101 it ran out of time, 102 a file had another hash than the lock says; of several "
	"variants 100 if any failed.",
	options, 1, -1, run,
};
