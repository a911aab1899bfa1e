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
	char joined[3 * PATH_MAX], *p = joined; /* at and prefix are one path, link one more */
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
	stpcpy(p, rest);
	return normalise(joined, path);
}

/* A path on its way into a region. */
struct walk {
	struct world *w;
	char path[PATH_MAX];  /* plain; another one after a link was followed */
	struct region *region;
	const char *rel;      /* within path: its place in the region */
};

/* Enter the folder that the first end bytes of rel name, making it on top where it is missing.
 * 1: it is a link, and path is now what it leads to. */
static int enter(struct walk *k, size_t end)
{
	char prefix[PATH_MAX], link[PATH_MAX], next[PATH_MAX];
	bool on_top;
	memcpy(prefix, k->rel, end);
	prefix[end] = 0;
	int kind = kind_at(k->region, prefix, link, &on_top);
	if (kind == S_IFLNK) {
		const char *rest = k->rel[end] ? k->rel + end + 1 : "";
		if (follow(next, k->region->at, prefix, link, rest) < 0)
			return -1;
		memcpy(k->path, next, strlen(next) + 1);
		return 1;
	}
	if (kind < 0)
		return -1;
	if (kind && kind != S_IFDIR)
		return errno = ENOTDIR, -1;
	if (!on_top && (mkdirat(k->region->top, prefix, 0755) < 0 || give(k->w, k->region, prefix) < 0))
		return -1;
	return 0;
}

/* From the region's top down; the last part is entered only where whole is set. */
static int descend(struct walk *k, bool whole)
{
	for (size_t n = 0;;) {
		size_t end = n + strcspn(k->rel + n, "/");
		if (!k->rel[end] && !whole)
			return 0;
		int rc = enter(k, end);
		if (rc != 0 || !k->rel[end])
			return rc;
		n = end + 1;
	}
}

/* Find the place of at, making the folders above it (whole: and itself). */
static int walk(struct walk *k, struct world *w, const char *at, bool whole)
{
	k->w = w;
	if (at[0] != '/')
		return errno = EINVAL, -1;
	if (normalise(at, k->path) < 0)
		return -1;
	for (int links = 0; links <= LINKS_MAX; links++) {
		k->region = region_of(w, k->path);
		if (!k->region || k->region->top < 0)
			return errno = k->region ? EROFS : EINVAL, -1; /* EINVAL: it is the root itself */
		k->rel = k->path + (k->region->at[1] ? strlen(k->region->at) : 0) + 1;
		int rc = descend(k, whole);
		if (rc <= 0)
			return rc;
	}
	return errno = ELOOP, -1;
}

int place_folder(struct world *w, const char *at)
{
	struct walk k;
	return walk(&k, w, at, true);
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
static int walk_to_leaf(struct walk *k, struct world *w, const char *at)
{
	if (walk(k, w, at, false) < 0)
		return -1;
	return unlinkat(k->region->top, k->rel, 0) < 0 && errno != ENOENT ? -1 : 0;
}

int place_file(struct world *w, const char *at, const char *text)
{
	struct walk k;
	if (walk_to_leaf(&k, w, at) < 0)
		return -1;
	int fd = openat(k.region->top, k.rel, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	int rc = write_whole(fd, text);
	if (close(fd) < 0 || rc < 0)
		return -1;
	return give(w, k.region, k.rel);
}

int place_link(struct world *w, const char *at, const char *target)
{
	struct walk k;
	if (walk_to_leaf(&k, w, at) < 0 || symlinkat(target, k.region->top, k.rel) < 0)
		return -1;
	return give(w, k.region, k.rel);
}

int place_mount_point(struct world *w, const char *at, bool folder)
{
	struct walk k;
	if (folder)
		return place_folder(w, at);
	if (walk(&k, w, at, false) < 0)
		return -1;
	int fd = openat(k.region->top, k.rel, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0444);
	return fd < 0 ? -1 : close(fd);
}
