/*
 * Reading tar: ustar and pax (POSIX.1-2017), GNU (long names, sparse files,
 * base-256 sizes) and V7.  Our own reader, since libarchive hides what matters
 * for telling a lie: it drops the size of an entry that is no file (whose
 * "content" other readers take for entries), transcodes names, and lets a
 * global header rename.  Refused here: every kind of entry but the four below,
 * content on anything but a file, a NUL in a name, names in a charset that is
 * declared to be neither UTF-8 nor bytes, global headers that say what belongs
 * to one entry, extension headers without their entry, an archive without its
 * end mark and anything but zeros behind it.
 */
#ifndef FORGE_ARCHIVE_TAR_H
#define FORGE_ARCHIVE_TAR_H

#include <stdbool.h>
#include <stdint.h>
#include "archive/stream.h"
#include "core/str.h"

/* TAR_SPECIAL: a device or fifo, only after tar_allow_special(). */
enum tar_kind { TAR_FILE, TAR_FOLDER, TAR_SYMLINK, TAR_HARDLINK, TAR_SPECIAL };

struct tar_entry {
	enum tar_kind kind;
	struct slice name;   /* as it stands there, not clean; no NUL in it */
	struct slice target; /* of a link, likewise */
	uint64_t size;       /* of a file, with its holes */
	bool exec;           /* any x bit; of the mode nothing else matters to forge */
};

struct tar;

/* s stays the caller's.  At most limit bytes of it are read: more is an error. */
struct tar *tar_new(struct stream *s, uint64_t limit);
void tar_free(struct tar *t);
void tar_allow_special(struct tar *t); /* devices and fifos are told, not refused */

/* The next entry, lent until the next call: 1; at the end of the archive 0, after the whole stream
 * has been read (so that its checksum was verified). */
int tar_next(struct tar *t, struct tar_entry *e, struct err *err);
/* The next piece of a file's content and its place in the file: 1; all read 0.  What lies between
 * pieces is a hole. */
int tar_data(struct tar *t, const uint8_t **data, size_t *len, uint64_t *at, struct err *err);

void tar_free_ptr(struct tar **t);
#define _cleanup_tar_ __attribute__((cleanup(tar_free_ptr)))

#endif
