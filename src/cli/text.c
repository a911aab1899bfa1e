/* Numbers and paragraphs as people read them; declared in cli/cli.h. */
#include "cli/cli.h"
#include "core/buf.h"
#include "core/mem.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WRAP_COLUMNS 79

char *cli_bytes(int64_t bytes)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double n = (double)bytes;
	size_t unit = 0;
	for (; n >= 999.5 && unit + 1 < sizeof units / sizeof *units; unit++)
		n /= 1000;
	return mem_printf(unit && n < 9.95 ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

bool cli_is_terminal(int fd)
{
	return isatty(fd) && !str_eq(getenv("TERM"), "dumb");
}

bool cli_has_color(int fd)
{
	const char *no_color = getenv("NO_COLOR");
	return cli_is_terminal(fd) && !(no_color && *no_color);
}

char *cli_duration(int64_t ms)
{
	long long s = (ms + 500) / 1000;
	if (ms < 1000)
		return mem_printf("%lld ms", (long long)ms);
	if (ms < 59950)
		return mem_printf("%.1f s", (double)ms / 1000);
	if (s < 3600)
		return mem_printf("%lld min %02lld s", s / 60, s % 60);
	return mem_printf("%lld h %02lld min", s / 3600, s / 60 % 60);
}

char *cli_wrap(const char *text, int indent)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	int column = indent;
	while (*text) {
		size_t len = strcspn(text, " \n");
		int width = 0;
		for (size_t i = 0; i < len; i++)
			width += ((unsigned char)text[i] & 0xc0) != 0x80; /* characters, not bytes, of UTF-8 */
		bool fits = column == indent || column + 1 + width <= WRAP_COLUMNS;
		if (!fits) {
			buf_printf(&out, "\n%*s", indent, "");
			column = indent;
		}
		buf_printf(&out, "%s%.*s", column > indent ? " " : "", (int)len, text);
		column += width + (column > indent);
		text += len;
		if (*text == '\n') {
			buf_printf(&out, "\n%*s", indent, "");
			column = indent;
		}
		text += *text != '\0';
	}
	return buf_steal(&out);
}
