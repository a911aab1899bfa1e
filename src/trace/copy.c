/* Private copies of files that may change: what a process reads is what is in the log. */
#include <sys/mman.h>

#include "trace/trace.h"

/* A file that is in memory only, as it is made in a moment and nobody else needs it.  Its bytes stay mapped. */
static int new_file(size_t len, int flags, void **bytes)
{
	int fd = (int)sys(SYS_memfd_create, "traced", flags & O_CLOEXEC ? MFD_CLOEXEC : 0, 0, 0);
	if (fd < 0)
		return fd;
	long rc = len ? sys(SYS_ftruncate, fd, len, 0, 0) : 0;
	*bytes = "";
	if (rc == 0 && len) {
		rc = sys6(SYS_mmap, 0, (long)len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		*bytes = (void *)rc;
		rc = rc < 0 && rc > -4096 ? rc : 0;
	}
	if (rc == 0)
		return fd;
	sys_close(fd);
	return (int)rc;
}

/* So many bytes as it had when it was opened, or what it still has of them; their number. */
static long read_bytes(int from, char *to, size_t len)
{
	size_t done = 0;
	while (done < len) {
		long n = sys(SYS_read, from, to + done, len - done, 0);
		if (n == -EINTR)
			continue;
		if (n < 0)
			return n;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (long)done;
}

static long set_time(int fd, const struct timespec *mtime)
{
	const struct timespec times[2] = { *mtime, *mtime };
	return sys(SYS_utimensat, fd, NULL, times, 0);
}

/* The log first: what is not in there must not be read. */
static long fill(const struct place *p, int fd, int from, struct copy *copy)
{
	size_t room = copy->len;
	long got = read_bytes(from, (char *)copy->bytes, room);
	if (got < 0)
		return got;
	copy->len = (size_t)got;
	long rc = copy->len < room ? sys(SYS_ftruncate, fd, copy->len, 0, 0) : 0;
	if (rc == 0)
		rc = set_time(fd, &copy->mtime);
	if (rc == 0)
		rc = log_copy(p->path, copy) < 0 ? -errno : 0;
	return rc == 0 && !memo_add_copy(p->path, p->len, copy) ? -ENOMEM : rc;
}

int copy_open(const struct place *p, int from, const struct stat *st, int flags)
{
	struct copy copy = { NULL, (size_t)st->st_size, st->st_mtim };
	void *bytes;
	if (settings.timed)
		copy.mtime = (struct timespec){ .tv_sec = settings.time };
	int fd = new_file(copy.len, flags, &bytes);
	if (fd < 0)
		return trace_failed(-fd);
	copy.bytes = bytes;
	long rc = fill(p, fd, from, &copy);
	if (rc == 0)
		return fd;
	sys_close(fd);
	return trace_failed(-rc);
}

int copy_again(const struct place *p, int flags)
{
	struct copy copy = memo_copy(p->path, p->len);
	void *bytes;
	if (!copy.bytes)
		return -2;
	int fd = new_file(copy.len, flags, &bytes);
	if (fd < 0)
		return trace_failed(-fd);
	if (copy.len) {
		memcpy(bytes, copy.bytes, copy.len);
		sys(SYS_munmap, bytes, copy.len, 0, 0);
	}
	long rc = set_time(fd, &copy.mtime);
	if (rc == 0)
		return fd;
	sys_close(fd);
	return trace_failed(-rc);
}

void copy_stat(const struct place *p, struct stat *st)
{
	struct copy copy = memo_copy(p->path, p->len);
	if (!copy.bytes)
		return;
	st->st_size = (off_t)copy.len;
	st->st_mtim = copy.mtime;
}
