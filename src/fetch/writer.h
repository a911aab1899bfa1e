/*
 * Inside the room: the thread that stores and hashes what comes, a block at a time, so that the loop
 * is left with the network: together they would fill one core where two are there, and a slow disk
 * would hold up every transfer.  Blocks are worked off in the order they were given.
 */
#ifndef FORGE_FETCH_WRITER_H
#define FORGE_FETCH_WRITER_H

#include <stddef.h>
#include <stdint.h>
#include "core/hash.h"

#define WRITER_BLOCK (256 << 10)

/* One file that is written.  While pending is not 0, hasher belongs to the thread. */
struct writer_file {
	int fd;
	struct hasher hasher;
	unsigned pending;    /* blocks on their way; under the writer's lock */
	int failed;          /* errno of the first write that failed: what comes after is dropped; atomic */
};

struct writer_block {
	struct writer_block *next;
	struct writer_file *file;
	int64_t at;          /* where in the file */
	size_t len;          /* bytes to hash */
	size_t keep;         /* bytes of them to store */
	char data[WRITER_BLOCK];
};

/* The thread is started by the first block. */
struct writer *writer_new(void);
void writer_free(struct writer *w); /* every file is settled */

/* A block to fill, its fields not set. */
struct writer_block *writer_block(struct writer *w);
void writer_put_back(struct writer *w, struct writer_block *block); /* NULL is nothing */

/* Takes the block.  Waits where many are on their way already.  Without a thread to be
 * had the work is done here. */
void writer_give(struct writer *w, struct writer_block *block);

/* Wait until nothing of the file is on its way; returns its failed. */
int writer_settle(struct writer *w, struct writer_file *file);

/* Store and hash a block here and now: of a file that is settled. */
void writer_work(struct writer_block *block);

#endif
