/*
 * Safe unpacking of what comes from outside.  Nothing is ever written outside
 * the folder: absolute names, "..", links that lead out (symbolic or hard),
 * writing through a link, devices, fifos, set-id and sticky bits, names twice
 * with another kind, NUL bytes, and sizes past the limits are refused.
 */
#ifndef FORGE_ARCHIVE_UNPACK_H
#define FORGE_ARCHIVE_UNPACK_H

#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"

struct unpack_limits {
	uint64_t bytes;   /* all files together, unpacked */
	uint64_t entries;
};

struct unpack_options {
	struct unpack_limits limits;   /* 0: the default, 64 GiB and 2,000,000 entries */
	unsigned strip;                /* leading folders to take off each name (sdists: 1) */
	bool root_links;               /* absolute link targets are meant below the folder's root, as in a
	                                  .deb's data.tar that becomes a root file system: kept as they are */
	bool merge;                    /* the folder may hold files of earlier archives: folders are shared,
	                                  a file twice is an error */
	void (*progress)(void *ctx, uint64_t bytes); /* NULL: none */
	void *ctx;
};

/* tar, plain or gzip, xz, zstd, bzip2, by content; from fd (at its start) into the folder dirfd.
 * Files get 0644 or 0755, folders 0755; owners and times are not kept. */
int unpack_tar(int fd, int dirfd, const struct unpack_options *o, struct err *err);
/* The data.tar of a Debian binary package (ar). */
int unpack_deb(int fd, int dirfd, const struct unpack_options *o, struct err *err);
/* A zip, read strictly by our own reader (archive/zip.h). */
int unpack_zip(int fd, int dirfd, const struct unpack_options *o, struct err *err);
/* Any of the above (tar or zip) by content: sdists. */
int unpack_any(int fd, int dirfd, const struct unpack_options *o, struct err *err);

#endif
