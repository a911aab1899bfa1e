/*
 * Lists of strings out of a TOML file (toml.io, 1.0), as far as pyproject.toml
 * needs it: keys in tables, dotted and quoted ones too; everything else is
 * stepped over by its form, and not checked further.
 */
#ifndef FORGE_LOCK_TOML_H
#define FORGE_LOCK_TOML_H

#include <stdbool.h>
#include <stddef.h>
#include "core/err.h"
#include "core/str.h"

/* A key that is looked for. */
struct toml_key {
	const char *name;      /* "build-system.requires": a table and a key in it */
	struct str_list *list; /* the strings of its value are added here; NULL: whether it is there is enough */
	bool found;            /* set */
};

/*
 * Look for count keys in text.  An error (ERR_INPUT) names the file as `name` and the line: not TOML as far as it is
 * read; a list that is none, or not of strings; a key that stands there twice; a table of a looked-for key that is
 * written in one line ("build-system = {…}"), which is not read here.
 */
int toml_read(struct slice text, const char *name, struct toml_key *keys, size_t count, struct err *err);

#endif
