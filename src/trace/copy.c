/* Private copies of files that may change: what a compiler reads is what is there afterwards. */
#include "trace/trace.h"

#define COPY_PATH_MAX (sizeof settings.folder + 64)

static uint64_t mix(const struct place *p, uint64_t h)
{
	for (size_t i = 0; i < p->len; i++)
		h = (h ^ (unsigned char)p->path[i]) * 0x100000001b3u;
	return h;
}

static void put_hex(char *to, uint64_t n)
{
	for (int i = 15; i >= 0; i--, n >>= 4)
		to[i] = "0123456789abcdef"[n & 15];
}

/* Two names that met would share a copy; the log says so, and who reads it finds it odd. */
void copy_name(const struct place *p, char name[TRACE_NAME_LENGTH + 1])
{
	put_hex(name, mix(p, 0xcbf29ce484222325u));
	put_hex(name + 16, mix(p, 0x9e3779b97f4a7c15u));
	name[TRACE_NAME_LENGTH] = '\0';
}

static void path_of(const char *between, const char *name, char path[COPY_PATH_MAX])
{
	size_t len = settings.folder_len, n = strlen(between), m = strlen(name);
	memcpy(path, settings.folder, len);
	memcpy(path + len, between, n);
	memcpy(path + len + n, name, m + 1);
}

static int open_copy(const struct place *p, char path[COPY_PATH_MAX], int flags)
{
	char name[TRACE_NAME_LENGTH + 1];
	copy_name(p, name);
	path_of("/" TRACE_COPIES "/", name, path);
	return sys_openat(AT_FDCWD, path, flags, 0);
}

int copy_again(const struct place *p, int flags)
{
	char path[COPY_PATH_MAX];
	int fd = open_copy(p, path, flags & (O_PATH | O_CLOEXEC));
	return fd < 0 ? trace_failed(-fd) : fd;
}

/* A name of its own for every copy in the making. */
static void draft_path(char path[COPY_PATH_MAX])
{
	static unsigned number;
	char name[32];
	uint64_t pid = (uint64_t)sys(SYS_getpid, 0, 0, 0, 0);
	put_hex(name, pid << 32 | __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED));
	name[16] = '\0';
	path_of("/t.", name, path);
}

/* So many bytes as it had when it was opened, or what it still has of them. */
static long copy_bytes(int from, int to, uint64_t left)
{
	char block[65536];
	while (left > 0) {
		size_t want = left < sizeof block ? (size_t)left : sizeof block;
		long got = sys(SYS_read, from, block, want, 0);
		if (got == -EINTR)
			continue;
		if (got <= 0)
			return got;
		for (long done = 0; done < got; ) {
			long n = sys(SYS_write, to, block + done, got - done, 0);
			if (n <= 0 && n != -EINTR)
				return n ? n : -ENOSPC;
			done += n > 0 ? n : 0;
		}
		left -= (uint64_t)got;
	}
	return 0;
}

static long fill(int draft, int from, const struct stat *st)
{
	struct timespec times[2] = { st->st_mtim, st->st_mtim };
	if (settings.timed)
		times[0] = times[1] = (struct timespec){ .tv_sec = settings.time };
	long rc = copy_bytes(from, draft, (uint64_t)st->st_size);
	if (rc == 0)
		rc = sys(SYS_utimensat, draft, NULL, times, 0);
	return rc < 0 ? rc : sys(SYS_lseek, draft, 0, SEEK_SET, 0);
}

int copy_open(const struct place *p, int from, const struct stat *st, int flags)
{
	char final[COPY_PATH_MAX], draft[COPY_PATH_MAX];
	int have = open_copy(p, final, flags & O_CLOEXEC);
	if (have != -ENOENT)
		return have < 0 ? trace_failed(-have) : have;
	draft_path(draft);
	int fd = sys_openat(AT_FDCWD, draft, O_RDWR | O_CREAT | O_EXCL | (flags & O_CLOEXEC),
		0600 | (st->st_mode & 0777));
	if (fd < 0)
		return trace_failed(-fd);
	long rc = fill(fd, from, st);
	if (rc == 0)
		rc = sys6(SYS_renameat2, AT_FDCWD, (long)draft, AT_FDCWD, (long)final, 1 /* RENAME_NOREPLACE */, 0);
	if (rc == 0)
		return fd;
	sys_close(fd);
	sys(SYS_unlink, draft, 0, 0, 0);
	return rc == -EEXIST ? copy_again(p, flags) /* another process was faster */ : trace_failed(-rc);
}
