/* Inside the tar reader.  Only tar*.c includes this. */
#ifndef FORGE_ARCHIVE_TAR_IMPL_H
#define FORGE_ARCHIVE_TAR_IMPL_H

#include "archive/tar.h"
#include "core/buf.h"
#include "core/list.h"

#define TAR_BLOCK 512

/* A header block as POSIX lays it out; GNU's sparse fields overlay the prefix. */
struct tar_header {
	char name[100], mode[8], uid[8], gid[8], size[12], mtime[12], sum[8], type;
	char target[100], magic[6], version[2], user[32], group[32], major[8], minor[8];
	union {
		char prefix[155];
		struct {
			char atime[12], ctime[12], offset[12], longnames[4], unused;
			char map[4][24];
			char extended;
			char realsize[12];
		} gnu;
	};
	char pad[12];
};
_Static_assert(sizeof(struct tar_header) == TAR_BLOCK, "a tar header is one block");

/* A stretch of a sparse file that has content. */
struct tar_stretch {
	uint64_t at, len;
};

/* What extension headers say of the next entry. */
struct tar_extra {
	struct buf path, target;     /* pax path, linkpath; GNU L, K */
	bool has_path, has_target, has_size;
	uint64_t size;
	bool bytes;                  /* hdrcharset=BINARY: names need not be UTF-8 */
	bool sparse, major1, minor0; /* GNU.sparse 1.0 */
	struct buf sparse_name;
	bool has_real;
	uint64_t real;
	bool any;
};

struct tar {
	struct stream *s;
	const uint8_t *piece;        /* of the stream, not yet used */
	size_t piece_len;
	uint64_t left;               /* of the stream limit */
	bool special;                /* devices and fifos are let through */
	struct tar_extra x;
	struct buf name, target;     /* of the current entry */
	LIST(struct tar_stretch) map;
	size_t stretch;              /* index of the current one */
	uint64_t done;               /* bytes of it given out */
	uint64_t padding;            /* behind the content, to the next block */
};

/* Exactly len bytes of the stream. */
int tar_read(struct tar *t, void *out, size_t len, struct err *err);

/* tar_header.c */
int tar_header_check(const struct tar_header *h, struct err *err); /* the checksum */
int tar_number(const char *field, size_t len, uint64_t *out, struct err *err); /* octal or base-256, < 2^62 */
struct slice tar_text(const char *field, size_t len); /* up to NUL or the end */
void tar_header_name(const struct tar_header *h, struct buf *out); /* with the prefix, where there is one */

/* tar_pax.c: the records of a pax header into x (local), or checked for harmlessness (global). */
int tar_pax(struct slice records, bool global, struct tar_extra *x, struct err *err);
void tar_extra_clear(struct tar_extra *x);
void tar_extra_free(struct tar_extra *x);

/* tar_sparse.c: t->map for an old GNU sparse entry; `stored` is the header's size field, *real the
 * file's.  For pax 1.0 the map stands in front of the content, and *stored becomes less. */
int tar_sparse_gnu(struct tar *t, const struct tar_header *h, uint64_t stored, uint64_t *real,
	struct err *err);
int tar_sparse_pax(struct tar *t, uint64_t *stored, uint64_t real, struct err *err);

#endif
