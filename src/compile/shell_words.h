/* The words of a shell's command line, without its quotes (inside this room). */
#ifndef FORGE_COMPILE_SHELL_WORDS_H
#define FORGE_COMPILE_SHELL_WORDS_H

#include "core/str.h"

/* -1: it has what a shell does more with than to take it apart (redirections, lists, an open quote, a NUL).
 * "$NAME" stays as it is. */
int shell_words(struct slice line, struct str_list *words);

#endif
