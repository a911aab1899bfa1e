/*
 * Libraries that most commands don't need (curl, libarchive, libsolv) are
 * loaded at their first use, so that a no-op does not pay for them.  A room
 * lists the functions it uses once and gets a table of typed pointers:
 *
 *	#define ARCHIVE_FUNCS(X) X(archive_read_new) X(archive_read_free) …
 *	static DYNLIB_TABLE(archive_api, ARCHIVE_FUNCS) api;
 *	static const char *const names[] = DYNLIB_NAMES(ARCHIVE_FUNCS);
 *	if (dynlib_load("libarchive.so.13", names, count, &api, err)) return -1;
 *	api.archive_read_new();
 */
#ifndef FORGE_CORE_DYNLIB_H
#define FORGE_CORE_DYNLIB_H

#include <stddef.h>
#include "core/err.h"

#define DYNLIB_MEMBER_(f) __typeof__(&f) f;
#define DYNLIB_TABLE(table, FUNCS) struct table { FUNCS(DYNLIB_MEMBER_) }

/* Fill the table's pointers in the order of the names (a table is nothing but function
 * pointers in that order).  The library stays loaded for the life of the process. */
int dynlib_load(const char *soname, const char *const *names, size_t count, void *table,
	struct err *err);

#define DYNLIB_NAME_(f) #f,
/* An array of the names, for dynlib_load. */
#define DYNLIB_NAMES(FUNCS) { FUNCS(DYNLIB_NAME_) }

#endif
