/*
 * RECORD: the list of a wheel's files with their hashes (PEP 376, PEP 427, PEP
 * 627): CSV of path, "sha256=" and unpadded urlsafe base64, size.
 */
#ifndef FORGE_WHEEL_RECORD_H
#define FORGE_WHEEL_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/digest.h"
#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

#define RECORD_LIMIT (16u << 20) /* bytes of a RECORD file */

struct record_row {
	char *path;    /* slashes; a back slash is read as one */
	char *hash;    /* "sha256=…", "" if none */
	int64_t size;  /* -1 if none */
	bool seen;     /* for whoever checks a wheel against it */
};

struct record {
	LIST(struct record_row) rows; /* sorted by path, none twice */
};

int record_parse(struct slice text, struct record *out, struct err *err);
void record_free(struct record *r);
struct record_row *record_find(const struct record *r, const char *path);

/* Add one line: quotes only where they are needed, LF, size -1 writes none. */
void record_line(const char *path, const char *hash, int64_t size, struct buf *out);

/* "sha256=…" of a digest; appended. */
void record_hash(enum digest_kind kind, const uint8_t *digest, size_t len, struct buf *out);

/* A file's bytes against its row, in one pass.  A weak or unknown algorithm is refused at the beginning;
 * a row without a hash is held to its size only. */
struct record_check {
	const struct record_row *row;
	struct digest digest;
	uint64_t size;
};
int record_check_begin(struct record_check *c, const struct record_row *row, struct err *err);
void record_check_update(struct record_check *c, const void *data, size_t len);
int record_check_end(struct record_check *c, struct err *err); /* ERR_HASH with both hashes */

#endif
