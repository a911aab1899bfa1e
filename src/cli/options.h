/*
 * Command lines from tables: the same table parses, and prints the help (and so
 * the manual).  Long options take "--name value" or "--name=value".
 */
#ifndef FORGE_CLI_OPTIONS_H
#define FORGE_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/err.h"
#include "core/str.h"

/* All that can be asked for on a command line; a command reads what its table offers. */
struct options {
	const char *store, *index, *max_size;
	bool json, quiet, verbose, help, version;
	bool dry_run, keep_failed, keep_going, fail_fast, offline, all, list, no_compile_store, compiles, prune;
	const char *update; /* NULL: not given; "": of all */
	uint64_t jobs, cores, memory, lines;
	struct str_list variants, profiles, sets, envs;
	struct str_list words; /* what is no option */
};

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_COUNT, OPTION_SIZE, OPTION_LIST,
	OPTION_MAYBE /* a text, "" where it is given without "=" */ };

struct option {
	const char *name;    /* without the dashes; NULL ends a table */
	char letter;         /* 0: none */
	enum option_kind kind;
	size_t offset;       /* in struct options */
	const char *value;   /* what the help calls the value; NULL for a flag */
	const char *help;    /* one line */
};

#define OPTION(field) offsetof(struct options, field)

extern const struct option options_common[]; /* every command has these */

/* Parse argv[0..argc-1] (without program and command name) by the command's table and the common one. */
int options_parse(int argc, char **argv, const struct option *table, struct options *out, struct err *err);
void options_free(struct options *o);

/* Print a table as help lines. */
void options_print(const struct option *table);

/* "6GiB", "512M", "1048576": bytes. */
int options_size(const char *text, uint64_t *out, struct err *err);

#endif
