/*
 * The entries of a lock, each checked for its form before it is used, so
 * that what reads them later can rely on it.
 */
#ifndef FORGE_LOCK_ENTRY_H
#define FORGE_LOCK_ENTRY_H

#include "core/err.h"
#include "core/json.h"
#include "core/str.h"

/* The entry e under key has the form its key asks for. */
int entry_check(const struct json *e, const char *key, struct err *err);
/* What it names has entries; it has its form. */
int entry_check_items(const struct json *entries, const char *key, struct err *err);

/* What is answered for the key of a request: the file entry, or the list of file entries; a new
 * reference.  The entries have been checked. */
struct json *entry_answer(const struct json *entries, const char *key);

/* The field of a list entry that holds the list: "packages" or "files". */
const char *entry_list(const char *key);

/* The keys of the file entries that the list (or tool) entry `key` means; none for a file entry. */
void entry_items(const struct json *entries, const char *key, struct str_list *keys);

/* Drop what answers requests, but not those of these keys. */
void entry_keep(struct json *entries, const struct str_list *keys);
/* Drop file entries no list entry means any more. */
void entry_prune(struct json *entries);

#endif
