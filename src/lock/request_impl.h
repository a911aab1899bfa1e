/* What the files that read requests share. */
#ifndef FORGE_LOCK_REQUEST_IMPL_H
#define FORGE_LOCK_REQUEST_IMPL_H

#include "lock/request.h"

/* Every character of text is a letter, a digit or in `more`; it is not empty and begins alphanumeric. */
bool request_is_plain(const char *text, const char *more);
/* A field that is such a text, owned; and one that is a list of 1 to 1,000 strings, added to out. */
int request_text(const struct json *j, const char *field, const char *more, char **out, struct err *err);
int request_list(const struct json *j, const char *field, struct str_list *out, struct err *err);
/* The request has no other fields than these, which NULL ends, and its kind. */
int request_check_fields(const struct json *j, const char *const *known, struct err *err);
char *request_join(const struct str_list *l, const char *between); /* owned */

/* One for each kind: key, words and the kind's fields. */
typedef int request_read_fn(const struct json *j, struct request *r, struct err *err);
request_read_fn request_read_sdist, request_read_tags, request_read_wheels, request_read_debian,
	request_read_debian_source, request_read_git, request_read_redist, request_read_oci;

#endif
