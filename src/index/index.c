#include "index/index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/hash.h"
#include "core/mem.h"
#include "wheel/inspect.h"

static int hash_file(int fd, char **hex, int64_t *size, struct err *err)
{
	_cleanup_free_ char *block = mem_resize(NULL, 256 * 1024, 1);
	struct hasher h;
	struct hash digest;
	ssize_t n;
	hash_begin(&h);
	*size = 0;
	while ((n = pread(fd, block, 256 * 1024, *size)) > 0) {
		hash_update(&h, block, (size_t)n);
		*size += n;
	}
	if (n < 0)
		return err_sys(err, "can't read");
	hash_end(&h, &digest);
	*hex = hash_hex(&digest);
	return 0;
}

static int refuse_twice(const struct index *x, const struct index_wheel *w, struct err *err)
{
	for (size_t i = 0; i < x->wheels.count; i++) {
		const struct index_wheel *other = &x->wheels.items[i];
		if (strcmp(other->file, w->file) == 0 && strcmp(other->sha256, w->sha256) != 0)
			return err_set(err, ERR_FAIL, "two different wheels are named %s: %s and %s; give one a label",
				w->file, other->from, w->from);
	}
	return 0;
}

static void wheel_clear(struct index_wheel *w)
{
	free(w->place.group);
	free(w->project);
	free(w->version);
	free(w->requires_python);
	free(w->sha256);
	free(w->metadata);
	free(w->metadata_sha256);
}

static int describe(struct index_wheel *w, int fd, struct err *err)
{
	struct wheel_inspected seen = { 0 };
	struct hash digest;
	if (hash_file(fd, &w->sha256, &w->size, err) < 0 || wheel_inspect(fd, w->file, &seen, err) < 0)
		return err_add(err, "%s", w->from);
	w->project = wheel_normalise_name(seen.name);
	w->version = mem_dup(seen.version);
	w->requires_python = mem_dup(seen.requires_python);
	hash_of(seen.metadata.data, seen.metadata.len, &digest);
	w->metadata_sha256 = hash_hex(&digest);
	w->metadata_len = seen.metadata.len;
	w->metadata = buf_steal(&seen.metadata);
	wheel_inspected_free(&seen);
	return 0;
}

int index_add(struct index *x, const char *path, const struct index_place *place, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct index_wheel w = { .from = path, .file = slash ? slash + 1 : path };
	_cleanup_close_ int fd = fs_open(path, O_RDONLY, 0, err);
	if (fd < 0)
		return -1;
	w.place = (struct index_place){ mem_dup(place->group), place->common };
	if (describe(&w, fd, err) < 0 || refuse_twice(x, &w, err) < 0) {
		wheel_clear(&w);
		return -1;
	}
	*list_push(&x->wheels) = w;
	return 0;
}

void index_groups(const struct index *x, struct str_list *names)
{
	for (size_t i = 0; i < x->wheels.count; i++)
		if (x->wheels.items[i].place.group)
			str_list_add(names, x->wheels.items[i].place.group);
	str_list_sort(names);
	str_list_uniq(names);
}

void index_free(struct index *x)
{
	for (size_t i = 0; i < x->wheels.count; i++)
		wheel_clear(&x->wheels.items[i]);
	list_free(&x->wheels);
}
