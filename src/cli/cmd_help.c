/* forge help [COMMAND] */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static int run(const struct options *o, struct err *err)
{
	for (size_t i = 0; commands[i] && o->words.count; i++) {
		if (strcmp(commands[i]->name, o->words.items[0]) == 0) {
			cli_print_command(commands[i]);
			return 0;
		}
	}
	if (o->words.count)
		return err_set(err, ERR_USAGE, "there is no command \"%s\"; see forge help", o->words.items[0]);
	printf("forge builds Python wheels from recipes, in a sandbox, into a content-addressed store.\n\n"
		"usage: forge COMMAND [options] …\n\n");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-9s %s\n", commands[i]->name, commands[i]->summary);
	printf("\nforge COMMAND --help tells more. The first thing to try:\n  forge realise recipes/markupsafe.lua\n");
	return 0;
}

const struct command cmd_help = {
	"help", "[COMMAND]", "Tell what the commands do", NULL, NULL, 0, 1, run,
};
