/* See Documentation/admin-guide/cgroup-v2.rst of the kernel for the files. */
#include "sandbox/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"

#define MOUNTED_AT "/sys/fs/cgroup"
#define TEXT_MAX (256 * 1024)

struct cgroup {
	int home, fd;
	char name[48]; /* below home */
};

static int write_at(int dirfd, const char *name, const char *text)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_WRONLY | O_CLOEXEC);
	size_t len = strlen(text);
	return fd >= 0 && write(fd, text, len) == (ssize_t)len ? 0 : -1;
}

static int write_number_at(int dirfd, const char *name, uint64_t number)
{
	char text[24];
	snprintf(text, sizeof text, "%llu", (unsigned long long)number);
	return write_at(dirfd, name, text);
}

static bool has_word(const char *text, const char *word)
{
	size_t n = strlen(word);
	for (const char *p = text; (p = strstr(p, word)) != NULL; p += n)
		if ((p == text || p[-1] == ' ') && (p[n] == 0 || p[n] == ' ' || p[n] == '\n'))
			return true;
	return false;
}

/* Our place in the one v2 hierarchy: "0::/user.slice/…" of /proc/self/cgroup. */
static int open_own(void)
{
	struct statfs fs;
	_cleanup_buf_ struct buf text = BUF_INIT;
	if (statfs(MOUNTED_AT, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC ||
			fs_read_file(AT_FDCWD, "/proc/self/cgroup", TEXT_MAX, &text, NULL) < 0 || !text.data)
		return -1;
	char *line = strncmp(text.data, "0::/", 4) == 0 ? text.data : strstr(text.data, "\n0::/");
	if (!line)
		return -1;
	line += *line == '\n';
	line[strcspn(line, "\n")] = 0;
	_cleanup_free_ char *path = mem_printf("%s%s", MOUNTED_AT, line + 3);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Is it ours alone?  A cgroup that gives its controllers to its children may hold no process
 * itself, and we move nobody but ourselves. */
static bool only_us(int fd)
{
	char own[24];
	_cleanup_buf_ struct buf pids = BUF_INIT;
	snprintf(own, sizeof own, "%d\n", (int)getpid());
	return fs_read_file(fd, "cgroup.procs", TEXT_MAX, &pids, NULL) == 0 && pids.data && strcmp(pids.data, own) == 0;
}

static int make_home(void)
{
	_cleanup_close_ int fd = open_own();
	_cleanup_buf_ struct buf controllers = BUF_INIT;
	if (fd < 0 || fs_read_file(fd, "cgroup.controllers", TEXT_MAX, &controllers, NULL) < 0 || !controllers.data ||
			!has_word(controllers.data, "memory") || !has_word(controllers.data, "pids") || !only_us(fd) ||
			faccessat(fd, "cgroup.subtree_control", W_OK, AT_EACCESS) < 0)
		return -1;
	if ((mkdirat(fd, "forge", 0755) < 0 && errno != EEXIST) || write_at(fd, "forge/cgroup.procs", "0") < 0)
		return -1;
	if (write_at(fd, "cgroup.subtree_control", "+memory +pids") == 0)
		return steal_fd(fd);
	write_at(fd, "cgroup.procs", "0"); /* back where we were */
	unlinkat(fd, "forge", AT_REMOVEDIR);
	return -1;
}

int cgroup_home(void)
{
	static int home = -1;
	static pid_t asked; /* a fork of forge asks for itself */
	if (asked != getpid()) {
		asked = getpid();
		home = make_home();
	}
	return home;
}

struct cgroup *cgroup_new(int home, uint64_t memory, unsigned processes)
{
	static unsigned count;
	if (home < 0)
		return NULL;
	struct cgroup *c = mem_alloc(sizeof *c);
	c->home = home;
	snprintf(c->name, sizeof c->name, "forge-%d-%u", (int)getpid(), ++count);
	if (mkdirat(home, c->name, 0755) < 0 && errno != EEXIST) { /* left by a killed forge that had our number */
		free(c);
		return NULL;
	}
	c->fd = openat(home, c->name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	bool ok = c->fd >= 0 && write_number_at(c->fd, "pids.max", processes + 1ull) == 0; /* and init */
	if (ok && memory) {
		ok = write_number_at(c->fd, "memory.max", memory) == 0;
		write_at(c->fd, "memory.swap.max", "0");  /* absent without swap */
		write_at(c->fd, "memory.oom.group", "1"); /* all or none; before 4.19 the largest */
	}
	if (ok)
		return c;
	cgroup_free(c);
	return NULL;
}

int cgroup_add(const struct cgroup *c, pid_t pid)
{
	return write_number_at(c->fd, "cgroup.procs", (uint64_t)pid);
}

/* The count behind "key " at a line's start. */
static unsigned long long count_of(int fd, const char *name, const char *key)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	size_t n = strlen(key);
	if (fs_read_file(fd, name, TEXT_MAX, &text, NULL) < 0 || !text.data)
		return 0;
	for (const char *line = text.data; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) == 0 && line[n] == ' ')
			return strtoull(line + n + 1, NULL, 10);
	}
	return 0;
}

struct cgroup_events cgroup_events(const struct cgroup *c)
{
	return (struct cgroup_events){
		.out_of_memory = count_of(c->fd, "memory.events", "oom_kill") > 0,
		.out_of_pids = count_of(c->fd, "pids.events", "max") > 0,
	};
}

void cgroup_free(struct cgroup *c)
{
	if (!c)
		return;
	fs_close_ptr(&c->fd);
	unlinkat(c->home, c->name, AT_REMOVEDIR); /* what is left, its owner removes with forge's own */
	free(c);
}
