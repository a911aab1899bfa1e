/* What the files of this room know of a lock beyond lock.h. */
#ifndef FORGE_LOCK_LOCK_IMPL_H
#define FORGE_LOCK_LOCK_IMPL_H

#include "lock/lock.h"

const struct json *lock_get(const struct lock *l, const char *key); /* lent; NULL if there is none */
void lock_put(struct lock *l, const char *key, struct json *entry); /* takes entry */
struct json *lock_entries(struct lock *l);                          /* lent */
const char *lock_file(const struct lock *l);

/* Reading the file's text, by itself for tests and the fuzz target. */
struct json *lock_parse(struct slice text, const char *file, struct err *err); /* the entries, a new reference */
void lock_render(struct json *entries, struct buf *out);

#endif
