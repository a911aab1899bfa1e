/*
 * An index of wheels as static files, for pip and uv:
 *
 *	simple/index.html, index.json              the projects
 *	simple/<project>/index.html, index.json    its files: PEP 503 and PEP 691, hashes,
 *	                                           requires-python, core-metadata (PEP 658, 714)
 *	<group>/simple/…                           the same for the wheels of a group ("cu130-torch2.11")
 *	files/<wheel>, files/<wheel>.metadata      hard links into the store, or copies
 *
 * Installers take the highest version that fits the Python, and a local version or build tag only sorts: it never
 * selects.  So wheels that differ in what they were built for, and not in their Python, stand in groups of their own,
 * and simple/ holds what can't be confused.
 *
 * Any web server that serves index.html for a folder will do; all links are relative.
 */
#ifndef FORGE_INDEX_INDEX_H
#define FORGE_INDEX_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

/* Which of the indexes list a wheel. */
struct index_place {
	char *group;            /* NULL: none; a plain folder name; owned by who filled it */
	bool common;            /* simple/ lists it */
};

struct index_wheel {
	struct index_place place;
	const char *from;       /* physical path of the .whl */
	const char *file;       /* its file name */
	char *project;          /* normalised name (PEP 503) */
	char *version;          /* from its METADATA */
	char *requires_python;  /* NULL: any */
	char *sha256;           /* hex */
	char *metadata;         /* the METADATA file's text */
	size_t metadata_len;
	char *metadata_sha256;
	int64_t size;
};

struct index {
	LIST(struct index_wheel) wheels;
};

/* Read what the index says of one wheel. path stays the caller's and must live as long as the index; the place is
 * copied. */
int index_add(struct index *x, const char *path, const struct index_place *place, struct err *err);
/* The names of the groups, sorted; added to names. */
void index_groups(const struct index *x, struct str_list *names);
void index_free(struct index *x);

/*
 * Write the index to a folder: made aside (beside it) and swapped in with one rename, so that a reader
 * sees the old one or the new one.  What stands there must be an index that forge wrote, or nothing.
 * *changed: false where it holds the same already (then nothing is written).
 */
int index_write(struct index *x, const char *folder, bool *changed, struct err *err);

#endif
