/* From the words of a call to a path: absolute, without "." and "..". */
#include "trace/trace.h"

/* Where descriptor fd leads; the length, or -1. */
long place_of_fd(int fd, char *to, size_t room)
{
	char link[40] = "/proc/self/fd/", digits[12], *at = digits + sizeof digits;
	unsigned n = (unsigned)fd;
	size_t head = strlen(link);
	do
		*--at = (char)('0' + n % 10);
	while (n /= 10);
	memcpy(link + head, at, (size_t)(digits + sizeof digits - at));
	link[head + (size_t)(digits + sizeof digits - at)] = '\0';
	long len = sys(SYS_readlink, link, to, room - 1, 0);
	if (len <= 0 || to[0] != '/' || len >= (long)room - 1)
		return -1;
	to[len] = '\0';
	return len;
}

/* The folder that a relative path begins in. */
static bool begin_in(int dirfd, struct place *p)
{
	long len = dirfd == AT_FDCWD ? sys(SYS_getcwd, p->path, sizeof p->path, 0, 0) - 1 :
		place_of_fd(dirfd, p->path, sizeof p->path);
	if (len <= 0 || p->path[0] != '/')
		return false;
	p->len = len == 1 ? 0 : (size_t)len;
	return true;
}

static bool push(struct place *p, const char *part, size_t len)
{
	if (len + 2 > sizeof p->path - p->len)
		return false;
	p->path[p->len++] = '/';
	memcpy(p->path + p->len, part, len);
	p->len += len;
	p->path[p->len] = '\0';
	return true;
}

/* Up from what the path names so far.  Below a root no way leads over a link, so there the text tells; elsewhere
 * the kernel does. */
static enum where climb(struct place *p)
{
	p->path[p->len] = '\0';
	p->root = settings_root(p->path, p->len);
	p->slash = true;
	int looked = p->root < 0 ? 0 : look_folder(p);
	if (looked < 0)
		return looked == -1 ? PLACE_FAILS : PLACE_OTHER;
	if (p->root < 0 && p->len) {
		int fd = sys_openat(AT_FDCWD, p->path, O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
		if (fd < 0) {
			errno = -fd;
			return PLACE_FAILS;
		}
		long len = place_of_fd(fd, p->path, sizeof p->path);
		sys_close(fd);
		if (len < 0)
			return PLACE_OTHER;
		p->len = len == 1 ? 0 : (size_t)len;
		p->root = settings_root(p->path, p->len);
		if (p->root >= 0 && log_odd(p->path, "is reached through a link") < 0)
			return PLACE_FAILS;
	}
	while (p->len && p->path[--p->len] != '/')
		;
	p->path[p->len] = '\0';
	return PLACE_BELOW;
}

static enum where too_long(const struct place *p)
{
	if (log_odd(p->len ? p->path : "/", "leads to a path that is too long") < 0)
		return PLACE_FAILS;
	return PLACE_OTHER;
}

enum where place_find(int dirfd, const char *path, struct place *p)
{
	if (!path || !*path)
		return PLACE_OTHER;
	p->len = 0;
	p->path[0] = '\0';
	if (path[0] != '/' && !begin_in(dirfd, p))
		return PLACE_OTHER;
	bool slash = false;
	for (const char *part = path; *part; ) {
		while (*part == '/')
			part++;
		const char *end = part;
		while (*end && *end != '/')
			end++;
		size_t len = (size_t)(end - part);
		bool up = len == 2 && part[0] == '.' && part[1] == '.', here = len == 0 || (len == 1 && *part == '.');
		enum where climbed = up ? climb(p) : PLACE_BELOW;
		if (climbed != PLACE_BELOW)
			return climbed;
		if (!up && !here && !push(p, part, len))
			return too_long(p);
		slash = up || here || *end == '/';
		part = end;
	}
	if (p->len == 0)
		memcpy(p->path, "/", sizeof "/");
	p->len = strlen(p->path);
	p->slash = slash;
	p->root = settings_root(p->path, p->len);
	return p->root < 0 ? PLACE_OUTSIDE : PLACE_BELOW;
}
