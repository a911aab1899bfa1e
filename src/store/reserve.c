/*
 * Some room that is set aside, store/reserve, for gc to spend: to take rows out of the database needs room too,
 * and a full disk is when gc is called for.
 */
#include <fcntl.h>
#include <unistd.h>

#include "core/fs.h"
#include "store/internal.h"

#define RESERVE_NAME "reserve"
#define RESERVE_SIZE (1 << 20) /* the journal of some dozen removals; those then make room for more */

void reserve_keep(struct store *s)
{
	if (faccessat(s->root_fd, RESERVE_NAME, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return;
	_cleanup_close_ int fd = openat(s->root_fd, RESERVE_NAME, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	/* Without room now there is none: perhaps the next time. */
	if (fd >= 0 && posix_fallocate(fd, 0, RESERVE_SIZE) != 0)
		unlinkat(s->root_fd, RESERVE_NAME, 0);
}

void reserve_spend(struct store *s)
{
	unlinkat(s->root_fd, RESERVE_NAME, 0);
}
