/* Reading an index's project page: PEP 503 HTML and PEP 691 JSON, whichever came. */
#ifndef FORGE_FETCH_SIMPLE_H
#define FORGE_FETCH_SIMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"

struct simple_file {
	const char *filename;
	const char *url;              /* absolute */
	const char *sha256;           /* hex, NULL if the page does not say */
	const char *requires_python;  /* NULL if none */
	const char *yanked;           /* NULL: not yanked; "" or the reason */
	bool core_metadata;           /* PEP 658/714: <url>.metadata exists */
	int64_t size;                 /* -1: unknown */
};

struct simple_page {
	const char *name;
	struct simple_file *files;    /* in the page's order; in the arena */
	size_t count;
};

/* body may be HTML or JSON whatever content_type says (NULL is fine). base: the page's own URL. */
int simple_parse(struct slice body, const char *content_type, const char *base, struct arena *a,
	struct simple_page *out, struct err *err);

/* The project page of an index: <index>/<normalised name>/ (PEP 503); owned by the caller. */
char *simple_page_url(const char *index, const char *name);

#endif
