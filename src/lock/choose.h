/* Which file of a project's index page serves (PEP 425, PEP 600 for the order of wheels). */
#ifndef FORGE_LOCK_CHOOSE_H
#define FORGE_LOCK_CHOOSE_H

#include "core/err.h"
#include "core/str.h"
#include "fetch/simple.h"

/* glibc 2.x of the base (Debian trixie has 2.41): the newest manylinux platform a wheel may ask for.  2.40 is the
 * newest that uv knows, and what it resolves for must be what is chosen. */
#define CHOOSE_GLIBC_MINOR 40
#define CHOOSE_UV_PLATFORM "x86_64-manylinux_2_40"

/*
 * The best wheel of `version` for CPython `python` ("3.13", "3.14t") on x86_64 Linux: most specific tags first, then
 * the newest platform, the highest build tag, the file's name.  With hashes ("sha256:…" without its prefix,
 * NULL: any) only a file that has one of them.  A yanked file serves where no other does.  Lent from page.
 */
const struct simple_file *choose_wheel(const struct simple_page *page, const char *version,
	const char *python, const struct str_list *hashes, struct err *err);

/* The newest release (no pre-release, not yanked) with such a wheel; its version, owned. */
char *choose_newest(const struct simple_page *page, const char *python, struct err *err);

/* The newest release (likewise) with a source archive; its version, owned; NULL: there is none. */
char *choose_newest_sdist(const struct simple_page *page);
/* The Python and ABI tags ("cp313-cp313") of all wheels of a release that x86_64 Linux takes, whatever their local
 * version ("+cu124"), sorted, each once.  None is an error. */
int choose_tags(const struct simple_page *page, const char *version, struct str_list *tags, struct err *err);

const struct simple_file *choose_sdist(const struct simple_page *page, const char *version, struct err *err);

#endif
