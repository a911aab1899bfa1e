/* One object on disk: its hash, and the ways into its place. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "drv/nar_dump.h"
#include "store/internal.h"

int object_is(int dirfd, const char *name, const struct hash *hash, struct err *err)
{
	struct hash found;
	if (faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return 0;
	if (nar_hash(dirfd, name, &found, NULL, err) < 0)
		return -1;
	return hash_eq(&found, hash);
}

/* For a file system that knows no RENAME_NOREPLACE: a folder never replaces one that holds something,
 * and a link or file is linked in. */
static int rename_new_plainly(int from, const char *from_name, int to, const char *to_name)
{
	struct stat st;
	if (fstatat(from, from_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno;
	if (S_ISDIR(st.st_mode)) {
		if (renameat(from, from_name, to, to_name) == 0)
			return 0;
		return errno == ENOTEMPTY || errno == ENOTDIR ? EEXIST : errno;
	}
	if (linkat(from, from_name, to, to_name, 0) < 0)
		return errno;
	return unlinkat(from, from_name, 0) < 0 ? errno : 0;
}

int object_rename_new(int from, const char *from_name, int to, const char *to_name)
{
	if (renameat2(from, from_name, to, to_name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	return rename_new_plainly(from, from_name, to, to_name);
}

/* Without RENAME_EXCHANGE: the old one steps aside first, and comes back if the new one can't go in. */
static int swap_plainly(struct store *s, const char *tmp_name, const char *base, struct err *err)
{
	_cleanup_free_ char *aside = store_tmp_name(s, "old", err);
	if (!aside)
		return -1;
	if (renameat(s->objects_fd, base, s->tmp_fd, aside) < 0)
		return err_sys(err, "can't move %s aside", base);
	if (renameat(s->tmp_fd, tmp_name, s->objects_fd, base) < 0) {
		err_sys(err, "can't move the replacement of %s into place", base);
		renameat(s->tmp_fd, aside, s->objects_fd, base);
		return -1;
	}
	if (renameat(s->tmp_fd, aside, s->tmp_fd, tmp_name) < 0)
		return err_sys(err, "can't move the old %s aside", base);
	return 0;
}

/* The tree tmp/tmp_name goes to objects/base and what was there to tmp/tmp_name. Both stay whole throughout. */
int object_swap(struct store *s, const char *tmp_name, const char *base, struct err *err)
{
	if (unseal_root(s->objects_fd, base, err) < 0)
		return -1;
	if (renameat2(s->tmp_fd, tmp_name, s->objects_fd, base, RENAME_EXCHANGE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return err_sys(err, "can't replace %s", base);
	return swap_plainly(s, tmp_name, base, err);
}

int object_aside(struct store *s, const char *base, char **tmp_name, struct err *err)
{
	_cleanup_free_ char *tmp = store_tmp_name(s, "deleted", err);
	if (!tmp)
		return -1;
	if (faccessat(s->objects_fd, base, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
		return 0;
	if (unseal_root(s->objects_fd, base, err) < 0)
		return -1;
	if (renameat(s->objects_fd, base, s->tmp_fd, tmp) < 0)
		return err_sys(err, "can't move %s/objects/%s away", s->folder, base);
	*tmp_name = steal_ptr(tmp);
	return 0;
}

char *object_ca(enum drv_method method, const struct hash *hash)
{
	static const char *const kinds[] = {
		[DRV_FLAT] = "fixed:", [DRV_NAR] = "fixed:r:", [DRV_TEXT] = "text:",
	};
	struct buf ca = BUF_INIT;
	buf_printf(&ca, "%ssha256:", kinds[method]);
	hash_base32(hash, &ca);
	return buf_steal(&ca);
}
