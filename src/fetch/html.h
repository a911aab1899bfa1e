/*
 * Inside the room: a tokenizer for the HTML that package indexes write: tags with their attributes,
 * after the HTML standard's tokenization where it matters to links (comments, raw text, the three
 * ways to write a value, character references).  Text between tags is passed over.
 */
#ifndef FORGE_FETCH_HTML_H
#define FORGE_FETCH_HTML_H

#include <stdbool.h>
#include "core/arena.h"
#include "core/str.h"

struct html {
	struct slice rest;   /* what is still to be read */
	struct slice name;   /* of the tag, as written */
	bool closing;        /* </name> */
	struct slice attributes;
};

/* The next tag; false at the end. */
bool html_next(struct html *h);

bool html_is(const struct html *h, const char *name); /* an opening tag, whatever the case */

/* The first attribute of that name, decoded, "" where it has no value; NULL: not there. */
const char *html_attribute(const struct html *h, const char *name, struct arena *a);

#endif
