/* A tracer's log: names in it are a build's, and it may be cut off.  What is read is sorted, clean and within limits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compile/trace_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(char *const *paths, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (paths[i][0] != '/' || strstr(paths[i], "//") || strstr(paths[i], "/../") || strlen(paths[i]) > 4095 ||
		    (i > 0 && strcmp(paths[i - 1], paths[i]) >= 0))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_trace_ struct trace t = { .odd = NULL };
	if (trace_log_read((struct slice){ (const char *)data, size }, &t, NULL) < 0)
		return 0;
	check(t.missing.items, t.missing.count);
	check(t.dirs.items, t.dirs.count);
	for (size_t i = 0; i < t.files.count; i++)
		if (t.files.items[i].content.p && t.files.items[i].content.n != t.files.items[i].size)
			abort();
	return 0;
}
