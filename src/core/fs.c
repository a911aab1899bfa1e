#include "core/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/mem.h"

void fs_close_ptr(int *fd)
{
	int saved = errno;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

int fs_open_beneath(int dirfd, const char *path, int flags, mode_t mode, struct err *err)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags | O_CLOEXEC,
		.mode = flags & (O_CREAT | __O_TMPFILE) ? mode : 0,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, dirfd, path, &how, sizeof how);
	if (fd < 0)
		return err_sys(err, "can't open %s", path);
	return fd;
}

int fs_mkdirs_beneath(int dirfd, const char *path, mode_t mode, struct err *err)
{
	_cleanup_free_ char *copy = mem_dup(path);
	_cleanup_close_ int at = fs_open_beneath(dirfd, ".", O_PATH | O_DIRECTORY, 0, err);
	if (at < 0)
		return -1;
	char *rest = NULL;
	for (char *part = strtok_r(copy, "/", &rest); part; part = strtok_r(NULL, "/", &rest)) {
		if (mkdirat(at, part, mode) < 0 && errno != EEXIST)
			return err_sys(err, "can't make the folder %s", path);
		int next = fs_open_beneath(at, part, O_PATH | O_DIRECTORY, 0, err);
		if (next < 0)
			return -1;
		close(at);
		at = next;
	}
	return 0;
}

int fs_open(const char *path, int flags, mode_t mode, struct err *err)
{
	int fd = open(path, flags | O_CLOEXEC, mode);
	if (fd < 0)
		return err_sys(err, "can't open %s", path);
	return fd;
}

int fs_open_dir(const char *path, struct err *err)
{
	return fs_open(path, O_RDONLY | O_DIRECTORY, 0, err);
}

int fs_mkdirs(const char *path, mode_t mode, struct err *err)
{
	_cleanup_free_ char *copy = mem_dup(path);
	for (char *at = copy + (copy[0] == '/'); *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(copy, mode) < 0 && errno != EEXIST)
			return err_sys(err, "can't make the folder %s", copy);
		*at = '/';
	}
	struct stat st;
	if (mkdir(copy, mode) < 0 && errno != EEXIST)
		return err_sys(err, "can't make the folder %s", copy);
	if (stat(copy, &st) < 0 || !S_ISDIR(st.st_mode))
		return err_set(err, ERR_FAIL, "%s is not a folder", copy);
	return 0;
}

int fs_write_all(int fd, const void *data, size_t len, struct err *err)
{
	const char *at = data;
	while (len) {
		ssize_t n = write(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "can't write");
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int fs_read_full(int fd, void *data, size_t len, struct err *err)
{
	char *at = data;
	while (len) {
		ssize_t n = read(fd, at, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "can't read");
		if (n == 0)
			return err_set(err, ERR_INPUT, "the file ends too early");
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

int fs_pread_full(int fd, void *data, size_t len, off_t offset, struct err *err)
{
	char *at = data;
	while (len) {
		ssize_t n = pread(fd, at, len, offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "can't read");
		if (n == 0)
			return err_set(err, ERR_INPUT, "the file ends too early");
		at += n;
		offset += n;
		len -= (size_t)n;
	}
	return 0;
}

int fs_slurp(int fd, size_t limit, struct buf *out, struct err *err)
{
	size_t start = out->len;
	for (;;) {
		char *at = buf_grow(out, 64 * 1024);
		ssize_t n = read(fd, at, 64 * 1024);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "can't read");
		out->len += (size_t)n;
		out->data[out->len] = '\0';
		if (out->len - start > limit)
			return err_set(err, ERR_INPUT, "longer than %zu bytes", limit);
		if (n == 0)
			return 0;
	}
}

int fs_read_file(int dirfd, const char *path, size_t limit, struct buf *out, struct err *err)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "can't open %s", path);
	if (fs_slurp(fd, limit, out, err) < 0)
		return err_add(err, "%s", path);
	return 0;
}

int fs_write_file(int dirfd, const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
	_cleanup_close_ int fd = openat(dirfd, path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return err_sys(err, "can't create %s", path);
	if (fs_write_all(fd, data, len, err) < 0)
		return err_add(err, "%s", path);
	if (close(steal_fd(fd)) < 0)
		return err_sys(err, "can't write %s", path);
	return 0;
}

/* fsync the folder that holds path, so that a rename in it lasts. */
static int sync_folder_of(int dirfd, const char *path, struct err *err)
{
	const char *slash = strrchr(path, '/');
	_cleanup_free_ char *folder = slash ? mem_dup_n(path, (size_t)(slash - path) + (slash == path))
	                                    : mem_dup(".");
	_cleanup_close_ int fd = openat(dirfd, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || fsync(fd) < 0)
		return err_sys(err, "can't make %s durable", folder);
	return 0;
}

int fs_replace_file(int dirfd, const char *path, const void *data, size_t len, mode_t mode, struct err *err)
{
	_cleanup_free_ char *aside = mem_printf("%s.%d.tmp", path, (int)getpid());
	if (fs_write_file(dirfd, aside, data, len, mode, err) < 0)
		goto failed;
	{
		_cleanup_close_ int fd = openat(dirfd, aside, O_RDONLY | O_CLOEXEC);
		if (fd < 0 || fsync(fd) < 0) {
			err_sys(err, "can't make %s durable", aside);
			goto failed;
		}
	}
	if (renameat(dirfd, aside, dirfd, path) < 0) {
		err_sys(err, "can't replace %s", path);
		goto failed;
	}
	return sync_folder_of(dirfd, path, err);
failed:
	unlinkat(dirfd, aside, 0);
	return -1;
}

static int copy_by_hand(int from, int to, off_t len, struct err *err)
{
	_cleanup_free_ char *block = mem_alloc(256 * 1024);
	while (len != 0) {
		size_t want = len < 0 || len > 256 * 1024 ? 256 * 1024 : (size_t)len;
		ssize_t n = read(from, block, want);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "can't read");
		if (n == 0)
			return len < 0 ? 0 : err_set(err, ERR_INPUT, "the file ends too early");
		if (fs_write_all(to, block, (size_t)n, err) < 0)
			return -1;
		if (len > 0)
			len -= n;
	}
	return 0;
}

int fs_copy_bytes(int from, int to, off_t len, struct err *err)
{
	while (len != 0) {
		size_t want = len < 0 ? (size_t)1 << 30 : (size_t)len;
		ssize_t n = copy_file_range(from, NULL, to, NULL, want, 0);
		if (n < 0 && (errno == EXDEV || errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP ||
				errno == EBADF || errno == ETXTBSY))
			return copy_by_hand(from, to, len, err);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "can't copy");
		if (n == 0) /* the end, or a file system that says 0 for a file it can't copy */
			return copy_by_hand(from, to, len, err);
		if (len > 0)
			len -= n;
	}
	return 0;
}

bool fs_exists(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

char *fs_join(const char *folder, const char *name)
{
	size_t n = strlen(folder);
	return mem_printf("%s%s%s", folder, n && folder[n - 1] == '/' ? "" : "/", name);
}

char *fs_real(const char *path, struct err *err)
{
	char *real = realpath(path, NULL);
	if (!real)
		err_sys(err, "can't find %s", path);
	return real;
}
