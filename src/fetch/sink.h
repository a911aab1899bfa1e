/* Where a transfer's bytes go: hashed in the same pass that stores them. */
#ifndef FORGE_FETCH_SINK_H
#define FORGE_FETCH_SINK_H

#include <stdbool.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/hash.h"
#include "fetch/writer.h"

struct sink {
	struct writer *writer;       /* lent */
	struct writer_file file;     /* fd is lent; -1: into body */
	struct writer_block *block;  /* what was not given to the writer yet; NULL: nothing */
	struct buf body;
	struct hash want;
	bool wanted;         /* want is set */
	int64_t size;        /* exact, -1: not known */
	int64_t limit;       /* where size is not known */
	int64_t got;
	bool broken;         /* the last error was of our own side (disk full): no other place will do better */
};

void sink_open(struct sink *s, struct writer *w, int fd, const struct hash *want, int64_t size, int64_t limit);
void sink_close(struct sink *s); /* frees the body, leaves fd open; nothing is written to it any more */

/* Wait until all that came is stored and hashed. */
int sink_settle(struct sink *s, struct err *err);

/* Throw away what came and begin again at 0. */
int sink_restart(struct sink *s, struct err *err);

/* Refuses at once what is announced as larger than it may be, and claims the room on disk. */
int sink_expect(struct sink *s, int64_t total, struct err *err);

/* A write that fails may be told by a later call, at last by sink_check(). */
int sink_write(struct sink *s, const void *data, size_t len, struct err *err);

/* All has come: hold it to hash and size.  ERR_HASH names both hashes. */
int sink_check(struct sink *s, struct hash *got, struct err *err);

#endif
