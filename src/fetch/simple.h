/* Reading an index's project page: PEP 503 HTML and PEP 691 JSON, whichever came. */
#ifndef FORGE_FETCH_SIMPLE_H
#define FORGE_FETCH_SIMPLE_H

#include <stdbool.h>
#include <stdint.h>
#include "core/arena.h"
#include "core/err.h"
#include "core/str.h"

struct simple_file {
	const char *filename;         /* never a path: no separator, not "." or ".." */
	const char *url;              /* absolute, without fragment */
	const char *sha256;           /* hex in lower case, NULL if the page does not say */
	const char *requires_python;  /* as written, NULL if none */
	const char *yanked;           /* NULL: not yanked; "" or the reason (PEP 592) */
	bool core_metadata;           /* PEP 658/714: <url>.metadata exists */
	const char *core_metadata_sha256; /* its hash, NULL if the page does not say */
	int64_t size;                 /* -1: unknown */
	const char *upload_time;      /* PEP 700, as written; NULL if the page does not say */
};

struct simple_page {
	const char *name;             /* as the page states it (JSON only), else NULL */
	const char *status;           /* PEP 792: "active" unless the page says one of the others */
	const char *status_reason;    /* NULL if none */
	struct simple_file *files;    /* in the page's order; in the arena */
	size_t count;
};

/* body may be HTML or JSON whatever content_type says (NULL is fine). base: the page's own URL.
 * Entries without a usable URL or file name are left out; what is no page of an index, or one of a
 * newer major version (PEP 629), is ERR_INPUT.  Everything in out is in the arena. */
int simple_parse(struct slice body, const char *content_type, const char *base, struct arena *a,
	struct simple_page *out, struct err *err);

/* The project page of an index: <index>/<normalised name>/ (PEP 503); owned by the caller. */
char *simple_page_url(const char *index, const char *name);

#endif
