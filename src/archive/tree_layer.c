#include "archive/tree_layer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/name.h"
#include "archive/tree_impl.h"
#include "core/fs.h"
#include "core/mem.h"

#define DEPTH_MAX 200 /* of folders that a whiteout searches; each holds a descriptor */

/* Spreads every bit over all of them (the end of MurmurHash3, 64 bits). */
static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 33) * 0xff51afd7ed558ccdull;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ull;
	return h ^ h >> 33;
}

/*
 * What a layer has named is kept as a hash of the folder's inode and the name in it: by whichever links a path
 * leads there, it is the same.  Inodes and names are both close to one another, so they are mixed.
 */
static uint64_t mark_of(ino_t folder, const char *name)
{
	uint64_t h = mix((uint64_t)folder);
	for (const char *p = name; *p; p++)
		h = (h ^ (unsigned char)*p) * 0x100000001b3ull; /* FNV-1a */
	h = mix(h);
	return h ? h : 1;
}

void tree_layer(struct tree *t)
{
	t->layered = true;
	inodes_free(&t->named);
}

static int remove_at(struct tree *t, const char *last, const struct stat *st)
{
	if (!S_ISDIR(st->st_mode) && !S_ISLNK(st->st_mode))
		return unlinkat(t->parent, last, 0);
	int rc = fs_remove_tree(t->parent, last, NULL);
	tree_leave(t); /* a path may have led through it */
	return rc;
}

int tree_take(struct tree *t, const char *name, bool folder, struct err *err)
{
	struct stat in, st;
	if (!*name)
		return 0;
	const char *last = tree_enter(t, name, err);
	if (!last)
		return -1;
	if (fstat(t->parent, &in))
		return tree_fail(name, err);
	inodes_add(&t->named, mark_of(in.st_ino, last));
	if (fstatat(t->parent, last, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : tree_fail(name, err);
	if (folder && S_ISDIR(st.st_mode))
		return 0;
	return remove_at(t, last, &st) ? tree_fail(name, err) : 0;
}

static int sweep_folder(struct tree *t, int fd, unsigned depth, struct err *err);

/* Remove name from a folder, but for what this layer has named at it and below it. */
static int sweep(struct tree *t, int dirfd, ino_t in, const char *name, unsigned depth, struct err *err)
{
	struct stat st;
	bool named = inodes_has(&t->named, mark_of(in, name));
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW))
		return errno == ENOENT ? 0 : tree_fail(name, err);
	if (!S_ISDIR(st.st_mode))
		return named || unlinkat(dirfd, name, 0) == 0 ? 0 : tree_fail(name, err);
	if (depth == DEPTH_MAX)
		return tree_refuse(name, "the folders of the image are nested too deep", err);
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return tree_fail(name, err);
	if (sweep_folder(t, fd, depth + 1, err))
		return -1;
	if (named || unlinkat(dirfd, name, AT_REMOVEDIR) == 0 || errno == ENOTEMPTY || errno == EEXIST)
		return 0;
	return tree_fail(name, err);
}

static int sweep_folder(struct tree *t, int fd, unsigned depth, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	struct stat st;
	if (fstat(fd, &st))
		return err_sys(err, "can't read a folder");
	if (fs_list(fd, &names, err))
		return -1;
	for (size_t i = 0; i < names.count; i++)
		if (sweep(t, fd, st.st_ino, names.items[i], depth, err))
			return -1;
	return 0;
}

int tree_whiteout(struct tree *t, const char *folder, const char *name, struct err *err)
{
	struct stat st;
	if (tree_count(t, err))
		return -1;
	_cleanup_close_ int fd = tree_open_in(t, folder, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return errno == ENOENT ? 0 : tree_fail(folder, err);
	tree_leave(t);
	if (!name)
		return sweep_folder(t, fd, 0, err);
	return fstat(fd, &st) ? tree_fail(folder, err) : sweep(t, fd, st.st_ino, name, 0, err);
}
