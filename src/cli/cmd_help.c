/* forge help [COMMAND] */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static int run(const struct options *o, struct err *err)
{
	if (o->words.count) {
		const struct command *c = cli_find_command(o->words.items[0], err);
		if (c)
			cli_print_command(c);
		return c ? 0 : -1;
	}
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
