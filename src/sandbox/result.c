/* What a build left in its scratch folder, seen from outside after its last process is dead. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "sandbox/sandbox.h"

/* Where the builder's own folders stand in scratch; nothing else of its world can be written. */
static const struct { const char *inside, *scratch; } own[] = {
	{ "/build", "build" }, { "/tmp", "tmp" }, { "/forge/store", "store" }, { "/out", "out" },
};

static char *place_in_scratch(const char *path)
{
	for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
		size_t n = strlen(own[i].inside);
		if (strncmp(path, own[i].inside, n) == 0 && (path[n] == 0 || path[n] == '/'))
			return mem_printf("%s%s", own[i].scratch, path + n);
	}
	return NULL;
}

/* An ordinary user's build may have shut its own output: it is ours, so open it again. */
static int open_shut(int handle, int flags)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/fd/%d", handle);
	int fd = open(path, flags);
	if (fd < 0 && errno == EACCES && chmod(path, 0700) == 0)
		fd = open(path, flags);
	return fd;
}

int sandbox_open_result(const char *scratch, const char *path, bool *missing, struct err *err)
{
	*missing = false;
	_cleanup_free_ char *place = place_in_scratch(path);
	_cleanup_close_ int folder = place ? fs_open_dir(scratch, err) : -1;
	if (!place)
		*missing = true;
	if (folder < 0)
		return -1;
	_cleanup_err_ struct err why = { 0 };
	_cleanup_close_ int handle = fs_open_beneath(folder, place, O_PATH | O_NOFOLLOW, 0, &why);
	if (handle < 0) {
		*missing = why.sys == ENOENT || why.sys == ENOTDIR;
		return *missing ? -1 : err_move(err, &why);
	}
	struct stat st;
	if (fstat(handle, &st) < 0)
		return err_sys(err, "can't look at %s", path);
	if (S_ISLNK(st.st_mode))
		return steal_fd(handle);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return err_set(err, ERR_BUILD, "%s is neither a file, a folder nor a link", path);
	int fd = open_shut(handle, O_RDONLY | O_CLOEXEC | (S_ISDIR(st.st_mode) ? O_DIRECTORY : 0));
	return fd < 0 ? err_sys(err, "can't open %s", path) : fd;
}

int sandbox_scratch_remove(const char *scratch, struct err *err)
{
	_cleanup_free_ char *path = mem_dup(scratch);
	size_t n = strlen(path);
	while (n > 1 && path[n - 1] == '/')
		path[--n] = 0;
	char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	if (!name[0] || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return err_set(err, ERR_FAIL, "%s is no scratch folder", scratch);
	_cleanup_free_ char *parent = !slash ? mem_dup(".") : slash == path ? mem_dup("/") :
		mem_dup_n(path, (size_t)(slash - path));
	_cleanup_close_ int fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_sys(err, "can't open %s", parent);
	return fs_remove_tree(fd, name, err) < 0 ? err_add(err, "scratch folder %s", scratch) : 0;
}
