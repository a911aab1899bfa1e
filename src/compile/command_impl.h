/* What the files that understand commands share. */
#ifndef FORGE_COMPILE_COMMAND_IMPL_H
#define FORGE_COMPILE_COMMAND_IMPL_H

#include "compile/command.h"
#include "compile/option.h"

/* A command while it is being read. */
struct reading {
	const struct compile_request *r;
	struct compile_command *c;
	struct str_list compile;    /* words of the runs, so far without outputs */
	struct str_list preprocess; /* nvcc's */
	const char *source;    /* as given; NULL so far */
	const char *object;    /* likewise, like all below */
	const char *language;
	const char *deps_file;
	const char *deps_target;
	bool deps_target_raw;  /* -MT: written as it is; -MQ and nvcc's: quoted */
	bool compiles;         /* -c */
	bool deps;             /* -MD, -MMD */
	bool deps_more;        /* -MP */
	bool debug;            /* the working folder gets into the object */
	/* nvcc's alone */
	bool lines;            /* -lineinfo: relative paths get into the object with the working folder */
	bool relative;         /* the source or a folder of headers is given relative */
};

void command_read_cc(struct reading *g);
void command_read_nvcc(struct reading *g);

/* Keep the first reason why it is run in place; a refusal outweighs it. */
void command_place(struct compile_command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void command_refuse(struct compile_command *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Has a forge sandbox the same at this path (absolute, or relative to the working folder) as the build? */
bool command_in_view(const char *cwd, const char *path);
/* Place the command unless the option's path is in view. */
void command_check_path(struct reading *g, const char *option, const char *path);

char *command_absolute(const char *cwd, const char *path); /* joined, no more; owned by the caller */
const char *command_base(const char *path);                /* what is behind the last "/" */
bool command_is_cc(const char *path); /* has it a suffix of C or C++ still to be preprocessed? */
char *command_with_suffix(const char *path, const char *suffix); /* a.o, a.cc -> a.d; owned */

void command_word(struct reading *g, const char *word); /* the same word to all runs */

/* The uses that gcc's and nvcc's options share: outputs, dependencies, reasons to run in place. */
void command_read_use(struct reading *g, const struct option_match *m);
/* What an option of nvcc's means for the compile. */
void command_read_nvcc_use(struct reading *g, const char *word, const struct option_match *m);
/* nvcc_env.c: likewise what nvcc takes from the environment besides its arguments. */
void command_nvcc_env(struct reading *g);
/* -march=VALUE and its like: refused if it is the machine's own. */
void command_check_tune(struct reading *g, const char *word, const char *value);

void command_env(struct reading *g);
/* Once the options are read: object, dependencies, the words of the compile run for them.  out_base: the object's
 * name in /out. */
void command_finish(struct reading *g, const char *out_base);

#endif
