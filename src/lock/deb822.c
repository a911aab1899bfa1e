#include "lock/deb822.h"

#include <string.h>

bool deb822_field(struct slice line, const char *name, struct slice *value)
{
	size_t n = strlen(name);
	if (line.n <= n || line.p[n] != ':' || strncasecmp(line.p, name, n) != 0)
		return false;
	*value = slice_trim((struct slice){ line.p + n + 1, line.n - n - 1 });
	return true;
}
