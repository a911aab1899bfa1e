#include "lock/packages.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/fs.h"
#include "core/mem.h"
#include "lock/deb822.h"

static int64_t number(struct slice text)
{
	int64_t n = 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || n > INT64_MAX / 20)
			return -1;
		n = n * 10 + (text.p[i] - '0');
	}
	return text.n ? n : -1;
}

static void set_size(const struct json *by_path, struct slice path, struct slice size)
{
	char name[1024];
	if (path.n == 0 || path.n >= sizeof name || number(size) < 0)
		return;
	memcpy(name, path.p, path.n);
	name[path.n] = '\0';
	struct json *entry = json_get(by_path, name);
	if (entry)
		json_set_int(entry, "size", number(size));
}

void packages_sizes(struct slice text, struct json *list)
{
	_cleanup_json_ struct json *by_path = json_new_obj();
	struct slice line, path = { NULL, 0 }, size = { NULL, 0 };
	for (size_t i = 0; i < json_count(list); i++) {
		struct json *entry = json_at(list, i);
		if (json_get_str(entry, "path"))
			json_set(by_path, json_get_str(entry, "path"), json_ref(entry));
	}
	while (text.n) {
		slice_cut(text, '\n', &line, &text);
		if (!deb822_field(line, "Filename", &path))
			deb822_field(line, "Size", &size);
		if (line.n == 0 || text.n == 0) { /* the stanza's end */
			set_size(by_path, path, size);
			path = size = (struct slice){ NULL, 0 };
		}
	}
}

static int read_file(const char *file, struct json *list, struct err *err)
{
	struct stat st;
	_cleanup_close_ int fd = fs_open(file, O_RDONLY, 0, err);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0)
		return err_sys(err, "%s", file);
	if (st.st_size == 0)
		return 0;
	void *map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return err_sys(err, "can't map %s", file);
	packages_sizes((struct slice){ map, (size_t)st.st_size }, list);
	munmap(map, (size_t)st.st_size);
	return 0;
}

int packages_fill(const struct str_list *files, struct json *list, struct err *err)
{
	for (size_t i = 0; i < files->count; i++)
		if (read_file(files->items[i], list, err) < 0)
			return -1;
	for (size_t i = 0; i < json_count(list); i++)
		if (json_get_int(json_at(list, i), "size", -1) < 0)
			return err_set(err, ERR_INPUT, "package %s lacks its Size", json_get_str(json_at(list, i), "package"));
	return 0;
}
