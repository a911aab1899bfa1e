/* What a recipe asks of the lock: read from JSON, checked, and named by one key (see lock.h). */
#ifndef FORGE_LOCK_REQUEST_H
#define FORGE_LOCK_REQUEST_H

#include <stdbool.h>
#include "core/err.h"
#include "core/hash.h"
#include "core/json.h"
#include "core/str.h"

enum request_kind { REQUEST_SDIST, REQUEST_TAGS, REQUEST_WHEELS, REQUEST_DEBIAN, REQUEST_DEBIAN_SOURCE,
	REQUEST_GIT, REQUEST_REDIST, REQUEST_OCI };

struct request {
	enum request_kind kind;
	char *key;
	char *words;                /* "the sdist of flash-attn 2.8.3", for messages */
	char *name, *version;       /* sdist, tags; name: debian-source; version: redist's release */
	char *python;               /* wheels: "3.13", "3.14t" */
	bool deps;                  /* wheels, debian: with all that they need */
	char *suite;                /* debian, debian-source */
	char *url, *rev;            /* git: rev as the recipe writes it */
	char *subdir;               /* git: the folder whose pyproject.toml is read; NULL: the outermost */
	char *image, *tag, *digest; /* oci: the name with its registry's host; tag or digest may be NULL */
	bool submodules;            /* git: all; else those in list */
	struct str_list components; /* debian: sorted, "main" among them */
	struct hash sha256;         /* redist: of the JSON */
	struct str_list urls;       /* redist: folders that have it, tried in turn; not in the key */
	struct str_list list;       /* requirements, packages, submodules or a redist's components: one spelling, sorted,
	                               each once */
};

/* An unknown kind or field, a wrong type, a malformed name: an error that names the field. */
int request_parse(const struct json *j, struct request *out, struct err *err);
void request_free(struct request *r);
#define _cleanup_request_ __attribute__((cleanup(request_free)))

#endif
