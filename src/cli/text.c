/* Numbers as people read them; declared in cli/cli.h. */
#include "cli/cli.h"
#include "core/mem.h"

char *cli_bytes(int64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double n = (double)bytes;
	size_t unit = 0;
	for (; n >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
		n /= 1000;
	return mem_printf(unit && n < 9.95 ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

char *cli_duration(int64_t ms)
{
	long long s = (ms + 500) / 1000;
	if (ms < 1000)
		return mem_printf("%lld ms", (long long)ms);
	if (ms < 60000)
		return mem_printf("%.1f s", (double)ms / 1000);
	if (s < 3600)
		return mem_printf("%lld min %02lld s", s / 60, s % 60);
	return mem_printf("%lld h %02lld min", s / 3600, s / 60 % 60);
}
