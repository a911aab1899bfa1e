/*
 * Copying what others made into fresh inodes of ours.  Everything is reached through the descriptor of its
 * folder, no link is followed, and nothing but bytes, names, link targets and the owner's x bit is taken.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "store/internal.h"
#include "store/trail.h"

#define ENTRIES_MAX 10000000 /* a tree with more is a mistake or an attack */

struct copy {
	struct trail at;
	uint64_t entries;
};

static int copy_bytes(int from, int to, off_t size, struct err *err)
{
	if (size > 0 && ioctl(to, FICLONE, from) == 0)
		return 0;
	return fs_copy_bytes(from, to, -1, err);
}

static int copy_file(struct copy *c, int from, const char *name, int to, const char *to_name, struct err *err)
{
	_cleanup_close_ int in = openat(from, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	if (in < 0 || fstat(in, &st) < 0)
		return err_sys(err, "%s: can't open it", c->at.path.data);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INPUT, "%s: not a plain file any more", c->at.path.data);
	_cleanup_close_ int out = openat(to, to_name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (out < 0)
		return err_sys(err, "%s: can't create the copy", c->at.path.data);
	if (copy_bytes(in, out, st.st_size, err) < 0 || seal_file(out, st.st_mode & 0100, err) < 0)
		return err_add(err, "%s", c->at.path.data);
	if (close(steal_fd(out)) < 0)
		return err_sys(err, "%s: can't write the copy", c->at.path.data);
	return 0;
}

static int copy_link(struct copy *c, int from, const char *name, int to, const char *to_name, struct err *err)
{
	char target[PATH_MAX + 1];
	ssize_t n = readlinkat(from, name, target, sizeof target - 1);
	if (n < 0)
		return err_sys(err, "%s: can't read the link", c->at.path.data);
	target[n] = '\0';
	if (symlinkat(target, to, to_name) < 0)
		return err_sys(err, "%s: can't create the link", c->at.path.data);
	return 0;
}

static int copy_entry(struct copy *c, int from, const char *name, int to, const char *to_name, struct err *err);

static int copy_entries(struct copy *c, DIR *dir, int to, struct err *err)
{
	errno = 0;
	for (struct dirent *e; (e = readdir(dir)) != NULL; errno = 0) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		if (++c->entries > ENTRIES_MAX)
			return err_set(err, ERR_INPUT, "%s: more than %d entries", c->at.path.data, ENTRIES_MAX);
		size_t mark = trail_enter(&c->at, e->d_name);
		if (copy_entry(c, dirfd(dir), e->d_name, to, e->d_name, err) < 0)
			return -1;
		trail_leave(&c->at, mark);
	}
	return errno ? err_sys(err, "%s: can't read the folder", c->at.path.data) : 0;
}

static int copy_folder(struct copy *c, int from, const char *name, int to, const char *to_name, struct err *err)
{
	if (c->at.depth > TREE_DEPTH_MAX)
		return err_set(err, ERR_INPUT, "%.200s…: folders are nested deeper than %d", c->at.path.data,
			TREE_DEPTH_MAX);
	int in = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = in < 0 ? NULL : fdopendir(in);
	if (!dir) {
		fs_close_ptr(&in);
		return err_sys(err, "%s: can't open the folder", c->at.path.data);
	}
	_cleanup_close_ int out = -1;
	int rc = 0;
	if (mkdirat(to, to_name, 0700) < 0 ||
	    (out = openat(to, to_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
		rc = err_sys(err, "%s: can't create the folder", c->at.path.data);
	else
		rc = copy_entries(c, dir, out, err);
	closedir(dir);
	return rc;
}

static int copy_entry(struct copy *c, int from, const char *name, int to, const char *to_name, struct err *err)
{
	struct stat st;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "%s: can't find it", c->at.path.data);
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return copy_folder(c, from, name, to, to_name, err);
	case S_IFREG:
		return copy_file(c, from, name, to, to_name, err);
	case S_IFLNK:
		return copy_link(c, from, name, to, to_name, err);
	default:
		return err_set(err, ERR_INPUT, "%s: a device, pipe or socket can't go into the store", c->at.path.data);
	}
}

int store_copy_in(int tmp_fd, int from, const char *name, const char *tmp_name, struct err *err)
{
	struct copy c = { .at = TRAIL_INIT };
	trail_enter(&c.at, name);
	int rc = copy_entry(&c, from, name, tmp_fd, tmp_name, err);
	trail_free(&c.at);
	if (rc < 0) {
		store_full(tmp_fd, err);
		fs_remove_tree(tmp_fd, tmp_name, NULL);
	}
	return rc;
}
