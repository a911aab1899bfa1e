#include "shim/shim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/proto.h"

static bool any_of(char **argv, const char *const *list)
{
	for (argv++; *argv; argv++)
		if (is_one_of(*argv, list))
			return true;
	return false;
}

/* A shared object that older systems can load too: the folder that is searched first has another libc, libm and
 * libstdc++ to link with (lib/toolchain/floor/make.sh). */
static void gcc_args(const struct shim *s, char **argv, struct args *out)
{
	static const char *const shared[] = { "-shared", "--shared", NULL };
	static const char *const no_link[] = { "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-static", NULL };
	if (any_of(argv, shared) && !any_of(argv, no_link))
		args_push(out, s->floor);
	for (char **arg = argv + 1; *arg; arg++)
		args_push(out, *arg);
}

void place_run(const struct shim *s, char **argv)
{
	struct args args = { 0 };
	const char *real = s->tool == TOOL_CC ? s->gcc : s->tool == TOOL_CXX ? s->gxx : s->nvcc;
	args_push(&args, real);
	if (s->tool == TOOL_NVCC)
		nvcc_args(s, argv, &args);
	else
		gcc_args(s, argv, &args);
	execv(real, args.items);
	die("%s can't be run: %s", real, strerror(errno));
}

void shim_run(const struct shim *s, char **argv)
{
	int connection = -1, status = 0;
	argv = options_expand(s->tool, argv);
	switch (ask(s, argv, &connection, &status)) {
	case ASKED_DONE:
		exit(status);
	case ASKED_RUN:
		/* No parent that waits: the compiler gets this process, its signals and the connection, which
		 * ends with the last process of the compiler, however that comes about. */
		if (fcntl(connection, F_SETFD, 0) < 0 || setenv(PROTO_INSIDE, "1", 1) < 0)
			die("the compiler can't be run: %s", strerror(errno));
		break;
	case ASKED_NOBODY:
		break;
	}
	place_run(s, argv);
}
