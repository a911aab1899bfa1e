#include "drv/nar_dump.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/list.h"
#include "core/mem.h"
#include "drv/nar_names.h"

#define BLOCK ((size_t)256 << 10)
#define LARGE ((off_t)8 << 20) /* the kernel is told that a file of this size is read once, in order */

struct dump {
	struct nar_writer *nar;
	char *block;     /* BLOCK bytes */
	struct buf path; /* of the node at work, for the error */
};

/* The names of a folder in one piece; a name with what readdir knows of its type. */
struct member {
	size_t at; /* into names */
	unsigned char type;
};

struct listing {
	struct buf names;
	LIST(struct member) members;
};

static void listing_free(struct listing *l)
{
	buf_free(&l->names);
	list_free(&l->members);
}

static int by_name(const void *a, const void *b, void *names)
{
	const char *text = names;
	return strcmp(text + ((const struct member *)a)->at, text + ((const struct member *)b)->at);
}

/* fd was just opened, and stays the caller's; its reading position moves. */
static int list_folder(int fd, struct listing *l, struct err *err)
{
	_cleanup_close_ int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	if (!dir)
		return err_sys(err, "can't list a folder");
	copy = -1; /* closedir closes it */
	struct dirent *e;
	while (errno = 0, (e = readdir(dir))) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		*list_push(&l->members) = (struct member){ l->names.len, e->d_type };
		buf_add(&l->names, e->d_name, strlen(e->d_name) + 1);
	}
	int rc = errno ? err_sys(err, "can't list a folder") : 0;
	closedir(dir);
	if (l->members.count > 1)
		qsort_r(l->members.items, l->members.count, sizeof *l->members.items, by_name, l->names.data);
	return rc;
}

static int dump_link(struct dump *d, int dirfd, const char *name, struct err *err)
{
	char target[PATH_MAX + 1];
	ssize_t n = readlinkat(dirfd, name, target, sizeof target);
	if (n < 0)
		return err_sys(err, "can't read the link");
	if ((size_t)n == sizeof target)
		return err_set(err, ERR_INPUT, "the link's target is longer than %d bytes", PATH_MAX);
	target[n] = '\0';
	return nar_link(d->nar, target, err);
}

static int dump_contents(struct dump *d, int fd, off_t size, struct err *err)
{
	if (size >= LARGE)
		posix_fadvise(fd, 0, size, POSIX_FADV_SEQUENTIAL);
	while (size > 0) {
		ssize_t n = read(fd, d->block, size < (off_t)BLOCK ? (size_t)size : BLOCK);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "can't read the file");
		if (n == 0)
			return err_set(err, ERR_FAIL, "the file became shorter while it was read");
		if (nar_file_data(d->nar, d->block, (size_t)n, err) < 0)
			return -1;
		size -= n;
	}
	return 0;
}

static int dump_file(struct dump *d, int fd, const struct stat *st, struct err *err)
{
	if (nar_begin_file(d->nar, st->st_mode & S_IXUSR, (uint64_t)st->st_size, err) < 0 ||
		dump_contents(d, fd, st->st_size, err) < 0)
		return -1;
	return nar_end_file(d->nar, err);
}

static int dump_node(struct dump *d, int dirfd, const char *name, unsigned char type, struct err *err);

static int dump_folder(struct dump *d, int fd, struct err *err)
{
	__attribute__((cleanup(listing_free))) struct listing l = { .names = BUF_INIT };
	if (list_folder(fd, &l, err) < 0 || nar_begin_folder(d->nar, err) < 0)
		return -1;
	for (size_t i = 0; i < l.members.count; i++) {
		const char *name = l.names.data + l.members.items[i].at;
		size_t len = d->path.len;
		buf_byte(&d->path, '/');
		buf_str(&d->path, name);
		if (nar_entry(d->nar, name, err) < 0 ||
			dump_node(d, fd, name, l.members.items[i].type, err) < 0)
			return -1;
		d->path.len = len;
	}
	return nar_end_folder(d->nar, err);
}

static int refuse(mode_t mode, struct err *err)
{
	return err_set(err, ERR_INPUT, "%s can't be in the store", S_ISFIFO(mode) ? "a named pipe" :
		S_ISSOCK(mode) ? "a socket" : S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "what is no file or folder");
}

/* O_NONBLOCK: a named pipe that took a file's place must not make us wait.  What is open counts. */
static int dump_open(struct dump *d, int dirfd, const char *name, struct err *err)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, "can't open");
	if (S_ISDIR(st.st_mode))
		return dump_folder(d, fd, err);
	return S_ISREG(st.st_mode) ? dump_file(d, fd, &st, err) : refuse(st.st_mode, err);
}

/* A type that readdir gave saves a call for each file; it only chooses the way of opening. */
static int dump_node(struct dump *d, int dirfd, const char *name, unsigned char type, struct err *err)
{
	struct stat st = { .st_mode = DTTOIF(type) };
	if (type == DT_UNKNOWN && fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return err_sys(err, "can't find it");
	if (S_ISLNK(st.st_mode))
		return dump_link(d, dirfd, name, err);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return refuse(st.st_mode, err);
	return dump_open(d, dirfd, name, err);
}

int nar_dump(int dirfd, const char *name, nar_sink_fn *sink, void *ctx, struct err *err)
{
	_cleanup_free_ char *block = mem_resize(NULL, BLOCK, 1);
	struct dump d = { .nar = nar_writer_new(sink, ctx), .block = block, .path = BUF_INIT };
	buf_str(&d.path, name);
	int rc = dump_node(&d, dirfd, name, DT_UNKNOWN, err);
	rc = rc < 0 ? err_add(err, "%s", d.path.data) : nar_finish(d.nar, err);
	buf_free(&d.path);
	nar_writer_free(d.nar);
	return rc;
}

struct summing {
	struct hasher hasher;
	uint64_t size;
};

static int sum(void *ctx, const void *data, size_t len, struct err *err)
{
	struct summing *s = ctx;
	(void)err;
	hash_update(&s->hasher, data, len);
	s->size += len;
	return 0;
}

int nar_hash(int dirfd, const char *name, struct hash *out, uint64_t *size, struct err *err)
{
	struct summing s = { .size = 0 };
	hash_begin(&s.hasher);
	if (nar_dump(dirfd, name, sum, &s, err) < 0)
		return -1;
	hash_end(&s.hasher, out);
	if (size)
		*size = s.size;
	return 0;
}
