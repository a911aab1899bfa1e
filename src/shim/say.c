#include "shim/shim.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void die(const char *format, ...)
{
	va_list ap;
	va_start(ap, format);
	fputs("forge: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	va_end(ap);
	exit(1);
}

void *must(void *memory)
{
	if (!memory)
		die("out of memory");
	return memory;
}

bool starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);
	return n >= m && strcmp(text + n - m, end) == 0;
}

bool is_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (strcmp(text, *list) == 0)
			return true;
	return false;
}

void args_push(struct args *a, const char *item)
{
	if (a->count + 1 >= a->room) {
		a->room = a->room ? 2 * a->room : 64;
		a->items = must(realloc(a->items, a->room * sizeof *a->items));
	}
	a->items[a->count++] = (char *)item; /* exec does not write to it */
	a->items[a->count] = NULL;
}
