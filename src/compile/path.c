#include "compile/path.h"

#include <string.h>

#include "core/str.h"

bool path_is_clean(const char *path)
{
	size_t len = strnlen(path, COMPILE_PATH_MAX);
	if (path[0] != '/' || len == COMPILE_PATH_MAX)
		return false;
	struct slice part, rest = { path + 1, len - 1 };
	for (bool more = true; more; ) {
		more = slice_cut(rest, '/', &part, &rest);
		if (part.n == 0 || slice_is(part, ".") || slice_is(part, ".."))
			return false;
	}
	return true;
}
