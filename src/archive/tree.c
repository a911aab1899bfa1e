#include "archive/tree.h"

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

#include "archive/inodes.h"
#include "archive/name.h"
#include "core/fs.h"
#include "core/mem.h"

struct tree {
	int root;                    /* the caller's */
	struct unpack_options o;     /* limits filled in */
	uint64_t resolve;            /* for openat2 */
	mode_t masked;               /* permission bits the umask takes that we want */
	uint64_t bytes, entries;
	struct inodes made;          /* regular files of this archive */
	char *parent_name;           /* of parent; NULL: none yet */
	int parent;                  /* the folder used last.  A folder is never removed or replaced
	                                by us, so this can't go stale */
	int file;                    /* the open file, or -1 */
	uint64_t file_size, file_at; /* declared; written or skipped so far */
};

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
	fs_close_ptr(&t->parent);
	fs_close_ptr(&t->file);
	free(t->parent_name);
	inodes_free(&t->made);
	free(t);
}

void tree_free_ptr(struct tree **t)
{
	tree_free(*t);
	*t = NULL;
}

/* An error of the system about a name: hostile input has a plain sentence, the rest is errno's. */
static int fail(const char *name, struct err *err)
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

static int refuse(const char *name, const char *why, struct err *err)
{
	_cleanup_free_ char *shown = name_show(name);
	return err_set(err, ERR_INPUT, "%s: %s", shown, why);
}

static int count_entry(struct tree *t, struct err *err)
{
	if (++t->entries > t->o.limits.entries)
		return err_set(err, ERR_INPUT, "the archive has more than %llu entries",
			(unsigned long long)t->o.limits.entries);
	return 0;
}

/* openat2 from the root by the tree's rules; -1 and errno. */
static int open_in(const struct tree *t, const char *name, int flags)
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
	_cleanup_close_ int at = open_in(t, "", O_PATH | O_DIRECTORY);
	for (char *part = path; at >= 0 && part; ) {
		char *slash = strchr(part, '/');
		if (slash)
			*slash = '\0';
		if (make_folder(t, at, part) == 0) {
			if (count_entry(t, err))
				return -1;
		} else if (errno != EEXIST) {
			return fail(name, err);
		}
		int next = open_in(t, path, O_PATH | O_DIRECTORY);
		if (next < 0 && errno == ENOENT)
			return refuse(name, "the name goes through a link that leads nowhere", err);
		fs_close_ptr(&at);
		at = next;
		if (slash)
			*slash = '/';
		part = slash ? slash + 1 : NULL;
	}
	if (at < 0)
		return fail(name, err);
	return steal_fd(at);
}

/* Point t->parent at the folder of name; the last component, or NULL. */
static const char *enter(struct tree *t, const char *name, struct err *err)
{
	const char *slash = strrchr(name, '/');
	size_t n = slash ? (size_t)(slash - name) : 0;
	const char *last = slash ? slash + 1 : name;
	if (t->parent_name && strncmp(t->parent_name, name, n) == 0 && t->parent_name[n] == '\0')
		return last;
	_cleanup_free_ char *folder = mem_dup_n(name, n);
	int fd = open_in(t, folder, O_PATH | O_DIRECTORY);
	if (fd < 0 && errno == ENOENT)
		fd = make_folders(t, folder, err);
	else if (fd < 0)
		fail(name, err);
	if (fd < 0)
		return NULL;
	fs_close_ptr(&t->parent);
	free(t->parent_name);
	t->parent = fd;
	t->parent_name = steal_ptr(folder);
	return last;
}

int tree_folder(struct tree *t, const char *name, struct err *err)
{
	if (count_entry(t, err))
		return -1;
	if (!*name)
		return 0; /* the root itself */
	const char *last = enter(t, name, err);
	if (!last)
		return -1;
	if (make_folder(t, t->parent, last) == 0)
		return 0;
	if (errno != EEXIST)
		return fail(name, err);
	struct stat st;
	if (fstatat(t->parent, last, &st, AT_SYMLINK_NOFOLLOW))
		return fail(name, err);
	if (S_ISDIR(st.st_mode))
		return 0;
	/* A package's folder lib/ where the root has the link lib -> usr/lib: that folder is meant. */
	if (S_ISLNK(st.st_mode) && t->o.root_links) {
		_cleanup_close_ int fd = make_folders(t, name, err);
		return fd < 0 ? -1 : 0;
	}
	return refuse(name, "a folder where something else stands", err);
}

/* After EEXIST: make room if what stands there is a file of ours. */
static int make_room(struct tree *t, const char *last, const char *name, struct err *err)
{
	struct stat st;
	if (fstatat(t->parent, last, &st, AT_SYMLINK_NOFOLLOW))
		return fail(name, err);
	if (!S_ISREG(st.st_mode))
		return refuse(name, "a file where something else stands", err);
	if (!inodes_has(&t->made, st.st_ino))
		return refuse(name, "the file is there already, from another archive", err);
	return unlinkat(t->parent, last, 0) ? fail(name, err) : 0;
}

int tree_file(struct tree *t, const char *name, bool exec, uint64_t size, struct err *err)
{
	if (count_entry(t, err))
		return -1;
	if (size > t->o.limits.bytes - t->bytes)
		return err_set(err, ERR_INPUT, "the unpacked files are larger than %llu bytes",
			(unsigned long long)t->o.limits.bytes);
	const char *last = *name ? enter(t, name, err) : NULL;
	if (!last)
		return *name ? -1 : refuse(name, "a file without a name", err);
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
		return fail(name, err);
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
	if (count_entry(t, err))
		return -1;
	if (!*name || !*target)
		return refuse(name, "a link without a name or target", err);
	if (!t->o.root_links && name_check_target(name, target, err)) {
		_cleanup_free_ char *shown = name_show(name);
		return err_add(err, "%s", shown);
	}
	const char *last = enter(t, name, err);
	if (!last)
		return -1;
	if (symlinkat(target, t->parent, last) == 0)
		return 0;
	if (errno == EEXIST && drop_empty_folder(t, last) && symlinkat(target, t->parent, last) == 0)
		return 0;
	if (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR)
		return refuse(name, "a link where something else stands", err);
	return fail(name, err);
}

int tree_hardlink(struct tree *t, const char *name, const char *target, struct err *err)
{
	if (count_entry(t, err))
		return -1;
	if (!*name || !*target)
		return refuse(name, "a hard link without a name or target", err);
	const char *slash = strrchr(target, '/');
	_cleanup_free_ char *folder = mem_dup_n(target, slash ? (size_t)(slash - target) : 0);
	const char *from_last = slash ? slash + 1 : target;
	_cleanup_close_ int from = open_in(t, folder, O_PATH | O_DIRECTORY);
	if (from < 0 && errno != ENOENT)
		return fail(target, err);
	struct stat st;
	if (from < 0 || fstatat(from, from_last, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) ||
	    !inodes_has(&t->made, st.st_ino))
		return refuse(name, "a hard link to what is not an earlier file of this archive", err);
	const char *last = enter(t, name, err);
	if (!last)
		return -1;
	if (linkat(from, from_last, t->parent, last, 0) == 0)
		return 0;
	if (errno == EEXIST)
		return refuse(name, "a hard link where something else stands", err);
	return fail(name, err);
}
