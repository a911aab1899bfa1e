#include "lint/lint.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"
#include "lint/lint_impl.h"

#define RECIPE_MAX (4u << 20) /* what the evaluation reads of one */

static int (*const checks[])(struct linting *l, struct err *err) = {
	lint_evaluation, lint_tables, lint_names, lint_patches, lint_variables,
};

void lint_report_free(struct lint_report *r)
{
	for (size_t i = 0; i < r->findings.count; i++) {
		free(r->findings.items[i].check);
		free(r->findings.items[i].file);
		free(r->findings.items[i].what);
		free(r->findings.items[i].todo);
	}
	for (size_t i = 0; i < r->left_out.count; i++) {
		free(r->left_out.items[i].check);
		free(r->left_out.items[i].file);
		free(r->left_out.items[i].why);
	}
	list_free(&r->findings);
	list_free(&r->left_out);
}

void lint_say(struct linting *l, const char *check, int line, char *what, char *todo)
{
	*list_push(&l->out->findings) = (struct lint_finding){ .check = mem_dup(check), .file = mem_dup(l->o->recipe),
		.line = line, .what = what, .todo = todo };
}

void lint_leave_out(struct linting *l, const char *check, char *why)
{
	*list_push(&l->out->left_out) = (struct lint_left_out){ mem_dup(check), mem_dup(l->o->recipe), why };
}

/* "x.lua:7: what" begins with a place: where its file's name ends, and the line (0: none is said). NULL: no place. */
static const char *place_of(const char *msg, int *line, const char **what)
{
	const char *end = strstr(msg, ".lua:");
	char *rest = NULL;
	if (!end)
		return NULL;
	end += strlen(".lua");
	long n = strtol(end + 1, &rest, 10);
	bool numbered = end[1] > '0' && end[1] <= '9' && n < 10000000 && rest[0] == ':' && rest[1] == ' ';
	*line = numbered ? (int)n : 0;
	*what = numbered ? rest + 2 : end[1] == ' ' ? end + 2 : NULL;
	return *what ? end : NULL;
}

void lint_add_error(struct lint_report *out, const char *check, const char *recipe, const struct err *err)
{
	const char *what = NULL;
	int line = 0;
	const char *end = place_of(err->msg, &line, &what);
	*list_push(&out->findings) = (struct lint_finding){ .check = mem_dup(check), .line = line,
		.file = end ? mem_dup_n(err->msg, (size_t)(end - err->msg)) : mem_dup(recipe),
		.what = mem_dup(end ? what : err->msg) };
}

int lint_tables(struct linting *l, struct err *err)
{
	_cleanup_err_ struct err mine = { 0 };
	if (eval_lint(l->e, &l->tables, &mine) < 0) {
		lint_add_error(l->out, "evaluation", l->o->recipe, &mine);
		return 0;
	}
	const struct json *list = json_get(l->tables.told, "findings");
	struct slice text = { l->text.data, l->text.len };
	for (size_t i = 0; i < json_count(list); i++) {
		const struct json *f = json_at(list, i);
		lint_say(l, json_get_str(f, "check"), lint_line(text, json_get_str(f, "field"), json_get_str(f, "word")),
			mem_dup(json_get_str(f, "what")), mem_dup(json_get_str(f, "todo")));
	}
	return 0;
}

int lint_names(struct linting *l, struct err *err)
{
	_cleanup_err_ struct err mine = { 0 };
	if (l->o->check_names(l->o->recipe, l->possible.items, l->possible.count, &mine) < 0)
		lint_add_error(l->out, "name", l->o->recipe, &mine);
	return 0;
}

/* The findings from `first` on in the order of their lines, as they came where these are equal. */
static void sort_lines(struct lint_report *r, size_t first)
{
	for (size_t i = first + 1; i < r->findings.count; i++) {
		struct lint_finding one = r->findings.items[i];
		size_t k = i;
		for (; k > first && r->findings.items[k - 1].line > one.line; k--)
			r->findings.items[k] = r->findings.items[k - 1];
		r->findings.items[k] = one;
	}
}

int lint_recipe(struct eval *e, struct store *s, const struct lint_options *o, struct lint_report *out, struct err *err)
{
	struct linting l = { .e = e, .s = s, .o = o, .out = out, .text = BUF_INIT };
	size_t first = out->findings.count;
	int rc = fs_read_file(AT_FDCWD, o->recipe, RECIPE_MAX, &l.text, err);
	for (size_t i = 0; i < sizeof checks / sizeof *checks && rc == 0; i++)
		rc = checks[i](&l, err);
	sort_lines(out, first);
	eval_lint_free(&l.tables);
	list_free(&l.possible);
	list_free(&l.wheels);
	buf_free(&l.text);
	return rc;
}
