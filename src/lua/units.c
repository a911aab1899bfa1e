#include "lua/units.h"

#include <errno.h>
#include <stdlib.h>

#include "core/str.h"

struct unit {
	const char *name;
	uint64_t factor;
};

static int read_amount(const char *text, const struct unit *units, const char *example, uint64_t *out,
	struct err *err)
{
	char *rest;
	errno = 0;
	unsigned long long n = strtoull(text, &rest, 10);
	if (text[0] < '0' || text[0] > '9' || errno)
		return err_set(err, ERR_INPUT, "'%s' is no amount: write it like %s", text, example);
	for (; units->name; units++) {
		if (!str_eq(units->name, rest))
			continue;
		if (n > INT64_MAX / units->factor)
			return err_set(err, ERR_INPUT, "'%s' is too large", text);
		*out = n * units->factor;
		return 0;
	}
	return err_set(err, ERR_INPUT, "'%s' has no unit forge knows: write it like %s", text, example);
}

int units_bytes(const char *text, uint64_t *bytes, struct err *err)
{
	static const struct unit units[] = { { "", 1 }, { "B", 1 }, { "KiB", 1u << 10 },
		{ "MiB", 1u << 20 }, { "GiB", 1u << 30 }, { "TiB", (uint64_t)1 << 40 }, { NULL, 0 } };
	return read_amount(text, units, "\"6GiB\" or \"500MiB\"", bytes, err);
}

int units_duration(const char *text, uint64_t *ms, struct err *err)
{
	static const struct unit units[] = { { "", 1000 }, { "ms", 1 }, { "s", 1000 }, { "min", 60000 },
		{ "h", 3600000 }, { "d", 86400000 }, { NULL, 0 } };
	return read_amount(text, units, "\"90min\" or \"2h\"", ms, err);
}
