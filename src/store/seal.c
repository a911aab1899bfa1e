/*
 * What makes a tree an object: only files, folders and links, modes 0444 and 0555, mtime 1.  The tree is
 * one that forge made itself in store/tmp, which nobody else writes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "store/internal.h"
#include "store/trail.h"

/* Access times are no part of an object. */
static const struct timespec epoch[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = 1 } };

static bool is_epoch(const struct stat *st)
{
	return st->st_mtim.tv_sec == 1 && st->st_mtim.tv_nsec == 0;
}

int seal_file(int fd, bool executable, struct err *err)
{
	if (fchmod(fd, executable ? 0555 : 0444) < 0 || futimens(fd, epoch) < 0)
		return err_sys(err, "can't set mode and time");
	return 0;
}

static int set_root(int dirfd, const char *name, mode_t mode, struct err *err)
{
	struct stat st;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "can't find %s", name);
	if (!S_ISDIR(st.st_mode))
		return 0;
	if (((st.st_mode & 07777) != mode && fchmodat(dirfd, name, mode, 0) < 0) ||
	    (!is_epoch(&st) && utimensat(dirfd, name, epoch, AT_SYMLINK_NOFOLLOW) < 0))
		return err_sys(err, "can't set mode and time of %s", name);
	return 0;
}

int seal_root(int dirfd, const char *name, struct err *err)
{
	return set_root(dirfd, name, 0555, err);
}

int unseal_root(int dirfd, const char *name, struct err *err)
{
	return set_root(dirfd, name, 0755, err);
}

static int seal_entry(struct trail *at, int dirfd, const char *name, struct err *err);

static int seal_entries(struct trail *at, DIR *dir, struct err *err)
{
	errno = 0;
	for (struct dirent *e; (e = readdir(dir)) != NULL; errno = 0) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		size_t mark = trail_enter(at, e->d_name);
		if (seal_entry(at, dirfd(dir), e->d_name, err) < 0)
			return -1;
		trail_leave(at, mark);
	}
	return errno ? err_sys(err, "%s: can't read the folder", at->path.data) : 0;
}

static int seal_folder(struct trail *at, int parent, const char *name, mode_t now, struct err *err)
{
	if (at->depth > TREE_DEPTH_MAX)
		return err_set(err, ERR_INPUT, "%.200s…: folders are nested deeper than %d", at->path.data,
			TREE_DEPTH_MAX);
	if ((now & 0700) != 0700 && fchmodat(parent, name, 0700, 0) < 0)
		return err_sys(err, "%s: can't set its mode", at->path.data);
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		fs_close_ptr(&fd);
		return err_sys(err, "%s: can't open the folder", at->path.data);
	}
	int rc = seal_entries(at, dir, err);
	if (rc == 0 && (fchmod(fd, at->depth == 1 ? 0755 : 0555) < 0 || futimens(fd, epoch) < 0))
		rc = err_sys(err, "%s: can't set mode and time", at->path.data);
	closedir(dir);
	return rc;
}

static int seal_entry(struct trail *at, int parent, const char *name, struct err *err)
{
	struct stat st;
	if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "%s: can't find it", at->path.data);
	if (S_ISDIR(st.st_mode))
		return seal_folder(at, parent, name, st.st_mode, err);
	if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
		return err_set(err, ERR_INPUT, "%s: neither a file nor a folder nor a link", at->path.data);
	mode_t mode = st.st_mode & 0100 ? 0555 : 0444;
	/* A link's mode can't be set and means nothing. */
	if ((S_ISREG(st.st_mode) && (st.st_mode & 07777) != mode && fchmodat(parent, name, mode, 0) < 0) ||
	    (!is_epoch(&st) && utimensat(parent, name, epoch, AT_SYMLINK_NOFOLLOW) < 0))
		return err_sys(err, "%s: can't set mode and time", at->path.data);
	return 0;
}

int seal_tree(int dirfd, const char *name, struct err *err)
{
	_cleanup_trail_ struct trail at = TRAIL_INIT;
	trail_enter(&at, name);
	return seal_entry(&at, dirfd, name, err);
}
