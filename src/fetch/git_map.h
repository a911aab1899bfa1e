/*
 * Where a git repository is fetched from: which URLs are taken, what the mirror map makes of them, and
 * what a relative URL of a submodule means.
 *
 * The mirror map replaces prefixes of URLs.  $FORGE_GIT_MIRROR holds words PREFIX=TO; forge.conf (in
 * $XDG_CONFIG_HOME/forge, else ~/.config/forge, and /etc) holds lines
 *
 *	git-mirror = PREFIX TO
 *
 * and comments after "#".  The longest prefix that fits is taken; of two that are the same the first, in
 * the order named here.  A prefix fits whole components only: https://h/a does not fit https://h/ab.
 * What it is mapped to is no part of a lock.
 */
#ifndef FORGE_FETCH_GIT_MAP_H
#define FORGE_FETCH_GIT_MAP_H

#include <stdbool.h>
#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

struct git_mirror {
	char *prefix, *to;
};

struct git_map {
	LIST(struct git_mirror) list;
};
#define GIT_MAP_INIT { { NULL, 0, 0 } }

/* The words of the variable; malformed ones are an error. */
int git_map_words(struct git_map *m, struct slice text, struct err *err);
/* The text of a forge.conf; an error names file and line. */
int git_map_conf(struct git_map *m, struct slice text, const char *file, struct err *err);
/* Both, from the environment and the files there are. */
int git_map_load(struct git_map *m, struct err *err);
void git_map_free(struct git_map *m);
#define _cleanup_git_map_ __attribute__((cleanup(git_map_free)))

/* Could text be the URL of a repository: no control bytes, no spaces, nothing that could be taken for an option? */
int git_url_check(const char *url, struct err *err);

/* The place to fetch url from: mapped, and checked to be http, https, git or file.  Owned. */
char *git_map_apply(const struct git_map *m, const char *url, struct err *err);

/* The url of a submodule as its repository's .gitmodules gives it, made whole: "./" and "../" are relative to
 * the parent's own URL as git understands them ("../x" of https://h/a/b is https://h/a/x).  A file: URL is
 * refused where the parent's is none.  Owned. */
char *git_module_url(const char *parent, const char *url, struct err *err);

/* "https://h/a/cutlass.git/" is "cutlass": what a person calls it; owned. */
char *git_url_name(const char *url);

#endif
