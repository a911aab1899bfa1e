#include "compile/nvcc_deps.h"

#include <string.h>

#include "compile/command.h"

#define SYSTEM_FLAG '3' /* of a marker: the file is a system header */

/* # NUMBER "NAME" FLAGS; false: no marker of a file. */
static bool read_marker(struct slice line, struct slice *name, bool *system)
{
	if (line.n < 5 || line.p[0] != '#' || line.p[1] != ' ' || line.p[2] < '0' || line.p[2] > '9')
		return false;
	const char *from = memchr(line.p, '"', line.n), *to = memrchr(line.p, '"', line.n);
	if (!from || to - from < 2 || from[1] == '<' || to[-1] == '/')
		return false; /* <built-in>; the working folder */
	*name = (struct slice){ from + 1, (size_t)(to - from - 1) };
	*system = memchr(to, SYSTEM_FLAG, (size_t)(line.p + line.n - to)) != NULL;
	return true;
}

void nvcc_deps_text(struct nvcc_deps *d, struct slice text)
{
	struct slice line, name, last[2] = { { 0 } };
	bool system;
	for (bool more = text.n > 0; more;) {
		more = slice_cut(text, '\n', &line, &text);
		/* Each file has many markers, mostly the same as the last or the last but one. */
		if (!read_marker(line, &name, &system) || slice_eq(name, last[0]) || slice_eq(name, last[1]))
			continue;
		last[1] = last[0];
		last[0] = name;
		d->odd |= memchr(name.p, '\\', name.n) != NULL;
		if (!(system && d->users_only))
			*list_push(&d->names) = (struct nvcc_name){ mem_dup_n(name.p, name.n), d->markers++ };
	}
}

static int by_name(const void *a, const void *b)
{
	const struct nvcc_name *x = a, *y = b;
	int order = strcmp(x->name, y->name);
	return order ? order : (x->order > y->order) - (x->order < y->order);
}

static int by_order(const void *a, const void *b)
{
	const struct nvcc_name *x = a, *y = b;
	return (x->order > y->order) - (x->order < y->order);
}

/* Of each name its first place. */
static void make_unique(struct nvcc_deps *d)
{
	size_t kept = 0;
	if (d->names.count == 0)
		return;
	qsort(d->names.items, d->names.count, sizeof *d->names.items, by_name);
	for (size_t i = 1; i < d->names.count; i++) {
		if (strcmp(d->names.items[i].name, d->names.items[kept].name) == 0)
			free(d->names.items[i].name);
		else
			d->names.items[++kept] = d->names.items[i];
	}
	d->names.count = kept + 1;
	qsort(d->names.items, d->names.count, sizeof *d->names.items, by_order);
}

static void write_name(struct buf *out, const char *name)
{
	for (; *name; name++) {
		if (*name == ' ')
			buf_byte(out, '\\');
		buf_byte(out, *name);
	}
}

void nvcc_deps_write(struct nvcc_deps *d, struct buf *out)
{
	make_unique(d);
	buf_str(out, COMPILE_DEPS_TARGET " :");
	for (size_t i = 0; i < d->names.count; i++) {
		buf_str(out, i ? " \\\n    " : " ");
		write_name(out, d->names.items[i].name);
	}
	buf_byte(out, '\n');
	for (size_t i = 1; d->phony && i < d->names.count; i++) {
		buf_byte(out, '\n');
		write_name(out, d->names.items[i].name);
		buf_str(out, ":\n");
	}
}

void nvcc_deps_free(struct nvcc_deps *d)
{
	for (size_t i = 0; i < d->names.count; i++)
		free(d->names.items[i].name);
	list_free(&d->names);
}
