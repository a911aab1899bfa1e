/*
 * What the tree uses, read in pid 1 from its own /proc, where only the build's processes are.
 * Resident set sizes count pages that forked processes share more than once, so the exact
 * form (proportional sizes, which makes the kernel walk page tables) is there for a second look.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox/plan.h"

/* The number behind "Key:" at a line's start, else 0. */
static uint64_t field(const char *text, const char *key)
{
	size_t n = strlen(key);
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ':')
			return strtoull(line + n + 1, NULL, 10);
	}
	return 0;
}

static bool read_text(int procfd, const char *pid, const char *name, char *text, size_t cap)
{
	char path[64], *p = stpcpy(path, pid);
	*p++ = '/';
	stpcpy(p, name);
	int fd = openat(procfd, path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, cap - 1);
	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = 0;
	return n > 0;
}

struct sum {
	uint64_t private_kib, shared_kib;
	unsigned tasks;
};

static void add_process(struct sum *sum, int procfd, const char *pid, bool exact)
{
	char text[4096];
	if (!read_text(procfd, pid, "status", text, sizeof text))
		return; /* gone */
	unsigned tasks = (unsigned)field(text, "Threads");
	sum->tasks += tasks ? tasks : 1;
	uint64_t anon = field(text, "RssAnon"), swap = field(text, "VmSwap"), shared = field(text, "RssShmem");
	if (exact && anon > 0 && read_text(procfd, pid, "smaps_rollup", text, sizeof text)) {
		anon = field(text, "Pss_Anon");
		shared = field(text, "Pss_Shmem");
		swap = field(text, "SwapPss");
	}
	sum->private_kib += anon + swap;
	sum->shared_kib += shared;
}

struct entry { /* struct linux_dirent64 */
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

struct usage usage_sample(int procfd, int shmfd, bool exact)
{
	struct sum sum = { 0 };
	_Alignas(struct entry) char block[8192];
	if (lseek(procfd, 0, SEEK_SET) < 0)
		return (struct usage){ 0 };
	for (long n; (n = syscall(SYS_getdents64, procfd, block, sizeof block)) > 0;) {
		for (long at = 0; at < n;) {
			const struct entry *e = (const void *)(block + at);
			at += e->len;
			if (e->name[0] >= '1' && e->name[0] <= '9' && strcmp(e->name, "1") != 0)
				add_process(&sum, procfd, e->name, exact);
		}
	}
	/* Files in /dev/shm are memory whether mapped or not. */
	struct statfs shm;
	uint64_t files = shmfd >= 0 && fstatfs(shmfd, &shm) == 0 ?
		(uint64_t)(shm.f_blocks - shm.f_bfree) * (uint64_t)shm.f_bsize / 1024 : 0;
	uint64_t shared = sum.shared_kib > files ? sum.shared_kib : files;
	return (struct usage){ (sum.private_kib + shared) * 1024, sum.tasks };
}
