/* A scratch folder for one test, gone afterwards. */
#ifndef TESTS_SUPPORT_TEMPDIR_H
#define TESTS_SUPPORT_TEMPDIR_H

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

struct tempdir {
	char path[256];
	int fd;
};

static inline struct tempdir tempdir_make(void)
{
	struct tempdir t;
	const char *base = getenv("TMPDIR");
	snprintf(t.path, sizeof t.path, "%s/forge-test.XXXXXX", base ? base : "/tmp");
	if (!mkdtemp(t.path) || (t.fd = open(t.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		perror(t.path);
		abort();
	}
	return t;
}

static inline int tempdir_remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static inline void tempdir_remove(struct tempdir *t)
{
	close(t->fd);
	nftw(t->path, tempdir_remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

#endif
