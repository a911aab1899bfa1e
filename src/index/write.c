/* Writing an index aside and swapping it in; declared in index/index.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/hash.h"
#include "core/mem.h"
#include "index/index.h"
#include "index/page.h"

/* Holds the hash of all that the index says; its presence tells that forge wrote the folder. */
#define STAMP ".forge-index"

static int by_file(const void *a, const void *b)
{
	const struct index_wheel *x = *(const struct index_wheel *const *)a;
	const struct index_wheel *y = *(const struct index_wheel *const *)b;
	int order = strcmp(x->project, y->project);
	if (!order)
		order = strcmp(x->file, y->file);
	return order ? order : strcmp(x->place.group ? x->place.group : "", y->place.group ? y->place.group : "");
}

/* A list of wheels, in order; the array is owned, the wheels are lent. */
struct wheels {
	const struct index_wheel **items;
	size_t count;
};

static void wheels_free(struct wheels *w)
{
	free(w->items);
}
#define _cleanup_wheels_ __attribute__((cleanup(wheels_free)))

/* All, sorted by project and file; a file that stands in several groups is there for each. */
static struct wheels sorted(const struct index *x)
{
	struct wheels all = { mem_resize(NULL, x->wheels.count + 1, sizeof *all.items), x->wheels.count };
	for (size_t i = 0; i < all.count; i++)
		all.items[i] = &x->wheels.items[i];
	if (all.count)
		qsort(all.items, all.count, sizeof *all.items, by_file);
	return all;
}

enum which { EVERY, COMMON, GROUP };

/* Those of a kind, each file once. */
static struct wheels pick(const struct wheels *all, enum which which, const char *group)
{
	struct wheels some = { mem_resize(NULL, all->count + 1, sizeof *some.items), 0 };
	for (size_t i = 0; i < all->count; i++) {
		const struct index_wheel *w = all->items[i];
		if ((which == COMMON && !w->place.common) || (which == GROUP && !str_eq(w->place.group, group)))
			continue;
		if (!some.count || strcmp(some.items[some.count - 1]->file, w->file) != 0)
			some.items[some.count++] = w;
	}
	return some;
}

static int write_text(int dirfd, const char *path, const struct buf *text, struct err *err)
{
	return fs_write_file(dirfd, path, text->data, text->len, 0644, err);
}

static int write_project(int dirfd, const char *simple, const char *files, const struct index_wheel *const *wheels,
	size_t count, struct err *err)
{
	const char *project = wheels[0]->project;
	_cleanup_buf_ struct buf html = BUF_INIT, json = BUF_INIT;
	_cleanup_free_ char *folder = mem_printf("%s/%s", simple, project);
	_cleanup_free_ char *html_path = mem_printf("%s/index.html", folder);
	_cleanup_free_ char *json_path = mem_printf("%s/index.json", folder);
	page_project_html(project, files, wheels, count, &html);
	page_project_json(project, files, wheels, count, &json);
	if (fs_mkdirs_beneath(dirfd, folder, 0755, err) < 0 || write_text(dirfd, html_path, &html, err) < 0)
		return -1;
	return write_text(dirfd, json_path, &json, err);
}

/* A hard link where the file systems allow it, else a copy. */
static int place_wheel(int dirfd, const struct index_wheel *w, struct err *err)
{
	_cleanup_free_ char *to = mem_printf("files/%s", w->file);
	_cleanup_free_ char *metadata = mem_printf("files/%s.metadata", w->file);
	if (linkat(AT_FDCWD, w->from, dirfd, to, 0) < 0) {
		_cleanup_close_ int from = fs_open(w->from, O_RDONLY, 0, err);
		_cleanup_close_ int out = openat(dirfd, to, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (from < 0)
			return -1;
		if (out < 0)
			return err_sys(err, "can't create %s", to);
		if (fs_copy_bytes(from, out, -1, err) < 0)
			return err_add(err, "%s", to);
		if (close(steal_fd(out)) < 0)
			return err_sys(err, "can't write %s", to);
	}
	return fs_write_file(dirfd, metadata, w->metadata, w->metadata_len, 0644, err);
}

static int write_root(int dirfd, const char *simple, const struct str_list *projects, struct err *err)
{
	_cleanup_buf_ struct buf html = BUF_INIT, json = BUF_INIT;
	_cleanup_free_ char *html_path = mem_printf("%s/index.html", simple);
	_cleanup_free_ char *json_path = mem_printf("%s/index.json", simple);
	page_root_html(projects, &html);
	page_root_json(projects, &json);
	if (write_text(dirfd, html_path, &html, err) < 0)
		return -1;
	return write_text(dirfd, json_path, &json, err);
}

/* One index: its projects, and the page that names them. */
static int write_pages(int dirfd, const char *simple, const char *files, const struct wheels *w, struct err *err)
{
	_cleanup_str_list_ struct str_list projects = STR_LIST_INIT;
	if (fs_mkdirs_beneath(dirfd, simple, 0755, err) < 0)
		return -1;
	for (size_t i = 0, n; i < w->count; i += n) {
		for (n = 1; i + n < w->count && strcmp(w->items[i + n]->project, w->items[i]->project) == 0; n++)
			;
		str_list_add(&projects, w->items[i]->project);
		if (write_project(dirfd, simple, files, w->items + i, n, err) < 0)
			return -1;
	}
	return write_root(dirfd, simple, &projects, err);
}

static int write_groups(int dirfd, const struct index *x, const struct wheels *all, struct err *err)
{
	_cleanup_str_list_ struct str_list groups = STR_LIST_INIT;
	index_groups(x, &groups);
	for (size_t i = 0; i < groups.count; i++) {
		_cleanup_wheels_ struct wheels mine = pick(all, GROUP, groups.items[i]);
		_cleanup_free_ char *simple = mem_printf("%s/simple", groups.items[i]);
		if (write_pages(dirfd, simple, "../../../files/", &mine, err) < 0)
			return -1;
	}
	return 0;
}

static int write_all(int dirfd, const struct index *x, const struct wheels *all, const struct buf *stamp,
	struct err *err)
{
	_cleanup_wheels_ struct wheels common = pick(all, COMMON, NULL), files = pick(all, EVERY, NULL);
	if (fs_mkdirs_beneath(dirfd, "files", 0755, err) < 0)
		return -1;
	for (size_t i = 0; i < files.count; i++)
		if (place_wheel(dirfd, files.items[i], err) < 0)
			return -1;
	if (write_pages(dirfd, "simple", "../../files/", &common, err) < 0 || write_groups(dirfd, x, all, err) < 0)
		return -1;
	return write_text(dirfd, STAMP, stamp, err);
}

/* What the index says, as one hash: the same wheels give the same index. */
static void make_stamp(const struct wheels *all, struct buf *out)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	struct hash digest;
	buf_str(&text, "forge index 2\n");
	for (size_t i = 0; i < all->count; i++) {
		const struct index_wheel *w = all->items[i];
		buf_printf(&text, "%s %s %s %s %s %d\n", w->project, w->file, w->sha256,
			w->requires_python ? w->requires_python : "", w->place.group ? w->place.group : "", w->place.common);
	}
	hash_of(text.data, text.len, &digest);
	hash_base16(&digest, out);
	buf_byte(out, '\n');
}

/* 1: the folder holds this index, 0: an older one or nothing, -1: something that forge did not write. */
static int look_at(const char *folder, const struct buf *stamp, bool *exists, struct err *err)
{
	_cleanup_close_ int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_buf_ struct buf old = BUF_INIT;
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	*exists = fd >= 0;
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(err, "can't write an index to %s", folder);
	if (fs_read_file(fd, STAMP, 4096, &old, NULL) == 0)
		return old.len == stamp->len && memcmp(old.data, stamp->data, old.len) == 0;
	if (fs_list(fd, &names, err) < 0)
		return -1;
	if (names.count)
		return err_set(err, ERR_USAGE, "%s holds something that forge did not write: name another folder, or empty it", folder);
	return 0;
}

static int swap_in(const char *aside, const char *folder, bool exists, struct err *err)
{
	if (renameat2(AT_FDCWD, aside, AT_FDCWD, folder, exists ? RENAME_EXCHANGE : RENAME_NOREPLACE) < 0)
		return err_sys(err, "can't put it in its place");
	return exists ? fs_remove_tree(AT_FDCWD, aside, err) : 0;
}

static int write_aside(const char *aside, const char *folder, bool exists, const struct index *x,
	const struct wheels *all, const struct buf *stamp, struct err *err)
{
	if (fs_mkdirs(aside, 0755, err) < 0)
		return -1;
	_cleanup_close_ int fd = fs_open_dir(aside, err);
	if (fd < 0 || write_all(fd, x, all, stamp, err) < 0)
		return -1;
	if (syncfs(fd) < 0)
		return err_sys(err, "can't make the index durable");
	return swap_in(aside, folder, exists, err);
}

int index_write(struct index *x, const char *folder, bool *changed, struct err *err)
{
	size_t len = strlen(folder);
	bool exists;
	while (len > 1 && folder[len - 1] == '/')
		len--;
	_cleanup_free_ char *place = mem_dup_n(folder, len);
	_cleanup_free_ char *aside = mem_printf("%s.new.%d", place, (int)getpid());
	_cleanup_wheels_ struct wheels all = sorted(x);
	_cleanup_buf_ struct buf stamp = BUF_INIT;
	make_stamp(&all, &stamp);
	int same = look_at(place, &stamp, &exists, err);
	*changed = same == 0;
	if (same != 0)
		return same < 0 ? -1 : 0;
	if (write_aside(aside, place, exists, x, &all, &stamp, err) == 0)
		return 0;
	fs_remove_tree(AT_FDCWD, aside, NULL);
	return err_add(err, "can't write an index to %s", place);
}
