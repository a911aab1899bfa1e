/* Folders as a whole: listing, removing, making fresh ones; declared in core/fs.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"

int fs_list(int dirfd, struct str_list *names, struct err *err)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		fs_close_ptr(&fd);
		return err_sys(err, "can't read a folder");
	}
	errno = 0;
	for (struct dirent *e; (e = readdir(dir)) != NULL;)
		if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
			str_list_add(names, e->d_name);
	int failed = errno;
	closedir(dir);
	errno = failed;
	if (failed)
		return err_sys(err, "can't read a folder");
	str_list_sort(names);
	return 0;
}

/* Removes one name if it is anything but a folder with something in it. 1: it is such a folder. */
static int remove_simple(int dirfd, const char *name, struct err *err)
{
	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM && errno != EACCES)
		return err_sys(err, "can't remove %s", name);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	if (errno != ENOTEMPTY && errno != EEXIST && errno != EACCES)
		return err_sys(err, "can't remove %s", name);
	return 1;
}

static int open_for_removal(int dirfd, const char *name, struct err *err)
{
	int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dirfd, name, flags);
	if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, 0700, 0) == 0)
		fd = openat(dirfd, name, flags);
	if (fd < 0)
		return err_sys(err, "can't remove %s", name);
	struct stat st;
	if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
		fchmod(fd, 0700); /* refused: the removal below says so */
	return fd;
}

/* One folder's entries at a time, so that neither depth nor width costs descriptors or stack:
 * a folder that can't be emptied directly is moved up to the root of the removal. */
static int empty_folder(int rootfd, int dirfd, uint64_t *counter, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fs_list(dirfd, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		int rc = remove_simple(dirfd, names.items[i], err);
		if (rc < 0)
			return -1;
		if (rc == 0 || rootfd == dirfd)
			continue;
		_cleanup_free_ char *moved = mem_printf(".forge-removed-%llu", (unsigned long long)(*counter)++);
		_cleanup_close_ int sub = open_for_removal(dirfd, names.items[i], err); /* makes it movable */
		if (sub < 0)
			return -1;
		if (renameat(dirfd, names.items[i], rootfd, moved) < 0)
			return err_sys(err, "can't remove %s", names.items[i]);
	}
	return 0;
}

static int remove_below(int rootfd, struct err *err)
{
	uint64_t counter; /* names that what is removed can't have guessed */
	if (getrandom(&counter, sizeof counter, 0) != sizeof counter)
		return err_sys(err, "can't get random bytes");
	for (;;) {
		if (empty_folder(rootfd, rootfd, &counter, err) < 0)
			return -1;
		_cleanup_str_list_ struct str_list left = STR_LIST_INIT;
		if (fs_list(rootfd, &left, err) < 0)
			return -1;
		if (left.count == 0)
			return 0;
		for (size_t i = 0; i < left.count; i++) {
			_cleanup_close_ int sub = open_for_removal(rootfd, left.items[i], err);
			if (sub < 0 || empty_folder(rootfd, sub, &counter, err) < 0)
				return -1;
		}
	}
}

int fs_remove_tree(int dirfd, const char *name, struct err *err)
{
	int rc = remove_simple(dirfd, name, err);
	if (rc <= 0)
		return rc;
	_cleanup_close_ int fd = open_for_removal(dirfd, name, err);
	if (fd < 0 || remove_below(fd, err) < 0)
		return -1;
	if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT)
		return err_sys(err, "can't remove %s", name);
	return 0;
}

int fs_temp_dir(int dirfd, const char *prefix, char **name, struct err *err)
{
	for (int tries = 0; tries < 100; tries++) {
		uint64_t random;
		if (getrandom(&random, sizeof random, 0) != sizeof random)
			return err_sys(err, "can't get random bytes");
		char *candidate = mem_printf("%s.%012llx", prefix, (unsigned long long)(random & 0xffffffffffffULL));
		if (mkdirat(dirfd, candidate, 0700) == 0) {
			*name = candidate;
			return 0;
		}
		int failed = errno;
		free(candidate);
		errno = failed;
		if (failed != EEXIST)
			break;
	}
	return err_sys(err, "can't make a folder %s.*", prefix);
}
