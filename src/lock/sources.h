/* Sources files (deb822): which upstream tarball a Debian source package is made from. */
#ifndef FORGE_LOCK_SOURCES_H
#define FORGE_LOCK_SOURCES_H

#include "core/err.h"
#include "core/json.h"
#include "core/str.h"

/*
 * The upstream tarball (NAME_VERSION.orig.tar.xz, .gz or .bz2) of the newest version of the source package `name`, in
 * the text of a Sources file: {"source","version","path","sha256","size"}, a new reference; version is Debian's whole
 * one.  Stanzas that are kept only because of older binaries don't count.  No such package, a native one, a stanza
 * without Version, Directory or the tarball's Checksums-Sha256: errors that name it.
 */
struct json *sources_find(struct slice text, const char *name, struct err *err);

#endif
