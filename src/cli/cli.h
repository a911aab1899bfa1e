/*
 * Commands: argv to what a person asked for.  The only room that prints:
 * results on standard output, progress and errors on standard error.
 */
#ifndef FORGE_CLI_CLI_H
#define FORGE_CLI_CLI_H

#include "cli/options.h"
#include "core/event.h"
#include "core/mem.h"
#include "lua/eval.h"
#include "store/store.h"

struct command {
	const char *name;
	const char *words;               /* what follows the options, for the help: "RECIPE …" */
	const char *summary;             /* one line */
	const char *details;             /* a short paragraph, or NULL */
	const struct option *options;    /* beside the common ones; NULL: none */
	int min_words, max_words;        /* max -1: any number */
	int (*run)(const struct options *o, struct err *err);
};

extern const struct command *const commands[]; /* ends in NULL */
extern const struct command cmd_realise, cmd_lock, cmd_outdated, cmd_show, cmd_lint, cmd_export, cmd_log, cmd_gc, cmd_help;

/* The whole of main(): the exit status. */
int cli_main(int argc, char **argv);

/* The command of that name; NULL with an error that names the nearest. */
const struct command *cli_find_command(const char *name, struct err *err);
void cli_print_command(const struct command *c); /* its help */

/* Where things are (DESIGN 4). All owned by the caller. */
char *cli_store_folder(const struct options *o, struct err *err);
char *cli_lib_folder(struct err *err);
char *cli_lock_file(const char *recipe); /* forge.lock beside the recipe */
struct store *cli_store(const struct options *o, enum store_mode mode, struct err *err);

/* A recipe that was opened, with the lock that answers it. */
struct lock_reader;
struct cli_recipe {
	char *lib;
	struct lock_reader *lock;
	struct json *set, *env;
	struct eval *eval;
};
int cli_recipe_open(struct cli_recipe *r, const char *path, const struct options *o, struct err *err);
void cli_recipe_close(struct cli_recipe *r);
/* The NAME=VALUE of an option given again and again, as a JSON object; *out stays NULL where there are none. */
int cli_read_pairs(const char *option, const struct str_list *pairs, struct json **out, struct err *err);

/* The targets that --variant, --profile and --all choose (none given: the default one), told (eval_tell);
 * indexes in order.  Excluded ones are never among them: that one alone is asked for is an error. */
int cli_select(struct eval *e, const struct options *o, size_t **chosen, size_t *count, struct err *err);

/* "1.4 GB", "312 kB"; "2 min 05 s", "3.1 s", "12 ms". Owned by the caller. */
char *cli_bytes(int64_t bytes);
char *cli_duration(int64_t ms);
/* Is fd a terminal that can redraw lines; and one that wants colours (no-color.org)? */
bool cli_is_terminal(int fd);
bool cli_has_color(int fd);
/* Words in lines of at most 79 columns, all but the first line indented; line ends stay. Owned by the caller. */
char *cli_wrap(const char *text, int indent);

#endif
