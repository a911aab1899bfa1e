/* What is at a place, and what of that goes into the log. */
#include <sys/statfs.h>

#include "trace/trace.h"

#define PROC_MAGIC 0x9fa0
#define SYSFS_MAGIC 0x62656572

static int is_missing(unsigned met)
{
	return met & MET_MISSING ? ENOENT : met & MET_BLOCKED ? ENOTDIR : 0;
}

/* Calls `step` for the root and every longer part of the path, until it gives something else than 0. */
static int each_part(const struct place *p, int (*step)(const struct place *p, size_t len, void *ctx), void *ctx)
{
	for (size_t i = settings.roots[p->root].len; i <= p->len; i++) {
		int rc = i == p->len || p->path[i] == '/' ? step(p, i, ctx) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static int was_missing(const struct place *p, size_t len, void *ctx)
{
	return is_missing(memo_get(p->path, len));
}

/* The folder that it is in is known to be there, so all above are. */
static bool has_parent(const struct place *p)
{
	size_t len = p->len;
	while (len && p->path[--len] != '/')
		;
	return len >= settings.roots[p->root].len && memo_get(p->path, len) & MET_PARENT;
}

int look_met(const struct place *p)
{
	int error = has_parent(p) ? is_missing(memo_get(p->path, p->len)) : each_part(p, was_missing, NULL);
	if (!error)
		return 0;
	errno = error;
	return -1;
}

struct missing {
	int error;       /* what the kernel gave for the whole */
	size_t file_len; /* a part that is no folder, 0: none so far */
};

/* 0: go on; 1: this part is the one that is missing; -1: see errno; -2: odd. */
static int find_missing(const struct place *p, size_t len, void *ctx)
{
	struct missing *m = ctx;
	struct stat st;
	if (m->file_len)
		return log_missing(p->path, len, MET_BLOCKED) < 0 ? -1 : (errno = ENOTDIR, 1);
	if (memo_get(p->path, len) & MET_PARENT)
		return 0;
	if (len == p->len && m->error == ENOENT)
		return log_missing(p->path, len, MET_MISSING) < 0 ? -1 : (errno = ENOENT, 1);
	struct place part = *p;
	part.path[len] = '\0';
	int fd = sys_open_plain(part.path, O_PATH | O_CLOEXEC);
	if (fd == -ENOENT)
		return log_missing(p->path, len, MET_MISSING) < 0 ? -1 : (errno = ENOENT, 1);
	int rc = fd < 0 ? fd : sys_fstat(fd, &st);
	if (fd >= 0)
		sys_close(fd);
	if (rc < 0)
		return log_odd(p->path, rc == -ELOOP ? "is reached through a link" : "can't be looked at") < 0 ? -1 : -2;
	if (S_ISDIR(st.st_mode))
		memo_add(p->path, len, MET_PARENT);
	else
		m->file_len = len;
	return 0;
}

int look_failed(const struct place *p, int error)
{
	if (error != ENOENT && error != ENOTDIR)
		return log_odd(p->path, error == ELOOP ? "is reached through a link" : "can't be opened");
	if (error == ENOENT && has_parent(p)) {
		if (log_missing(p->path, p->len, MET_MISSING) == 0)
			errno = ENOENT;
		return -1;
	}
	struct missing m = { error, 0 };
	switch (each_part(p, find_missing, &m)) {
	case 0: /* there is something now, and it may be a file that was to be a folder */
		return log_odd(p->path, "changes while it is looked for");
	case -2:
		return 0;
	default:
		return -1;
	}
}

static int odd(int fd, const struct place *p, const char *why)
{
	sys_close(fd);
	return log_odd(p->path, why) < 0 ? -1 : -2;
}

int look_at(const struct place *p, struct stat *st)
{
	if (look_met(p) < 0)
		return -1;
	int fd = sys_open_plain(p->path, O_PATH | O_CLOEXEC);
	int rc = fd < 0 ? fd : sys_fstat(fd, st);
	if (rc < 0)
		return look_failed(p, -rc) < 0 ? -1 : -2;
	if (S_ISREG(st->st_mode)) {
		if (p->slash)
			return odd(fd, p, "is a file where a folder is meant");
		if (p->root == 0 && settings.timed)
			st->st_mtim = (struct timespec){ .tv_sec = settings.time };
		copy_stat(p, st); /* once it has been read it is what was read */
		rc = log_asked(p->path, st);
	} else if (S_ISDIR(st->st_mode)) {
		rc = log_folder(p->path, p->len);
	} else {
		return odd(fd, p, "is no plain file");
	}
	if (rc == 0)
		return fd;
	sys_close(fd);
	return -1;
}

int look_folder(const struct place *p)
{
	struct stat st;
	if (memo_get(p->path, p->len) & MET_FOLDER)
		return 0;
	int fd = look_at(p, &st);
	if (fd >= 0)
		sys_close(fd);
	return fd < 0 ? fd : 0;
}

static bool is_in(const struct place *p, const char *folder)
{
	size_t len = strlen(folder);
	return p->len >= len && memcmp(p->path, folder, len) == 0 && (p->len == len || p->path[len] == '/');
}

int look_outside(const struct place *p)
{
	static const char *const folders[] = { "/proc", "/sys", "/dev" };
	if (is_in(p, "/dev/null") || is_in(p, "/proc/self/exe") || (is_in(p, "/dev/urandom") && program_is("cicc")))
		return 0; /* cicc always asks for a seed, and makes nothing of it that is in its output */
	for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
		if (is_in(p, folders[i]))
			return log_odd(p->path, "is not the same for every compile");
	return is_in(p, settings.folder) ? log_odd(p->path, "is the tracer's own") : 0;
}

int look_opened(int fd, const char *path)
{
	struct statfs fs;
	if (sys(SYS_fstatfs, fd, &fs, 0, 0) == 0 && (fs.f_type == PROC_MAGIC || fs.f_type == SYSFS_MAGIC))
		return log_odd(path, "is not the same for every compile");
	return 0;
}
