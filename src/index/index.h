/*
 * An index of wheels as static files, for pip and uv:
 *
 *	simple/index.html, index.json              the projects
 *	simple/<project>/index.html, index.json    its files: PEP 503 and PEP 691, hashes,
 *	                                           requires-python, core-metadata (PEP 658, 714)
 *	files/<wheel>, files/<wheel>.metadata      hard links into the store, or copies
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

struct index_wheel {
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

/* Read what the index says of one wheel. path stays the caller's and must live as long as the index. */
int index_add(struct index *x, const char *path, struct err *err);
void index_free(struct index *x);

/*
 * Write the index to a folder: made aside (beside it) and swapped in with one rename, so that a reader
 * sees the old one or the new one.  What stands there must be an index that forge wrote, or nothing.
 * *changed: false where it holds the same already (then nothing is written).
 */
int index_write(struct index *x, const char *folder, bool *changed, struct err *err);

#endif
