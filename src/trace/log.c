/* The records of the log. */
#include <sys/uio.h>

#include "trace/trace.h"

#define HIGH_DESCRIPTOR 900 /* out of the way of programs that count on low numbers */

static int log_fd = -1;

static int open_log(void)
{
	char path[sizeof settings.folder + sizeof TRACE_LOG + 1];
	memcpy(path, settings.folder, settings.folder_len);
	memcpy(path + settings.folder_len, "/" TRACE_LOG, sizeof "/" TRACE_LOG);
	int low = sys_openat(AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (low < 0)
		return low;
	int high = (int)sys(SYS_fcntl, low, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR, 0);
	if (high < 0)
		return low;
	sys_close(low);
	return high;
}

/* The process's descriptor; threads may open one each at first, and one stays. */
static int descriptor(void)
{
	int fd = __atomic_load_n(&log_fd, __ATOMIC_ACQUIRE), none = -1;
	if (fd >= 0)
		return fd;
	fd = open_log();
	if (fd >= 0 && !__atomic_compare_exchange_n(&log_fd, &none, fd, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		sys_close(fd);
		fd = none;
	}
	return fd;
}

struct record {
	char bytes[PATH_MAX + 256];
	size_t len;
};

static void add(struct record *r, const char *text, size_t len)
{
	if (len > sizeof r->bytes - 1 - r->len)
		len = sizeof r->bytes - 1 - r->len; /* never: paths have less than PATH_MAX, the others are short */
	memcpy(r->bytes + r->len, text, len);
	r->len += len;
	r->bytes[r->len++] = '\0';
}

static void add_number(struct record *r, int64_t n)
{
	char digits[24], *at = digits + sizeof digits;
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
	do
		*--at = (char)('0' + left % 10);
	while (left /= 10);
	if (n < 0)
		*--at = '-';
	add(r, at, (size_t)(digits + sizeof digits - at));
}

/* One write, so that records of several processes don't mix. */
static int write_record(const struct record *r, const void *more, size_t len)
{
	const struct iovec parts[2] = { { (void *)r->bytes, r->len }, { (void *)more, len } };
	int fd = descriptor();
	long rc = fd < 0 ? fd : sys(SYS_writev, fd, parts, len ? 2 : 1, 0);
	if (rc == -EBADF) { /* the program closed all that was open */
		__atomic_compare_exchange_n(&log_fd, &fd, -1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
		fd = descriptor();
		rc = fd < 0 ? fd : sys(SYS_writev, fd, parts, len ? 2 : 1, 0);
	}
	return rc == (long)(r->len + len) ? 0 : trace_failed(rc < 0 ? -rc : ENOSPC);
}

static void begin(struct record *r, char kind, const char *path, size_t len)
{
	r->bytes[0] = kind;
	r->len = 1;
	add(r, path, len);
}

static int finish(const struct record *r, const char *path, size_t len, unsigned met)
{
	if (write_record(r, NULL, 0) < 0)
		return -1;
	memo_add(path, len, met);
	return 0;
}

int log_missing(const char *path, size_t len, unsigned met)
{
	struct record r;
	if (memo_get(path, len) & (MET_MISSING | MET_BLOCKED))
		return 0;
	begin(&r, 'm', path, len);
	return finish(&r, path, len, met);
}

int log_folder(const char *path, size_t len)
{
	struct record r;
	if (memo_get(path, len) & MET_FOLDER)
		return 0;
	begin(&r, 'd', path, len);
	return finish(&r, path, len, MET_FOLDER | MET_PARENT);
}

int log_odd(const char *path, const char *why)
{
	struct record r;
	size_t len = strlen(path);
	if (memo_get(path, len) & MET_ODD)
		return 0;
	begin(&r, 'x', path, len);
	add(&r, why, strlen(why));
	return finish(&r, path, len, MET_ODD);
}

static void add_stat(struct record *r, int64_t size, const struct timespec *mtime)
{
	add_number(r, size);
	add_number(r, mtime->tv_sec);
}

/* This is written again and again, as what it tells may change. */
int log_asked(const char *path, const struct stat *st)
{
	struct record r;
	size_t len = strlen(path);
	begin(&r, 's', path, len);
	add_stat(&r, st->st_size, &st->st_mtim);
	return finish(&r, path, len, MET_ASKED);
}

int log_file(const char *path, const struct stat *st)
{
	struct record r;
	size_t len = strlen(path);
	if (memo_get(path, len) & MET_FILE)
		return 0;
	begin(&r, 'f', path, len);
	add_stat(&r, st->st_size, &st->st_mtim);
	return finish(&r, path, len, MET_FILE);
}

int log_copy(const char *path, const struct copy *copy)
{
	struct record r;
	begin(&r, 'c', path, strlen(path));
	add_stat(&r, (int64_t)copy->len, &copy->mtime);
	return write_record(&r, copy->bytes, copy->len);
}
