/* A set of inode numbers (never 0): which files were made here. */
#ifndef FORGE_ARCHIVE_INODES_H
#define FORGE_ARCHIVE_INODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inodes {
	uint64_t *slots; /* 0: free */
	size_t count, cap; /* cap is a power of two, at least twice count */
};

void inodes_add(struct inodes *s, uint64_t ino);
bool inodes_has(const struct inodes *s, uint64_t ino);
void inodes_free(struct inodes *s);

#endif
