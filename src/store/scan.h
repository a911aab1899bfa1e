/*
 * Finding the digests of store paths in a stream of bytes, as Nix does: a reference is the 32
 * characters of a digest anywhere in an object's NAR form.  Digests that lie across the borders of
 * the pieces are found.  Pure.
 */
#ifndef FORGE_STORE_SCAN_H
#define FORGE_STORE_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "drv/path.h"

struct scan_digest {
	char text[STORE_PATH_DIGEST];
	bool found;
	uint64_t at; /* where it was found first, counted from the start of the stream */
};

struct scan {
	struct scan_digest *digests; /* in the order of scan_add() */
	size_t count, cap;
	uint32_t *table;             /* open addressing: index in digests + 1, 0 where empty */
	unsigned bits;               /* its size is 2^bits, at least four times count */
	char tail[STORE_PATH_DIGEST - 1]; /* the last bytes of the stream */
	size_t tail_len;
	uint64_t offset;             /* bytes fed */
};

#define SCAN_INIT { 0 }

/* Add the 32 characters of a digest, before feeding; the result is its index in digests. A digest that is
 * there already keeps its index. */
size_t scan_add(struct scan *s, const char *digest);
void scan_feed(struct scan *s, const void *data, size_t len);
void scan_free(struct scan *s);

#define _cleanup_scan_ __attribute__((cleanup(scan_free)))

#endif
