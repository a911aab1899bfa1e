/* Compiler options in tables: how each is written, and what it is to a compile (inside this room). */
#ifndef FORGE_COMPILE_OPTION_H
#define FORGE_COMPILE_OPTION_H

#include <stdbool.h>
#include <stddef.h>

enum option_form {
	OPTION_EXACT,
	OPTION_NEGATABLE, /* -fNAME and -fno-NAME, -mNAME and -mno-NAME */
	OPTION_JOINED,    /* what follows the name, at least one byte, is its value */
	OPTION_NUMBER,    /* digits follow the name, and are its value */
	OPTION_SEPARATE,  /* the next word is */
	OPTION_EITHER,    /* joined, or else the next word */
	OPTION_NVCC_FLAG, /* nvcc's: one dash or two before the name */
	OPTION_NVCC_VALUE, /* likewise; =VALUE, or the next word */
};

enum option_use {
	USE_KEY,      /* changes the object or the messages: given to the runs and to keys */
	USE_TEXT,     /* seen by the preprocessor alone, so its text holds what it did: the runs, not keys */
	USE_PATH,     /* likewise, and the value is a file or folder to be read */
	USE_LINK,     /* of no meaning to a compile: the runs, not keys */
	USE_DEBUG,    /* like USE_KEY; the working folder gets into the object */
	USE_TUNE,     /* like USE_KEY; refused with the value "native" */
	USE_COMPILE,  /* -c */
	USE_OBJECT,   /* -o */
	USE_LANGUAGE, /* -x */
	USE_DEPS,     /* -MD, -MMD */
	USE_DEPS_MORE, /* -MP: another form of the same file */
	USE_DEPS_FILE, USE_DEPS_TARGET, USE_DEPS_QUOTED,
	USE_PLACE,    /* known, and to be run in place */
	/* nvcc's alone */
	USE_JOBS,     /* --threads: left out of runs and key, forge has the jobs */
	USE_HOST,     /* -Xcompiler: options of the host compiler */
	USE_TOOL,     /* -Xptxas and its like: judged by a table of their own */
	USE_LINES,    /* like USE_KEY; with relative paths the working folder gets into the object */
	USE_ARCH,     /* like USE_KEY; refused if "native" is among the architectures */
	USE_CCBIN,    /* like USE_KEY; a compiler of the world */
	USE_FORWARD,  /* --forward-unknown-to-host-compiler */
};

struct option {
	const char *name;
	enum option_form form;
	enum option_use use;
	const char *why; /* USE_PLACE: the reason */
};

struct option_table {
	const struct option *options;
	size_t count;
};

extern const struct option_table cc_options, nvcc_options;

/* One option as it stands in an argv. */
struct option_match {
	const struct option *option;
	const char *value; /* NULL where it has none; points into the argv */
	size_t words;      /* 1, or 2 with a separate value */
};

/* The option that argv[at] is: of those that fit, the one with the longest name.  False: none fits, or its value is
 * missing. */
bool option_find(const struct option_table *table, char *const *argv, size_t argc, size_t at,
	struct option_match *match);

/* May this word be an option of ptxas, fatbinary, cudafe++ …, as --Xptxas and its like give it? */
bool option_of_tool(const char *option_name, const char *word);

#endif
