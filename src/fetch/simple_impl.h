/* Inside the room: the two forms of an index page, and what they share. */
#ifndef FORGE_FETCH_SIMPLE_IMPL_H
#define FORGE_FETCH_SIMPLE_IMPL_H

#include "core/list.h"
#include "fetch/simple.h"

#define SIMPLE_FILES_MOST 200000

typedef LIST(struct simple_file) simple_list;

int simple_html(struct slice body, const char *base, struct arena *a, struct simple_page *out,
	simple_list *files, struct err *err);
int simple_json(struct slice body, const char *base, struct arena *a, struct simple_page *out,
	simple_list *files, struct err *err);

/* -1 where a page of that version can't be read (PEP 629); NULL or nonsense is taken for 1.0. */
int simple_version(const char *version, struct err *err);
/* The status' own spelling, "active" for one that is not known. */
const char *simple_status(const char *text);
/* 64 hexadecimal digits, in lower case; else NULL. */
const char *simple_sha256(struct slice hex, struct arena *a);
/* A name that is no path. */
bool simple_name_ok(const char *filename);
/* url joined to base without its fragment, which goes to *fragment (may be NULL). */
const char *simple_url(const char *base, const char *url, struct arena *a, const char **fragment);

#endif
