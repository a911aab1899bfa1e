/* Where a git repository is fetched from: which URLs are taken, and what a relative URL of a submodule means. */
#ifndef FORGE_FETCH_GIT_MAP_H
#define FORGE_FETCH_GIT_MAP_H

#include "core/err.h"
#include "fetch/mirror_map.h"

/* Could text be the URL of a repository: no control bytes, no spaces, nothing that could be taken for an option? */
int git_url_check(const char *url, struct err *err);

/* The place to fetch url from: mapped, and checked to be http, https, git or file.  Owned. */
char *git_map_apply(const struct mirror_map *m, const char *url, struct err *err);

/* The url of a submodule as its repository's .gitmodules gives it, made whole: "./" and "../" are relative to
 * the parent's own URL as git understands them ("../x" of https://h/a/b is https://h/a/x).  A file: URL is
 * refused where the parent's is none.  Owned. */
char *git_module_url(const char *parent, const char *url, struct err *err);

/* "https://h/a/cutlass.git/" is "cutlass": what a person calls it; owned. */
char *git_url_name(const char *url);

#endif
