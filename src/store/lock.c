/*
 * Locks: flock on files in store/locks, and on store/lock, the gate.  The file's existence means nothing.
 * Who holds a lock may unlink its file, so whoever gets one looks whether the file still has a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "store/internal.h"

static int flock_retrying(int fd, int how)
{
	int rc;
	do
		rc = flock(fd, how);
	while (rc < 0 && errno == EINTR);
	return rc;
}

static bool unlinked(int fd)
{
	struct stat st;
	return fstat(fd, &st) == 0 && st.st_nlink == 0;
}

int store_lock_file(int dirfd, const char *name, int how, bool *busy, struct err *err)
{
	for (;;) {
		/* Opened for writing: NFS gives an exclusive lock only then. */
		_cleanup_close_ int fd = openat(dirfd, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644);
		if (fd < 0)
			return err_sys(err, "can't open the lock %s", name);
		if (flock_retrying(fd, how) < 0) {
			if (errno != EWOULDBLOCK)
				return err_sys(err, "can't lock %s", name);
			if (busy)
				*busy = true;
			return -1;
		}
		if (!unlinked(fd))
			return steal_fd(fd);
	}
}

int lock_existing(int dirfd, const char *name, bool *busy)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		*busy = errno != ENOENT; /* a lock that can't be looked at is taken for held */
		return -1;
	}
	/* A file that lost its name just now: another process is at work on it. */
	*busy = flock_retrying(fd, LOCK_EX | LOCK_NB) < 0 || unlinked(fd);
	return *busy ? -1 : steal_fd(fd);
}

int lock_gate(struct store *s, int how, struct err *err)
{
	int fd = store_lock_file(s->root_fd, "lock", how, NULL, err);
	if (fd < 0)
		return err_add(err, "the store %s", s->folder);
	return fd;
}

int store_lock(struct store *s, const char *key, bool wait, bool *busy, struct err *err)
{
	if (busy)
		*busy = false;
	if (store_need_write(s, err) < 0)
		return -1;
	_cleanup_close_ int dir = store_sub(s, "locks", err);
	if (dir < 0)
		return -1;
	/* A key may be any text; its hash is a file name. */
	struct hash h;
	hash_of(key, strlen(key), &h);
	_cleanup_buf_ struct buf name = BUF_INIT;
	hash_base32(&h, &name);
	int fd = store_lock_file(dir, name.data, wait ? LOCK_EX : LOCK_EX | LOCK_NB, busy, err);
	if (fd >= 0 && !str_list_has(&s->locks, name.data))
		str_list_add(&s->locks, name.data);
	return fd;
}

void locks_tidy(struct store *s)
{
	if (s->locks.count == 0)
		return;
	_cleanup_close_ int dir = store_sub(s, "locks", NULL);
	for (size_t i = 0; dir >= 0 && i < s->locks.count; i++) {
		bool busy;
		_cleanup_close_ int fd = lock_existing(dir, s->locks.items[i], &busy);
		if (fd >= 0)
			unlinkat(dir, s->locks.items[i], 0);
	}
	str_list_free(&s->locks);
}
