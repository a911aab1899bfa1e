/*
 * Where the registries are: taken from the machine's clients (DESIGN 6).
 */
#ifndef FORGE_FETCH_REGISTRY_H
#define FORGE_FETCH_REGISTRY_H

#include <stdbool.h>
#include "core/err.h"
#include "core/str.h"

/* The Python index's base URL with a closing slash: the option, $FORGE_INDEX, $UV_DEFAULT_INDEX,
 * $PIP_INDEX_URL, pip's configuration files, the build-time default (build/gen/defaults.h: PYPI_INDEX,
 * "" when the Makefile found none: then an error that says what to set).  A user and password in it
 * stay: pass it to no message.  Owned by the caller. */
char *registry_index(const char *option, struct err *err);

/* The same, and in *source where it was taken from, in words for a message ("$PIP_INDEX_URL",
 * "--index", a file's path); owned by the caller. */
char *registry_index_from(const char *option, char **source, struct err *err);

/* The Debian mirrors (base URLs with a closing slash, below which are dists/ and pool/), best first:
 * $FORGE_DEBIAN_MIRROR (white space between several), the machine's apt sources (deb and deb822 forms,
 * main archive before security), the build-time default (DEBIAN_MIRROR). */
int registry_debian(struct str_list *mirrors, struct err *err);

/* Is a suite that is past its Valid-Until refused?  $FORGE_DEBIAN_CHECK_VALID_UNTIL says, "yes" or "no"; else, where
 * the mirrors are apt's, apt's own Acquire::Check-Valid-Until does.  A mirror that stands still on purpose needs it. */
bool registry_debian_expires(void);

#endif
