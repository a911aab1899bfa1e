/* Files, links and mount points in the layers on top, before anything is mounted. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/world.h"

#define LINKS_MAX 40 /* as the kernel's own limit */

/* The innermost region that path lies strictly below. */
static struct region *region_of(struct world *w, const char *path)
{
	struct region *best = NULL;
	size_t longest = 0;
	for (size_t i = 0; i < w->count; i++) {
		size_t n = strlen(w->regions[i].at);
		n = n == 1 ? 0 : n; /* "/" */
		if (strncmp(path, w->regions[i].at, n) == 0 && path[n] == '/' && path[n + 1] && (!best || n > longest)) {
			best = &w->regions[i];
			longest = n;
		}
	}
	return best;
}

/* Make an absolute path plain: no empty parts, "." or "..".  in and out may not overlap. */
static int normalise(const char *in, char *out)
{
	size_t n = 0;
	while (*in) {
		size_t part = strcspn(in, "/");
		if (part == 2 && in[0] == '.' && in[1] == '.') {
			while (n > 0 && out[--n] != '/')
				;
		} else if (part > 0 && !(part == 1 && in[0] == '.')) {
			if (n + part + 2 > PATH_MAX)
				return errno = ENAMETOOLONG, -1;
			out[n++] = '/';
			memcpy(out + n, in, part);
			n += part;
		}
		in += part + (in[part] == '/');
	}
	out[n] = 0;
	return 0;
}

/* What stands at rel in the layers: S_IFDIR, S_IFLNK (its target in link), another type,
 * or 0 for nothing.  A layer's link or file on the way hides the layers below it. */
static int kind_below(const struct region *r, const char *rel, char *link)
{
	struct open_how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS };
	for (size_t i = 0; i < r->layer_count; i++) {
		int fd = (int)syscall(SYS_openat2, r->layers[i], rel, &how, sizeof how);
		if (fd < 0 && errno == ENOENT)
			continue;
		if (fd < 0)
			return errno == ELOOP || errno == ENOTDIR ? 0 : -1;
		struct stat st;
		int kind = fstat(fd, &st) < 0 ? -1 : (int)(st.st_mode & S_IFMT);
		if (kind == S_IFLNK) {
			ssize_t n = readlinkat(fd, "", link, PATH_MAX - 1);
			link[n < 0 ? 0 : n] = 0;
			kind = n < 0 ? -1 : kind;
		}
		close(fd);
		return kind;
	}
	return 0;
}

static int kind_at(const struct region *r, const char *rel, char *link, bool *on_top)
{
	struct stat st;
	*on_top = fstatat(r->top, rel, &st, AT_SYMLINK_NOFOLLOW) == 0;
	if (!*on_top)
		return errno == ENOENT ? kind_below(r, rel, link) : -1;
	if (S_ISLNK(st.st_mode)) {
		ssize_t n = readlinkat(r->top, rel, link, PATH_MAX - 1);
		if (n < 0)
			return -1;
		link[n] = 0;
	}
	return (int)(st.st_mode & S_IFMT);
}

static int give(const struct world *w, const struct region *r, const char *rel)
{
	if (!r->writable || !w->plan->own_id)
		return 0;
	return fchownat(r->top, rel, SANDBOX_UID, SANDBOX_UID, AT_SYMLINK_NOFOLLOW);
}

/* path := what the link at prefix leads to, with rest behind it. */
static int follow(char *path, const char *at, const char *prefix, const char *link, const char *rest)
{
	char joined[3 * PATH_MAX], *p = joined;
	if (link[0] != '/') {
		const char *slash = strrchr(prefix, '/');
		p = stpcpy(p, at);
		*p++ = '/';
		p = mempcpy(p, prefix, slash ? (size_t)(slash - prefix) : 0);
	}
	*p++ = '/';
	p = stpcpy(p, link);
	*p++ = '/';
	if (strlen(rest) + (size_t)(p - joined) >= sizeof joined)
		return errno = ENAMETOOLONG, -1;
	strcpy(p, rest);
	return normalise(joined, path);
}

/*
 * Walk path, making the folders that are missing on top; the last part is made only where
 * whole is set.  *rel points into path: its place in the region.  A link restarts the walk.
 */
static struct region *walk(struct world *w, const char *at, bool whole, char *path, const char **rel)
{
	char prefix[PATH_MAX], link[PATH_MAX];
	if (at[0] != '/' || normalise(at, path) < 0)
		return errno = at[0] == '/' ? ENAMETOOLONG : EINVAL, NULL;
	for (int links = 0; links <= LINKS_MAX; links++) {
		struct region *r = region_of(w, path);
		if (!r || r->top < 0)
			return errno = r ? EROFS : EINVAL, NULL;
		*rel = path + (r->at[1] ? strlen(r->at) : 0) + 1;
		size_t n = 0;
		for (;;) {
			const char *rest = strchr(*rel + n, '/');
			if (!rest && !whole)
				return r;
			size_t end = rest ? (size_t)(rest - *rel) : strlen(*rel);
			memcpy(prefix, *rel, end);
			prefix[end] = 0;
			bool on_top;
			int kind = kind_at(r, prefix, link, &on_top);
			if (kind == S_IFLNK) {
				char next[PATH_MAX];
				if (follow(next, r->at, prefix, link, rest ? rest + 1 : "") < 0)
					return NULL;
				strcpy(path, next);
				break;
			}
			if (kind < 0 || (kind && kind != S_IFDIR))
				return errno = kind < 0 ? errno : ENOTDIR, NULL;
			if (!on_top && (mkdirat(r->top, prefix, 0755) < 0 || give(w, r, prefix) < 0))
				return NULL;
			if (!rest)
				return r;
			n = end + 1;
		}
		if (!path[0])
			return errno = EINVAL, NULL; /* a link to the root itself */
	}
	return errno = ELOOP, NULL;
}

int place_folder(struct world *w, const char *at)
{
	char path[PATH_MAX];
	const char *rel;
	return walk(w, at, true, path, &rel) ? 0 : -1;
}

static int write_whole(int fd, const char *text)
{
	size_t left = strlen(text);
	while (left > 0) {
		ssize_t n = write(fd, text, left);
		if (n < 0 && errno != EINTR)
			return -1;
		text += n > 0 ? n : 0;
		left -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

/* A later file stands in for an earlier one of the same name. */
static struct region *walk_to_leaf(struct world *w, const char *at, char *path, const char **rel)
{
	struct region *r = walk(w, at, false, path, rel);
	if (r && unlinkat(r->top, *rel, 0) < 0 && errno != ENOENT)
		return NULL;
	return r;
}

int place_file(struct world *w, const char *at, const char *text)
{
	char path[PATH_MAX];
	const char *rel;
	struct region *r = walk_to_leaf(w, at, path, &rel);
	int fd = r ? openat(r->top, rel, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644) : -1;
	if (fd < 0)
		return -1;
	int rc = write_whole(fd, text);
	if (close(fd) < 0 || rc < 0)
		return -1;
	return give(w, r, rel);
}

int place_link(struct world *w, const char *at, const char *target)
{
	char path[PATH_MAX];
	const char *rel;
	struct region *r = walk_to_leaf(w, at, path, &rel);
	if (!r || symlinkat(target, r->top, rel) < 0)
		return -1;
	return give(w, r, rel);
}

int place_mount_point(struct world *w, const char *at, bool folder)
{
	char path[PATH_MAX];
	const char *rel;
	if (folder)
		return place_folder(w, at);
	struct region *r = walk(w, at, false, path, &rel);
	int fd = r ? openat(r->top, rel, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0444) : -1;
	return fd < 0 ? -1 : close(fd);
}
