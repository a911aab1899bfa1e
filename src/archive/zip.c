#include "archive/zip_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/name.h"

static int cmp_name(const void *a, const void *b)
{
	const struct zip_item *const *x = a, *const *y = b;
	return strcmp((*x)->e.name, (*y)->e.name);
}

static int cmp_place(const void *a, const void *b)
{
	const struct zip_item *const *x = a, *const *y = b;
	return ((*x)->local_at > (*y)->local_at) - ((*x)->local_at < (*y)->local_at);
}

static int add_name(const struct zip_item *item, struct err *err)
{
	_cleanup_free_ char *shown = name_show(item->e.name);
	return err_add(err, "%s", shown);
}

/* Local headers and contents must lie without gap or overlap from the first byte up to the central
 * directory: then a reader that goes from front to back sees the same archive. */
static int check_locals(struct zip *z, struct zip_item **sorted, uint64_t dir_at, struct err *err)
{
	uint64_t at = 0;
	for (size_t i = 0; i < z->items.count; i++) {
		struct zip_item *item = sorted[i];
		if (item->local_at != at) {
			err_set(err, ERR_INPUT, "there is something before it that the central directory "
				"does not know, or it overlaps another entry");
			return add_name(item, err);
		}
		if (zip_local_read(z, item, err))
			return add_name(item, err);
		if (item->e.data_at > dir_at || item->e.csize > dir_at - item->e.data_at) {
			err_set(err, ERR_INPUT, "its content reaches into the central directory");
			return add_name(item, err);
		}
		at = item->e.data_at + item->e.csize;
	}
	if (at != dir_at)
		return err_set(err, ERR_INPUT, "there is something that the central directory does not know");
	return 0;
}

static int check_names(struct zip *z, struct err *err)
{
	for (size_t i = 1; i < z->items.count; i++)
		if (strcmp(z->by_name[i - 1]->e.name, z->by_name[i]->e.name) == 0) {
			err_set(err, ERR_INPUT, "the name stands twice in the central directory");
			return add_name(z->by_name[i], err);
		}
	return 0;
}

static int read_all(struct zip *z, struct err *err)
{
	struct stat st;
	struct zip_end end;
	if (fstat(z->fd, &st))
		return err_sys(err, "can't stat the zip");
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_FAIL, "the zip is not a regular file");
	z->file_size = (uint64_t)st.st_size;
	if (zip_end_read(z->fd, z->file_size, &end, err) || zip_dir_read(z, &end, err))
		return -1;
	size_t n = z->items.count;
	z->by_name = mem_resize(NULL, n + 1, sizeof *z->by_name);
	for (size_t i = 0; i < n; i++)
		z->by_name[i] = &z->items.items[i];
	qsort(z->by_name, n, sizeof *z->by_name, cmp_place);
	if (check_locals(z, z->by_name, end.dir_at, err))
		return -1;
	qsort(z->by_name, n, sizeof *z->by_name, cmp_name);
	return check_names(z, err);
}

struct zip *zip_open(int fd, struct err *err)
{
	struct zip *z = mem_alloc(sizeof *z);
	z->fd = fd;
	if (read_all(z, err)) {
		zip_free(z);
		return NULL;
	}
	return z;
}

void zip_free(struct zip *z)
{
	if (!z)
		return;
	if (z->inflate_ready)
		inflateEnd(&z->inflate);
	free(z->in);
	free(z->out);
	free(z->by_name);
	list_free(&z->items);
	arena_free(&z->arena);
	free(z);
}

void zip_free_ptr(struct zip **z)
{
	zip_free(*z);
	*z = NULL;
}

size_t zip_count(const struct zip *z)
{
	return z->items.count;
}

const struct zip_entry *zip_at(const struct zip *z, size_t i)
{
	return i < z->items.count ? &z->items.items[i].e : NULL;
}

const struct zip_entry *zip_find(const struct zip *z, const char *name)
{
	struct zip_item key = { .e.name = name };
	const struct zip_item *at = &key;
	struct zip_item **found = bsearch(&at, z->by_name, z->items.count, sizeof *z->by_name, cmp_name);
	return found ? &(*found)->e : NULL;
}

int zip_check_plain(const struct zip_entry *e, struct err *err)
{
	uint32_t type = e->mode & S_IFMT;
	const char *why = NULL;
	if (e->link)
		why = "a symbolic link in a zip";
	else if (type && type != S_IFREG && type != S_IFDIR)
		why = "a device, fifo or socket in a zip";
	else if (e->folder && (e->size || e->csize))
		why = "a folder with content";
	else if (type == S_IFDIR && !e->folder)
		why = "a folder whose name does not end in \"/\"";
	if (!why)
		return 0;
	_cleanup_free_ char *shown = name_show(e->name);
	return err_set(err, ERR_INPUT, "%s: %s", shown, why);
}
