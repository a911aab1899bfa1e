/*
 * The words of texts, looked through for the names of variables: which of the wanted ones occur, and which others there
 * are that look like one (capitals, digits and underscores).  The texts may be anybody's: what is looked at and what
 * is kept is bounded.
 */
#ifndef FORGE_LINT_WORDS_H
#define FORGE_LINT_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/str.h"

struct words;

struct words *words_new(uint64_t bytes_max); /* 0: 4 GiB */
void words_free(struct words *w);

/* Before any text: a name to look for. */
void words_want(struct words *w, const char *name);

void words_text(struct words *w, struct slice text);

/*
 * All text files in the folder `name` of dirfd (or AT_FDCWD), or that one file.  Links are not followed; a file with a
 * NUL byte near its beginning is none.  More than bytes_max in all, over a million entries, folders nested deeper than
 * 256: ERR_INPUT.
 */
int words_tree(struct words *w, int dirfd, const char *name, struct err *err);

bool words_seen(const struct words *w, const char *name);
/* The nearest of the names that occur, NULL where none is near. */
const char *words_nearest(const struct words *w, const char *name);

#endif
