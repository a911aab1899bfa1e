/* Packages files (deb822), read for what libsolv does not keep of them. */
#ifndef FORGE_LOCK_PACKAGES_H
#define FORGE_LOCK_PACKAGES_H

#include "core/err.h"
#include "core/json.h"
#include "core/str.h"

/* Set "size" in each entry of list ({"package","path",…}), found by its path in the text of a Packages file. */
void packages_sizes(struct slice text, struct json *list);

/* Do so from these files; an entry without a size at the end is an error. */
int packages_fill(const struct str_list *files, struct json *list, struct err *err);

#endif
