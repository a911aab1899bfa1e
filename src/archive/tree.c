#include "archive/tree_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "archive/name.h"
#include "core/fs.h"
#include "core/mem.h"

static int folder_is_empty(int dirfd, struct err *err)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "can't open the folder to unpack into");
	DIR *d = fdopendir(fd);
	if (!d) {
		close(fd);
		return err_sys(err, "can't read the folder to unpack into");
	}
	const struct dirent *e;
	int rc = 0;
	while (!rc && (e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			rc = err_set(err, ERR_FAIL, "the folder to unpack into is not empty");
	closedir(d);
	return rc;
}

struct tree *tree_open(int dirfd, const struct unpack_options *o, struct err *err)
{
	if (!o->merge && folder_is_empty(dirfd, err))
		return NULL;
	struct tree *t = mem_alloc(sizeof *t);
	t->root = dirfd;
	t->o = *o;
	if (!t->o.limits.bytes)
		t->o.limits.bytes = UNPACK_BYTES_DEFAULT;
	if (!t->o.limits.entries)
		t->o.limits.entries = UNPACK_ENTRIES_DEFAULT;
	t->resolve = RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV |
		(o->root_links ? RESOLVE_IN_ROOT : RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	/* Reading the umask means setting it; forge has one thread. */
	mode_t mask = umask(022);
	umask(mask);
	t->masked = mask & 0755;
	t->parent = t->file = -1;
	return t;
}

void tree_free(struct tree *t)
{
	if (!t)
		return;
	tree_leave(t);
	fs_close_ptr(&t->file);
	inodes_free(&t->made);
	inodes_free(&t->named);
	free(t);
}

void tree_free_ptr(struct tree **t)
{
	tree_free(*t);
	*t = NULL;
}

int tree_fail(const char *name, struct err *err)
{
	int code = errno;
	_cleanup_free_ char *shown = name_show(name);
	errno = code;
	switch (code) {
	case ELOOP:
		return err_set(err, ERR_INPUT, "%s: the name goes through a link", shown);
	case ENOTDIR:
		return err_set(err, ERR_INPUT, "%s: the name goes through what is not a folder", shown);
	case EXDEV:
		return err_set(err, ERR_INPUT, "%s: the name leads out of the folder", shown);
	case ENAMETOOLONG:
		return err_set(err, ERR_INPUT, "%s: the name or target is too long", shown);
	default:
		return err_sys(err, "can't unpack %s", shown);
	}
}

int tree_refuse(const char *name, const char *why, struct err *err)
{
	_cleanup_free_ char *shown = name_show(name);
	return err_set(err, ERR_INPUT, "%s: %s", shown, why);
}

int tree_count(struct tree *t, struct err *err)
{
	if (++t->entries > t->o.limits.entries)
		return err_set(err, ERR_INPUT, "the archive has more than %llu entries",
			(unsigned long long)t->o.limits.entries);
	return 0;
}

int tree_open_in(const struct tree *t, const char *name, int flags)
{
	struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC), .resolve = t->resolve };
	long fd;
	do
		fd = syscall(SYS_openat2, t->root, *name ? name : ".", &how, sizeof how);
	while (fd < 0 && (errno == EINTR || errno == EAGAIN));
	return (int)fd;
}

/* mkdirat with exactly 0755; EEXIST is left to the caller. */
static int make_folder(const struct tree *t, int parent, const char *last)
{
	if (mkdirat(parent, last, 0755))
		return -1;
	return t->masked ? fchmodat(parent, last, 0755, 0) : 0;
}

/* Make what is missing of a folder, component by component; an open descriptor of it. */
static int make_folders(struct tree *t, const char *name, struct err *err)
{
	_cleanup_free_ char *path = mem_dup(name);
	_cleanup_close_ int at = tree_open_in(t, "", O_PATH | O_DIRECTORY);
	for (char *part = path; at >= 0 && part; ) {
		char *slash = strchr(part, '/');
		if (slash)
			*slash = '\0';
		if (make_folder(t, at, part) == 0) {
			if (tree_count(t, err))
				return -1;
		} else if (errno != EEXIST) {
			return tree_fail(name, err);
		}
		int next = tree_open_in(t, path, O_PATH | O_DIRECTORY);
		if (next < 0 && errno == ENOENT)
			return tree_refuse(name, "the name goes through a link that leads nowhere", err);
		fs_close_ptr(&at);
		at = next;
		if (slash)
			*slash = '/';
		part = slash ? slash + 1 : NULL;
	}
	if (at < 0)
		return tree_fail(name, err);
	return steal_fd(at);
}

void tree_leave(struct tree *t)
{
	fs_close_ptr(&t->parent);
	free(steal_ptr(t->parent_name));
}

const char *tree_enter(struct tree *t, const char *name, struct err *err)
{
	const char *slash = strrchr(name, '/');
	size_t n = slash ? (size_t)(slash - name) : 0;
	const char *last = slash ? slash + 1 : name;
	if (t->parent_name && strncmp(t->parent_name, name, n) == 0 && t->parent_name[n] == '\0')
		return last;
	_cleanup_free_ char *folder = mem_dup_n(name, n);
	int fd = tree_open_in(t, folder, O_PATH | O_DIRECTORY);
	if (fd < 0 && errno == ENOENT)
		fd = make_folders(t, folder, err);
	else if (fd < 0)
		tree_fail(name, err);
	if (fd < 0)
		return NULL;
	tree_leave(t);
	t->parent = fd;
	t->parent_name = steal_ptr(folder);
	return last;
}

int tree_folder(struct tree *t, const char *name, struct err *err)
{
	if (tree_count(t, err))
		return -1;
	if (!*name)
		return 0; /* the root itself */
	const char *last = tree_enter(t, name, err);
	if (!last)
		return -1;
	if (make_folder(t, t->parent, last) == 0)
		return 0;
	if (errno != EEXIST)
		return tree_fail(name, err);
	struct stat st;
	if (fstatat(t->parent, last, &st, AT_SYMLINK_NOFOLLOW))
		return tree_fail(name, err);
	if (S_ISDIR(st.st_mode))
		return 0;
	/* A package's folder lib/ where the root has the link lib -> usr/lib: that folder is meant. */
	if (S_ISLNK(st.st_mode) && t->o.root_links) {
		_cleanup_close_ int fd = make_folders(t, name, err);
		return fd < 0 ? -1 : 0;
	}
	return tree_refuse(name, "a folder where something else stands", err);
}

/* After EEXIST: make room if what stands there is a file of ours. */
static int make_room(struct tree *t, const char *last, const char *name, struct err *err)
{
	struct stat st;
	if (fstatat(t->parent, last, &st, AT_SYMLINK_NOFOLLOW))
		return tree_fail(name, err);
	if (!S_ISREG(st.st_mode))
		return tree_refuse(name, "a file where something else stands", err);
	if (!inodes_has(&t->made, st.st_ino))
		return tree_refuse(name, "the file is there already, from another archive", err);
	return unlinkat(t->parent, last, 0) ? tree_fail(name, err) : 0;
}

int tree_file(struct tree *t, const char *name, bool exec, uint64_t size, struct err *err)
{
	if (tree_count(t, err))
		return -1;
	if (size > t->o.limits.bytes - t->bytes)
		return err_set(err, ERR_INPUT, "the unpacked files are larger than %llu bytes",
			(unsigned long long)t->o.limits.bytes);
	const char *last = *name ? tree_enter(t, name, err) : NULL;
	if (!last)
		return *name ? -1 : tree_refuse(name, "a file without a name", err);
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	const mode_t mode = exec ? 0755 : 0644;
	_cleanup_close_ int fd = openat(t->parent, last, flags, mode);
	if (fd < 0 && errno == EEXIST) {
		if (make_room(t, last, name, err))
			return -1;
		fd = openat(t->parent, last, flags, mode);
	}
	struct stat st;
	if (fd < 0 || fstat(fd, &st) || ((t->masked & mode) && fchmod(fd, mode)))
		return tree_fail(name, err);
	if (!t->layered)
		inodes_add(&t->made, st.st_ino);
	t->bytes += size;
	t->file = steal_fd(fd);
	t->file_size = size;
	t->file_at = 0;
	return 0;
}

int tree_write(struct tree *t, uint64_t at, const void *data, size_t len, struct err *err)
{
	if (at < t->file_at || at > t->file_size || len > t->file_size - at)
		return err_set(err, ERR_INPUT, "a file has more bytes than it states");
	if (at > t->file_at && lseek(t->file, (off_t)at, SEEK_SET) < 0)
		return err_sys(err, "can't leave a hole in a file");
	t->file_at = at + len;
	if (fs_write_all(t->file, data, len, err))
		return -1;
	if (t->o.progress)
		t->o.progress(t->o.ctx, t->bytes - (t->file_size - t->file_at));
	return 0;
}

int tree_file_end(struct tree *t, struct err *err)
{
	int fd = steal_fd(t->file);
	int rc = 0;
	if (t->file_at < t->file_size && ftruncate(fd, (off_t)t->file_size))
		rc = err_sys(err, "can't set the size of a file");
	if (close(fd) && !rc)
		rc = err_sys(err, "can't close a file");
	return rc;
}

/* A link from usrmerge where an empty folder stands: the folder was only announced. */
static bool drop_empty_folder(struct tree *t, const char *last)
{
	if (!t->o.root_links || unlinkat(t->parent, last, AT_REMOVEDIR))
		return false;
	return true;
}

int tree_symlink(struct tree *t, const char *name, const char *target, struct err *err)
{
	if (tree_count(t, err))
		return -1;
	if (!*name || !*target)
		return tree_refuse(name, "a link without a name or target", err);
	if (!t->o.root_links && name_check_target(name, target, err)) {
		_cleanup_free_ char *shown = name_show(name);
		return err_add(err, "%s", shown);
	}
	const char *last = tree_enter(t, name, err);
	if (!last)
		return -1;
	if (symlinkat(target, t->parent, last) == 0)
		return 0;
	if (errno == EEXIST && drop_empty_folder(t, last) && symlinkat(target, t->parent, last) == 0)
		return 0;
	if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
		return tree_refuse(name, "a link where something else stands", err);
	return tree_fail(name, err);
}

int tree_hardlink(struct tree *t, const char *name, const char *target, struct err *err)
{
	if (tree_count(t, err))
		return -1;
	if (!*name || !*target)
		return tree_refuse(name, "a hard link without a name or target", err);
	const char *slash = strrchr(target, '/');
	_cleanup_free_ char *folder = mem_dup_n(target, slash ? (size_t)(slash - target) : 0);
	const char *from_last = slash ? slash + 1 : target;
	_cleanup_close_ int from = tree_open_in(t, folder, O_PATH | O_DIRECTORY);
	if (from < 0 && errno != ENOENT)
		return tree_fail(target, err);
	struct stat st;
	if (from < 0 || fstatat(from, from_last, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    (!t->layered && !inodes_has(&t->made, st.st_ino)))
		return tree_refuse(name, "a hard link to what is not an earlier file of this archive", err);
	const char *last = tree_enter(t, name, err);
	if (!last)
		return -1;
	if (linkat(from, from_last, t->parent, last, 0) == 0)
		return 0;
	if (errno == EEXIST)
		return tree_refuse(name, "a hard link where something else stands", err);
	return tree_fail(name, err);
}
