/* As isoc23_strtol.c, for %i of scanf. */
#include <stdarg.h>

int old_text(const char *text, const char *format, va_list to) __asm__("__isoc99_vsscanf");
int old_file(void *file, const char *format, va_list to) __asm__("__isoc99_vfscanf");

#define HIDDEN(name) __asm__("__isoc23_" name) __attribute__((visibility("hidden"), weak))
int forge_vsscanf(const char *text, const char *format, va_list to) HIDDEN("vsscanf");
int forge_vfscanf(void *file, const char *format, va_list to) HIDDEN("vfscanf");
int forge_sscanf(const char *text, const char *format, ...) HIDDEN("sscanf");
int forge_fscanf(void *file, const char *format, ...) HIDDEN("fscanf");

int forge_vsscanf(const char *text, const char *format, va_list to)
{
	return old_text(text, format, to);
}

int forge_vfscanf(void *file, const char *format, va_list to)
{
	return old_file(file, format, to);
}

int forge_sscanf(const char *text, const char *format, ...)
{
	va_list to;
	va_start(to, format);
	int n = old_text(text, format, to);
	va_end(to);
	return n;
}

int forge_fscanf(void *file, const char *format, ...)
{
	va_list to;
	va_start(to, format);
	int n = old_file(file, format, to);
	va_end(to);
	return n;
}
