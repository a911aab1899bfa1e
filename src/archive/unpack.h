/*
 * Safe unpacking of what comes from outside.  Nothing is ever written outside
 * the folder, by names or links: absolute names, "..", symbolic links that
 * lead out, hard links to anything but an earlier file of the same archive,
 * writing through a link, devices, fifos, entries that are no file but have
 * content, names twice with another kind, NUL bytes, and sizes past the limits
 * are refused.  Owners, times, attributes, set-id and sticky bits are not kept.
 *
 * A file that stands twice in one archive: the later one replaces the earlier.
 * Names in zips are stricter (archive/zip.h).  After an error what was unpacked
 * so far is left; the caller removes the folder.
 *
 * Archives are regular files, read through descriptors whose position is not
 * used or moved.  Nothing is made durable here.
 */
#ifndef FORGE_ARCHIVE_UNPACK_H
#define FORGE_ARCHIVE_UNPACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/err.h"

#define UNPACK_BYTES_DEFAULT   (64ULL << 30)
#define UNPACK_ENTRIES_DEFAULT 2000000

struct unpack_limits {
	uint64_t bytes;   /* all files together, unpacked, with the holes of sparse files */
	uint64_t entries;
};

struct unpack_options {
	struct unpack_limits limits;   /* 0: the default */
	unsigned strip;                /* leading folders to take off each name (sdists: 1).  They must be
	                                  the same for all entries, and every file must be below them */
	bool root_links;               /* the folder becomes a root file system: link targets are kept as
	                                  they are, whatever they say, and links in the folders of a name are
	                                  followed with the folder as their "/" (so that with an earlier
	                                  lib -> usr/lib, lib/x lands in usr/lib/x).  A link may replace an
	                                  empty folder, but not one with content: unpack the package that
	                                  brings such links (base-files) first */
	bool merge;                    /* the folder may hold files of earlier archives: folders are shared,
	                                  a file that is there from another archive is an error.
	                                  Without it the folder must be empty */
	void (*progress)(void *ctx, uint64_t bytes); /* unpacked so far; NULL: none */
	void *ctx;
};

/* tar, plain or gzip, xz, zstd, bzip2, by content, into the folder dirfd.
 * Files get 0644 or 0755, folders 0755, whatever the umask. */
int unpack_tar(int fd, int dirfd, const struct unpack_options *o, struct err *err);
/* The data.tar of a Debian binary package (ar). */
int unpack_deb(int fd, int dirfd, const struct unpack_options *o, struct err *err);
/* A zip, read strictly by our own reader (archive/zip.h); links in it are refused. */
int unpack_zip(int fd, int dirfd, const struct unpack_options *o, struct err *err);
/* Tar or zip by content: sdists.  A file that is both is refused. */
int unpack_any(int fd, int dirfd, const struct unpack_options *o, struct err *err);

/* One small file of a tar or zip, without unpacking: the first whose path behind its first folder
 * (of an sdist: "PKG-INFO") is `path`.  More than limit bytes is an error.  *found false: none. */
int unpack_read_member(int fd, const char *path, size_t limit, struct buf *out, bool *found,
	struct err *err);

#endif
