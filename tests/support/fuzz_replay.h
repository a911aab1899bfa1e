/*
 * A fuzz corpus replayed as an ordinary test.  The test includes the target
 * itself (#include "fuzz/zip_fuzz.c") and calls fuzz_replay with its corpus.
 * Run the same target under libFuzzer with
 *	clang -fsanitize=fuzzer,address -Isrc -Itests tests/fuzz/zip_fuzz.c <rooms> …
 */
#ifndef TESTS_SUPPORT_FUZZ_REPLAY_H
#define TESTS_SUPPORT_FUZZ_REPLAY_H

#include <dirent.h>
#include "support/vectors.h"

/* One input, and that input cut in half and with single bytes changed, without randomness. */
static inline void fuzz_replay_one(const uint8_t *data, size_t len)
{
	LLVMFuzzerTestOneInput(data, len);
	LLVMFuzzerTestOneInput(data, len / 2);
	size_t step = len / 64 + 1;
	for (size_t i = 0; i < len; i += step) {
		uint8_t *copy = malloc(len);
		memcpy(copy, data, len);
		copy[i] ^= (uint8_t)(0x55 + i);
		LLVMFuzzerTestOneInput(copy, len);
		free(copy);
	}
}

/* Every file in a folder; their number.  A folder that is missing or empty gives 0. */
static inline size_t fuzz_replay(const char *folder)
{
	DIR *d = opendir(folder);
	size_t count = 0;
	const struct dirent *e;
	while (d && (e = readdir(d))) {
		char path[4096];
		size_t len;
		snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
		if (e->d_type != DT_REG)
			continue;
		char *data = vectors_slurp(path, &len);
		if (len < 65536)
			fuzz_replay_one((const uint8_t *)data, len);
		else
			LLVMFuzzerTestOneInput((const uint8_t *)data, len);
		free(data);
		count++;
	}
	if (d)
		closedir(d);
	return count;
}

#endif
