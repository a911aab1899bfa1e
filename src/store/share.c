/*
 * Equal files of several objects, made one: store/links holds a name for each file that was shared so far, and a new
 * file that equals it becomes another name of the same inode.  What differs between torch's wheels for two Pythons is
 * 6 files of 12,482.
 *
 * A name is made from the file's size, its mode and some of its bytes, which finds what may be equal; that it is, is
 * seen by comparing all bytes.  So a damaged file is never shared further, and two that only look alike share nothing.
 * Whatever can't be shared stays as it is: nothing here is an error.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/hash.h"
#include "store/internal.h"

#define SAMPLE ((size_t)16 << 10) /* bytes of the beginning, and of the end */
#define BLOCK ((size_t)128 << 10)

struct sharing {
	struct store *s;
	int links;               /* the folder */
	char *spare;             /* a name in tmp */
	char *block[2];          /* BLOCK bytes each */
	unsigned depth;
};

static bool runs(const struct stat *st)
{
	return st->st_mode & 0100;
}

/* Samples are enough to tell most files from one another: a program's build id stands in its first block. */
static char *link_name(struct sharing *w, int fd, const struct stat *st)
{
	struct hasher h;
	struct hash sum;
	struct buf name = BUF_INIT;
	size_t head = st->st_size < (off_t)SAMPLE ? (size_t)st->st_size : SAMPLE;
	if (fs_pread_full(fd, w->block[0], head, 0, NULL) < 0 ||
			fs_pread_full(fd, w->block[1], head, st->st_size - (off_t)head, NULL) < 0)
		return NULL;
	hash_begin(&h);
	hash_update(&h, w->block[0], head);
	hash_update(&h, w->block[1], head);
	hash_end(&h, &sum);
	buf_printf(&name, "%llu%s-", (unsigned long long)st->st_size, runs(st) ? "x" : "");
	hash_base32(&sum, &name);
	return buf_steal(&name);
}

static bool is_equal(struct sharing *w, int a, int b, off_t size)
{
	for (off_t at = 0; at < size; at += (off_t)BLOCK) {
		size_t n = size - at < (off_t)BLOCK ? (size_t)(size - at) : BLOCK;
		if (fs_pread_full(a, w->block[0], n, at, NULL) < 0 || fs_pread_full(b, w->block[1], n, at, NULL) < 0 ||
				memcmp(w->block[0], w->block[1], n) != 0)
			return false;
	}
	return true;
}

/* Give the file in folder dirfd another place in links: it is the first of its kind, or takes the place of one that
 * can't be used (damaged, or with as many names as the file system allows). */
static void offer(struct sharing *w, int dirfd, const char *name, const char *as)
{
	if (linkat(dirfd, name, w->links, as, 0) == 0 || errno != EEXIST)
		return;
	if (linkat(dirfd, name, store_tmp_fd(w->s), w->spare, 0) == 0 &&
			renameat(store_tmp_fd(w->s), w->spare, w->links, as) < 0)
		unlinkat(store_tmp_fd(w->s), w->spare, 0);
}

/* Put another name of the shared file `there`, which was compared, in the place of the file.  Others may have changed
 * what stands in links meanwhile, so that what was linked is looked at again. */
static bool take(struct sharing *w, int dirfd, const char *name, const char *as, const struct stat *there)
{
	int tmp = store_tmp_fd(w->s);
	struct stat st;
	if (linkat(w->links, as, tmp, w->spare, 0) < 0)
		return errno != EMLINK;
	if (fstatat(tmp, w->spare, &st, AT_SYMLINK_NOFOLLOW) == 0 && st.st_ino == there->st_ino && st.st_dev == there->st_dev &&
			renameat(tmp, w->spare, dirfd, name) == 0)
		return true;
	unlinkat(tmp, w->spare, 0);
	return true;
}

static void share_open_file(struct sharing *w, int dirfd, const char *name, int fd, const struct stat *st)
{
	_cleanup_free_ char *link = link_name(w, fd, st);
	_cleanup_close_ int other = link ? openat(w->links, link, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) : -1;
	struct stat there;
	if (!link || seal_file(fd, runs(st), NULL) < 0)
		return;
	bool usable = other >= 0 && fstat(other, &there) == 0 && S_ISREG(there.st_mode) && there.st_size == st->st_size &&
		runs(&there) == runs(st) && is_equal(w, fd, other, st->st_size);
	if (!usable || !take(w, dirfd, name, link, &there))
		offer(w, dirfd, name, link);
}

static void share_file(struct sharing *w, int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_nlink == 1 && st.st_size > 0)
		share_open_file(w, dirfd, name, fd, &st);
}

static void share_folder(struct sharing *w, int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fd < 0 || w->depth == TREE_DEPTH_MAX || fs_list(fd, &names, NULL) < 0)
		return;
	w->depth++;
	for (size_t i = 0; i < names.count; i++) {
		struct stat st;
		if (fstatat(fd, names.items[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISDIR(st.st_mode))
			share_folder(w, fd, names.items[i]);
		else if (S_ISREG(st.st_mode))
			share_file(w, fd, names.items[i]);
	}
	w->depth--;
}

void store_share(struct store *s, const char *tmp_name)
{
	_cleanup_close_ int links = store_sub(s, "links", NULL);
	_cleanup_free_ char *spare = store_tmp_name(s, "link", NULL);
	_cleanup_free_ char *a = mem_resize(NULL, BLOCK, 1), *b = mem_resize(NULL, BLOCK, 1);
	struct sharing w = { .s = s, .links = links, .spare = spare, .block = { a, b } };
	if (links >= 0 && spare)
		share_folder(&w, s->tmp_fd, tmp_name);
}

/* Calls fn for each name in links; what it returns is added up. */
static uint64_t each_link(struct store *s, uint64_t (*fn)(int links, const char *name, const struct stat *st))
{
	_cleanup_close_ int links = openat(s->root_fd, "links", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	uint64_t sum = 0;
	if (links < 0 || fs_list(links, &names, NULL) < 0)
		return 0;
	for (size_t i = 0; i < names.count; i++) {
		struct stat st;
		if (fstatat(links, names.items[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
			sum += fn(links, names.items[i], &st);
	}
	return sum;
}

static uint64_t sweep(int links, const char *name, const struct stat *st)
{
	return st->st_nlink == 1 && unlinkat(links, name, 0) == 0;
}

/* One name is that in links, and one object would have it anyhow. */
static uint64_t saved(int links, const char *name, const struct stat *st)
{
	(void)links, (void)name;
	return st->st_nlink > 2 ? (uint64_t)st->st_size * (st->st_nlink - 2) : 0;
}

size_t share_sweep(struct store *s)
{
	return (size_t)each_link(s, sweep);
}

uint64_t share_saved(struct store *s)
{
	return each_link(s, saved);
}
