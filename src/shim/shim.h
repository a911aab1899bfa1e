/* The shim stands in for the compilers of a build's world.  What forge's compile service can do it leaves to it;
 * all else it runs in place, as if it were not there.  It is compiled inside the world it is for: libc only. */
#ifndef FORGE_SHIM_SHIM_H
#define FORGE_SHIM_SHIM_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

enum tool { TOOL_CC, TOOL_CXX, TOOL_NVCC };

/* Which tool this is and what it stands in front of. Paths are absolute, texts are lent. */
struct shim {
	enum tool tool;
	const char *socket;       /* forge's, see proto.h */
	const char *gcc, *gxx;    /* the real compilers */
	char floor[PATH_MAX];     /* cc, c++: -L and the folder of what shared objects are linked with */
	char nvcc[PATH_MAX];      /* nvcc: the real one */
	const char *ccbin;        /* nvcc: the host compiler, a shim itself */
};

/* An argument vector under construction; one NULL always follows. */
struct args {
	char **items;
	size_t count, room;
};
void args_push(struct args *a, const char *item); /* the text is lent */

/* --- ask.c ---------------------------------------------------------------------------------- */

enum asked {
	ASKED_NOBODY, /* there is no service, or nothing to ask: run in place */
	ASKED_RUN,    /* the service says: in place; *connection is held open meanwhile */
	ASKED_DONE,   /* done, with *status */
};

/* Hand the command to forge and wait for what comes of it. Files, stdout and stderr are written as they come.
 * When the service breaks off it says so and ends the process. */
enum asked ask(const struct shim *s, char **argv, int *connection, int *status);

/* --- options.c ------------------------------------------------------------------------------ */

/* argv with the words of files of options (gcc's @FILE, nvcc's --options-file FILE: CMake has its -I there) in the place
 * of what names them, so that the whole command is seen. What is not plainly words is left for the compiler to read. */
char **options_expand(enum tool tool, char **argv);

/* --- answer.c ------------------------------------------------------------------------------- */

/* Take frames until the last one. */
enum asked answer_take(int connection, int *status);

/* --- place.c, nvcc.c ------------------------------------------------------------------------ */

/* Become the real compiler with the arguments it gets in forge's worlds. Does not return. */
_Noreturn void place_run(const struct shim *s, char **argv);

/* argv of the real nvcc; argv[0] is the caller's. */
void nvcc_args(const struct shim *s, char **argv, struct args *out);

/* --- say.c ---------------------------------------------------------------------------------- */

/* One line on stderr, exit status 1. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));
void *must(void *memory); /* memory, or die */
bool ends_with(const char *text, const char *end);
bool starts_with(const char *text, const char *start);
bool is_one_of(const char *text, const char *const *list); /* list ends with NULL */

/* Whole process: ask, else run in place. Does not return. */
_Noreturn void shim_run(const struct shim *s, char **argv);

#endif
