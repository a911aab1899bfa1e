/*
 * The file .gitmodules (gitmodules(5), in the form of git-config(1)), which is a stranger's.  libgit2's own
 * reader would follow its include.path to files of this machine, so forge reads it itself, and only what it
 * needs: path and url of each [submodule "name"].
 */
#ifndef FORGE_FETCH_GIT_MODULES_H
#define FORGE_FETCH_GIT_MODULES_H

#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

#define GIT_MODULES_LIMIT (1u << 20) /* bytes of the file */

struct git_module {
	char *name, *path, *url; /* path and url NULL where it gives none; of several the last */
};

struct git_modules {
	LIST(struct git_module) list; /* in the file's order, each name once */
};
#define GIT_MODULES_INIT { { NULL, 0, 0 } }

/* What git itself would not read is an error that names the line. */
int git_modules_parse(struct slice text, struct git_modules *out, struct err *err);
void git_modules_free(struct git_modules *m);
#define _cleanup_git_modules_ __attribute__((cleanup(git_modules_free)))

/* The one whose path this is; NULL: none. */
const struct git_module *git_modules_at(const struct git_modules *m, const char *path);

#endif
