#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/display.h"
#include "core/mem.h"

#ifndef FORGE_VERSION
#define FORGE_VERSION "0.1.0"
#endif

const struct command *const commands[] = {
	&cmd_realise, &cmd_lock, &cmd_outdated, &cmd_show, &cmd_lint, &cmd_export, &cmd_log, &cmd_gc, &cmd_help, NULL,
};

static void out_of_memory(void)
{
	static const char text[] = "forge: out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
	_exit(ignored < 0 ? 1 : 1);
}

const struct command *cli_find_command(const char *name, struct err *err)
{
	const char *names[16];
	size_t count = 0;
	for (; commands[count]; count++) {
		names[count] = commands[count]->name;
		if (strcmp(names[count], name) == 0)
			return commands[count];
	}
	const char *nearest = str_nearest(name, names, count);
	if (name[0] == '-')
		err_set(err, ERR_USAGE, "options come after the command: forge COMMAND %s …; see forge help", name);
	else if (nearest)
		err_set(err, ERR_USAGE, "there is no command \"%s\"; did you mean \"%s\"?", name, nearest);
	else
		err_set(err, ERR_USAGE, "there is no command \"%s\"; see forge help", name);
	return NULL;
}

void cli_print_command(const struct command *c)
{
	_cleanup_free_ char *details = cli_wrap(c->details ? c->details : "", 0);
	printf("forge %s%s%s%s\n\n%s.\n", c->name, c->options || c->words ? " [options]" : "",
		*c->words ? " " : "", c->words, c->summary);
	if (c->details)
		printf("\n%s\n", details);
	if (c->options) {
		printf("\nOptions:\n");
		options_print(c->options);
	}
	printf("\nCommon options:\n");
	options_print(options_common);
}

static int run_command(const struct command *c, int argc, char **argv, struct err *err)
{
	struct options o = { 0 };
	int rc = options_parse(argc, argv, c->options, &o, err);
	if (rc == 0 && o.help) {
		cli_print_command(c);
	} else if (rc == 0) {
		int words = (int)o.words.count;
		if (words < c->min_words || (c->max_words >= 0 && words > c->max_words))
			rc = err_set(err, ERR_USAGE, "usage: forge %s %s (see forge %s --help)", c->name, c->words, c->name);
		else
			rc = c->run(&o, err);
	}
	options_free(&o);
	return rc;
}

int cli_main(int argc, char **argv)
{
	_cleanup_err_ struct err err = { 0 };
	mem_on_exhausted(out_of_memory);
	const char *name = argc > 1 ? argv[1] : "help";
	if (strcmp(name, "--version") == 0) {
		puts("forge " FORGE_VERSION);
		return 0;
	}
	if (strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0)
		name = "help";
	const struct command *c = cli_find_command(name, &err);
	int rc = c ? run_command(c, argc > 2 ? argc - 2 : 0, argv + 2, &err) : -1;
	if (fflush(stdout) == EOF && rc == 0)
		rc = err_sys(&err, "can't write the result");
	if (rc == 0)
		return 0;
	display_error(err.msg ? err.msg : "failed");
	return err_exit_status(err.code == ERR_NONE ? ERR_FAIL : err.code);
}
