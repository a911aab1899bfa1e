/* Where an object names its own path.  Only walked once a scan has found that it does. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "store/internal.h"
#include "store/scan.h"
#include "store/trail.h"

struct search {
	const char *digest;
	struct trail at;
	uint64_t offset;
	const char *where; /* NULL until found: "", or the part that is not a file's bytes */
};

static int search_file(struct search *w, int dirfd, const char *name, struct err *err)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return err_sys(err, "%s: can't open it", w->at.path.data);
	_cleanup_scan_ struct scan scan = SCAN_INIT;
	scan_add(&scan, w->digest);
	_cleanup_free_ char *block = mem_alloc(256 * 1024);
	ssize_t n;
	while (!scan.digests[0].found && (n = read(fd, block, 256 * 1024)) != 0) {
		if (n < 0 && errno != EINTR)
			return err_sys(err, "%s: can't read it", w->at.path.data);
		if (n > 0)
			scan_feed(&scan, block, (size_t)n);
	}
	if (scan.digests[0].found) {
		w->where = "";
		w->offset = scan.digests[0].at;
	}
	return 0;
}

static int search_link(struct search *w, int dirfd, const char *name, struct err *err)
{
	char target[PATH_MAX + 1];
	ssize_t n = readlinkat(dirfd, name, target, PATH_MAX);
	if (n < 0)
		return err_sys(err, "%s: can't read the link", w->at.path.data);
	target[n] = '\0';
	const char *hit = memmem(target, (size_t)n, w->digest, STORE_PATH_DIGEST);
	if (hit) {
		w->where = "the target of the link ";
		w->offset = (uint64_t)(hit - target);
	}
	return 0;
}

static int search_entry(struct search *w, int dirfd, const char *name, struct err *err);

static int search_folder(struct search *w, int dirfd, const char *name, struct err *err)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fd < 0)
		return err_sys(err, "%s: can't open it", w->at.path.data);
	if (fs_list(fd, &names, err) < 0)
		return err_add(err, "%s", w->at.path.data);
	for (size_t i = 0; i < names.count && !w->where; i++) {
		size_t mark = trail_enter(&w->at, names.items[i]);
		const char *hit = memmem(names.items[i], strlen(names.items[i]), w->digest, STORE_PATH_DIGEST);
		if (hit) {
			w->where = "the name of ";
			w->offset = (uint64_t)(hit - names.items[i]);
			return 0;
		}
		if (search_entry(w, fd, names.items[i], err) < 0)
			return -1;
		if (!w->where)
			trail_leave(&w->at, mark);
	}
	return 0;
}

static int search_entry(struct search *w, int dirfd, const char *name, struct err *err)
{
	struct stat st;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "%s: can't find it", w->at.path.data);
	if (S_ISDIR(st.st_mode))
		return search_folder(w, dirfd, name, err);
	if (S_ISLNK(st.st_mode))
		return search_link(w, dirfd, name, err);
	return search_file(w, dirfd, name, err);
}

int own_path_refuse(int dirfd, const char *name, const char *self, struct err *err)
{
	struct search w = { .digest = store_path_base(self), .at = TRAIL_INIT };
	/* The root is shown by the name it was built as, not by its name in tmp. */
	trail_enter(&w.at, w.digest + STORE_PATH_DIGEST + 1);
	int rc = search_entry(&w, dirfd, name, err);
	if (rc == 0)
		rc = err_set(err, ERR_BUILD, "the output contains its own path %s, so it can't be moved: at byte %llu of %s%s",
			self, (unsigned long long)w.offset, w.where ? w.where : "", w.at.path.data);
	trail_free(&w.at);
	return rc;
}
