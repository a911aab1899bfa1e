/*
 * Golden files: tests/golden/NAME holds the bytes that forge gave once and has
 * to give for ever.  FORGE_GOLDEN_WRITE=1 in the environment writes them anew;
 * what changed is then seen in the diff.
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

#include "support/vectors.h"

static inline void golden_write(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, len, f) != len || fclose(f) != 0)
		fail_msg("can't write %s", path);
}

/* name: a path below tests/golden, whose folders exist. */
static inline void golden_check(const char *name, const void *data, size_t len)
{
	char path[512];
	const char *write = getenv("FORGE_GOLDEN_WRITE");
	snprintf(path, sizeof path, "tests/golden/%s", name);
	if (write && strcmp(write, "1") == 0)
		golden_write(path, data, len);
	size_t had;
	char *golden = vectors_slurp(path, &had);
	if (had != len || memcmp(golden, data, len) != 0)
		fail_msg("%s: not the same bytes (%zu, golden has %zu)", path, len, had);
	free(golden);
}

#endif
