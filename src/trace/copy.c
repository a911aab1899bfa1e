/* Private copies of files that may change: what a process reads is what is in the log. */
#include <sys/mman.h>

#include "trace/trace.h"

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

/* A file that has these bytes, in memory only: it is made in a moment, and nobody else needs it. */
static int new_file(const struct copy *copy, int flags)
{
	const struct timespec times[2] = { copy->mtime, copy->mtime };
	int fd = (int)sys(SYS_memfd_create, "traced", flags & O_CLOEXEC ? MFD_CLOEXEC : 0, 0, 0);
	if (fd < 0)
		return trace_failed(-fd);
	for (size_t done = 0; done < copy->len; ) {
		long n = sys(SYS_pwrite64, fd, (const char *)copy->bytes + done, copy->len - done, done);
		if (n <= 0 && n != -EINTR) {
			sys_close(fd);
			return trace_failed(n ? -n : ENOSPC);
		}
		done += n > 0 ? (size_t)n : 0;
	}
	long rc = sys(SYS_utimensat, fd, NULL, times, 0);
	if (rc == 0)
		return fd;
	sys_close(fd);
	return trace_failed(-rc);
}

int copy_open(const struct place *p, int from, const struct stat *st, int flags)
{
	struct copy copy = { NULL, 0, st->st_mtim };
	void *bytes = memo_room((size_t)st->st_size);
	long got = bytes ? read_bytes(from, bytes, (size_t)st->st_size) : -ENOMEM;
	if (got < 0)
		return trace_failed(-got);
	copy.bytes = bytes;
	copy.len = (size_t)got;
	if (settings.timed)
		copy.mtime = (struct timespec){ .tv_sec = settings.time };
	/* The log first: what is not in there must not be read. */
	if (log_copy(p->path, &copy) < 0)
		return -1;
	if (!memo_add_copy(p->path, p->len, &copy))
		return trace_failed(ENOMEM);
	return new_file(&copy, flags);
}

int copy_again(const struct place *p, int flags)
{
	struct copy copy = memo_copy(p->path, p->len);
	return copy.bytes ? new_file(&copy, flags) : -2;
}

void copy_stat(const struct place *p, struct stat *st)
{
	struct copy copy = memo_copy(p->path, p->len);
	if (!copy.bytes)
		return;
	st->st_size = (off_t)copy.len;
	st->st_mtim = copy.mtime;
}
