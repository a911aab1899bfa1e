/* What the files of this room know of a lock beyond lock.h. */
#ifndef FORGE_LOCK_LOCK_IMPL_H
#define FORGE_LOCK_LOCK_IMPL_H

#include "core/buf.h"
#include "lock/lock.h"

#define LOCK_LIMIT (64u << 20) /* bytes of a file */

const struct json *lock_get(const struct lock *l, const char *key); /* lent; NULL if there is none */
void lock_put(struct lock *l, const char *key, struct json *entry); /* takes entry */
struct json *lock_entries(struct lock *l);                          /* lent */
const char *lock_file(const struct lock *l);

/* The form in which the file is written: these, and between them each entry a line.  "~" sorts behind every key: so
 * entries' lines end alike, and a new last one changes no other. */
#define LOCK_HEAD "{\"version\":1,\"entries\":{\n"
#define LOCK_TAIL "\"~\":null}}\n"

/* 1: out is the file; 0: there is none; -1. */
int lock_read_file(const char *file, struct buf *out, struct err *err);
/* Reading the file's text, by itself for tests and the fuzz target. */
struct json *lock_parse(struct slice text, const char *file, struct err *err); /* the entries, a new reference */
void lock_render(struct json *entries, struct buf *out);

/* The reader without its file; takes text over. */
struct lock_reader *lock_reader_of(struct buf *text, const char *file, const char *recipe, struct err *err);
/* What is answered for a key, a new reference; NULL with err set, or where there is no such entry without. */
struct json *lock_reader_find(struct lock_reader *r, const char *key, struct err *err);

#endif
