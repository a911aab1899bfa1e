/* forge lint RECIPE …: what is likely wrong with recipes. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/chosen.h"
#include "cli/cli.h"
#include "cli/display.h"
#include "cli/results.h"
#include "core/json.h"
#include "lint/lint.h"

static const struct option options[] = {
	{ "offline", 0, OPTION_FLAG, OPTION(offline), NULL, "fetch no source: where the store lacks it, variables are not looked for" },
	{ "index", 0, OPTION_TEXT, OPTION(index), "URL", "the Python index to fetch from" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static int lint(const char *path, struct store *s, const struct options *o, const struct event_sink *sink,
	struct lint_report *report, struct err *err)
{
	struct cli_recipe recipe;
	struct err mine = { 0 };
	if (cli_recipe_open(&recipe, path, o, &mine) < 0) {
		if (mine.code != ERR_INPUT) /* it is not the recipe that is wrong */
			return err_move(err, &mine);
		lint_add_error(report, "evaluation", path, &mine);
		err_clear(&mine);
		return 0;
	}
	const struct lint_options with = { .recipe = path, .check_names = chosen_check_names, .lib = recipe.lib,
		.offline = o->offline, .index = o->index, .events = sink };
	int rc = lint_recipe(recipe.eval, s, &with, report, err);
	cli_recipe_close(&recipe);
	return rc;
}

static void print_json(const struct lint_report *r)
{
	_cleanup_json_ struct json *all = json_new_obj();
	struct json *findings = json_new_arr(), *left_out = json_new_arr();
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct lint_finding *f = &r->findings.items[i];
		struct json *j = json_new_obj();
		json_set_str(j, "check", f->check);
		json_set_str(j, "file", f->file);
		if (f->line)
			json_set_int(j, "line", f->line);
		json_set_str(j, "what", f->what);
		json_set_str(j, "todo", f->todo);
		json_push(findings, j);
	}
	for (size_t i = 0; i < r->left_out.count; i++) {
		struct json *j = json_new_obj();
		json_set_str(j, "check", r->left_out.items[i].check);
		json_set_str(j, "file", r->left_out.items[i].file);
		json_set_str(j, "because", r->left_out.items[i].why);
		json_push(left_out, j);
	}
	json_set(all, "findings", findings);
	json_set(all, "left_out", left_out);
	results_print_json(all);
}

static void print(const struct lint_report *r, bool quiet)
{
	for (size_t i = 0; i < r->findings.count; i++) {
		const struct lint_finding *f = &r->findings.items[i];
		_cleanup_free_ char *line = f->line ? mem_printf(":%d", f->line) : mem_dup("");
		printf("%s%s: %s%s%s\n", f->file, line, f->what, f->todo ? ": " : "", f->todo ? f->todo : "");
	}
	for (size_t i = 0; i < r->left_out.count && !quiet; i++)
		fprintf(stderr, "%s: left out: the check \"%s\": %s\n", r->left_out.items[i].file, r->left_out.items[i].check,
			r->left_out.items[i].why);
}

static int run(const struct options *o, struct err *err)
{
	struct lint_report report = { 0 };
	struct event_sink sink;
	struct store *s = cli_store(o, o->offline ? STORE_READ : STORE_WRITE, err);
	if (!s)
		return -1;
	struct display *display = display_new(o, NULL, &sink);
	int rc = 0;
	for (size_t i = 0; i < o->words.count && rc == 0; i++)
		rc = lint(o->words.items[i], s, o, &sink, &report, err);
	display_free(display);
	store_close(s);
	if (o->json)
		print_json(&report);
	else
		print(&report, o->quiet);
	if (rc == 0 && report.findings.count)
		rc = err_set(err, ERR_FAIL, "%zu finding%s", report.findings.count, report.findings.count == 1 ? "" : "s");
	lint_report_free(&report);
	return rc;
}

const struct command cmd_lint = {
	"lint", "RECIPE …", "Tell what is likely wrong with recipes",
	"All variants are evaluated. Found are, one a line with what to do: variants that do not evaluate or are not locked, "
	"variables of env and jobs that nothing in the source reads, a test that tests nothing, a label that is missing, "
	"patches that are not applied, values and profiles of which no variant is built, aliases that hide a variable.\n"
	"To look for variables the source is fetched and unpacked where the store lacks it. Nothing else is made.\n"
	"Exit status: 0 nothing was found, 1 something was.", options, 1, -1, run,
};
