/*
 * Hashes of files in layers, which never change: kept in memory for all views of a process, by "LAYER\nPATH".
 *
 * A worker has a copy, and what it learns is lost with it; unless it watches for that from its beginning and tells it at
 * its end, in its answer, for the parent to learn.  A source that draws in all of torch has some 9,800 headers.
 */
#ifndef FORGE_BUILD_COMPILE_KNOWN_H
#define FORGE_BUILD_COMPILE_KNOWN_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/hash.h"

struct compile_known;
struct compile_known *compile_known_new(void);
void compile_known_free(struct compile_known *k); /* NULL is allowed, here and below */

bool compile_known_find(const struct compile_known *k, const char *key, struct hash *out);
void compile_known_keep(struct compile_known *k, const char *key, const struct hash *hash);

void compile_known_watch(struct compile_known *k);
struct slice compile_known_news(const struct compile_known *k); /* what was kept since; lent */
void compile_known_learn(struct compile_known *k, struct slice news);

#endif
