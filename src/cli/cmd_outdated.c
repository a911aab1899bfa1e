/* forge outdated [RECIPE …]: newer releases of what recipes name and their lock pins. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/fs.h"
#include "lock/outdated.h"

static const struct option options[] = {
	{ "index", 0, OPTION_TEXT, OPTION(index), "URL", "the Python index to ask" },
	{ NULL, 0, OPTION_FLAG, 0, NULL, NULL },
};

static const char *const hows[] = {
	[OUTDATED_RECIPE] = "recipe", [OUTDATED_PINNED] = "pinned", [OUTDATED_LOCKED] = "locked",
	[OUTDATED_MOVED] = "moved",
};

/* Evaluating every variant asks for everything that any of them needs. */
static int ask_everything(const char *recipe, struct outdated *o, struct err *err)
{
	_cleanup_free_ char *lib = cli_lib_folder(err);
	struct eval_options with = { .lib = lib, .locked = outdated_answer, .ctx = o };
	struct eval *e = lib ? eval_open(recipe, &with, err) : NULL;
	int rc = e ? 0 : -1;
	for (size_t i = 0; rc == 0 && i < eval_target_count(e); i++) {
		const struct eval_result *results;
		size_t count;
		rc = eval_tell(e, i, err);
		if (rc == 0 && !eval_target(e, i)->excluded)
			rc = eval_derive(e, i, &results, &count, err);
	}
	eval_close(e);
	return rc;
}

static int find(const char *recipe, const struct options *o, outdated_rows *rows, struct err *err)
{
	_cleanup_free_ char *file = cli_lock_file(recipe);
	const struct lock_resolve_options with = { .index = o->index };
	struct lock *lock = lock_open(file, err);
	struct lock_reader *reader = lock ? lock_reader_open(file, recipe, err) : NULL;
	struct lock_resolver *resolver = reader ? lock_resolver_new(lock, NULL, &with, err) : NULL;
	struct outdated *outdated = resolver ? outdated_new(lock, reader, resolver) : NULL;
	int rc = outdated ? ask_everything(recipe, outdated, err) : -1;
	if (rc == 0)
		rc = outdated_find(outdated, rows, err);
	outdated_free(outdated);
	lock_resolver_free(resolver);
	lock_reader_free(reader);
	lock_free(lock);
	return rc;
}

static void add_json(struct json *all, const char *recipe, const outdated_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct json *j = json_new_obj();
		json_set_str(j, "recipe", recipe);
		json_set_str(j, "name", rows->items[i].name);
		json_set_str(j, "locked", rows->items[i].locked);
		json_set_str(j, "newest", rows->items[i].newest);
		json_set_str(j, "how", hows[rows->items[i].how]);
		json_push(all, j);
	}
}

static int wider(int width, const char *text)
{
	int n = (int)strlen(text);
	return n > width ? n : width;
}

static void show_table(const struct json *all)
{
	static const char *const fields[] = { "recipe", "name", "locked", "newest" };
	static const char *const heads[] = { "RECIPE", "NAME", "LOCKED", "NEWEST" };
	int width[4] = { 0 };
	for (int f = 0; f < 4; f++) {
		width[f] = (int)strlen(heads[f]);
		for (size_t i = 0; i < json_count(all); i++)
			width[f] = wider(width[f], json_get_str(json_at(all, i), fields[f]));
	}
	for (size_t i = 0; i <= json_count(all); i++) {
		const struct json *row = i ? json_at(all, i - 1) : NULL;
		for (int f = 0; f < 4; f++)
			printf("%-*s  ", width[f], row ? json_get_str(row, fields[f]) : heads[f]);
		puts(row ? json_get_str(row, "how") : "HOW");
	}
}

/* Without words: the recipes there are. */
static int list_recipes(const struct options *o, struct str_list *out, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	for (size_t i = 0; i < o->words.count; i++)
		str_list_add(out, o->words.items[i]);
	_cleanup_close_ int dir = out->count ? -1 : open("recipes", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir >= 0 && fs_list(dir, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (str_ends(names.items[i], ".lua"))
			str_list_take(out, mem_printf("recipes/%s", names.items[i]));
	return out->count ? 0 : err_set(err, ERR_USAGE, "there are no recipes in ./recipes: name one");
}

static int run(const struct options *o, struct err *err)
{
	_cleanup_str_list_ struct str_list recipes = STR_LIST_INIT;
	_cleanup_json_ struct json *all = json_new_arr();
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (list_recipes(o, &recipes, err) < 0)
		return -1;
	for (size_t i = 0; i < recipes.count; i++) {
		outdated_rows rows = { 0 };
		int rc = find(recipes.items[i], o, &rows, err);
		add_json(all, recipes.items[i], &rows);
		outdated_rows_free(&rows);
		if (rc < 0)
			return err_add(err, "%s", recipes.items[i]);
	}
	if (o->json) {
		json_write(all, 1, &text);
		puts(text.data);
	} else if (json_count(all)) {
		show_table(all);
	} else if (!o->quiet) {
		fprintf(stderr, "everything is the newest\n");
	}
	return 0;
}

const struct command cmd_outdated = {
	"outdated", "[RECIPE …]", "List newer releases of what recipes name and their lock pins",
	"Nothing is changed. HOW tells where the older one is named: recipe (its version, or the tag of a git source) and "
	"pinned (a requirement with ==) are changed in the recipe, locked by forge lock --update; moved is a tag or branch "
	"that is another commit now. Debian's packages are not looked at. Without RECIPE: all in ./recipes.",
	options, 0, -1, run,
};
