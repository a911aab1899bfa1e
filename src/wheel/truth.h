/*
 * What the binaries of one wheel prove together: the architecture, the oldest
 * manylinux policy they run under, and why it is no older.
 */
#ifndef FORGE_WHEEL_TRUTH_H
#define FORGE_WHEEL_TRUTH_H

#include "core/err.h"
#include "core/str.h"

struct truth {
	const char *arch;            /* of all binaries; NULL while none was added */
	char *first;                 /* the file that said so */
	int floor;                   /* policy.h */
	char *why;                   /* the need that set the floor, and the file that has it; NULL: none above the lowest */
	struct str_list own;         /* names of the wheel's files without their folders, sorted */
	struct str_list elsewhere;   /* libraries that other wheels bring */
};

void truth_free(struct truth *t);
#define _cleanup_truth_ __attribute__((cleanup(truth_free)))

/* Every file of the wheel, before the first truth_add(); then truth_begin(). */
void truth_own(struct truth *t, const char *path);
void truth_begin(struct truth *t);

/* An ELF file of the wheel.  Refused: a second architecture, a search path into the build or relative to wherever
 * the process stands, a file named as a library that can't be read. */
int truth_add(struct truth *t, int fd, const char *path, struct err *err);

/* The platform part of the tags, given what the build said; it must not contradict the binaries.  Without
 * binaries it stays.  *platform and *why are owned by the caller. */
int truth_platform(const struct truth *t, const char *declared, char **platform, char **why, struct err *err);

#endif
