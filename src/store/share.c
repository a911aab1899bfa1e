/*
 * Equal files of several objects, made one: store/links holds a name for each file that was offered so far, and a new
 * file that equals it becomes another name of the same inode.
 *
 * A name is made from the file's size, its mode and some of its bytes, which finds what may be equal; that it is, is
 * seen by comparing all bytes.  So a damaged file is never shared further, and two that only look alike share nothing.
 * Whatever can't be shared stays as it is: nothing here is an error.
 *
 * What it changes for those who read objects: a file's link count and the time of its inode's change, while they look;
 * so it is done for what builds only read.  No two files of one object are made one, as a copy of its tree that keeps
 * links would have them be one file too.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/hash.h"
#include "core/list.h"
#include "store/internal.h"

#define SAMPLE ((size_t)16 << 10) /* bytes of the beginning, and of the end */
#define BLOCK ((size_t)128 << 10)

#define ALIKE 4 /* files that look alike and are not equal, at most */

struct sharing {
	struct store *s;
	int links;               /* the folder */
	char *spare;             /* a name in tmp */
	char *block[2];          /* BLOCK bytes each */
	unsigned depth;
	LIST(ino_t) taken;       /* what this tree has by now */
	void (*file)(struct sharing *w, int dirfd, const char *name, int fd, const struct stat *st);
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

/* Is it one that store_share() left, made by this user (who else could change it) and still as it was then? */
static bool is_sealed(const struct stat *st, const struct stat *like)
{
	return S_ISREG(st->st_mode) && st->st_uid == geteuid() && st->st_size == like->st_size &&
		(st->st_mode & 07777) == (runs(like) ? 0555 : 0444) && st->st_mtim.tv_sec == 1;
}

static char *numbered(const char *as, int n)
{
	return n ? mem_printf("%s-%d", as, n) : mem_dup(as);
}

static bool is_taken(const struct sharing *w, ino_t inode)
{
	for (size_t i = 0; i < w->taken.count; i++)
		if (w->taken.items[i] == inode)
			return true;
	return false;
}

/* Put another name of the shared file that is open in the place of the one in folder dirfd.  Others may have changed
 * what stands in links meanwhile, so that what was linked is looked at again. */
static bool put_name(struct sharing *w, int dirfd, const char *name, const char *link, int shared)
{
	int tmp = store_tmp_fd(w->s);
	struct stat st, there;
	if (linkat(w->links, link, tmp, w->spare, 0) < 0)
		return false;
	if (fstatat(tmp, w->spare, &st, AT_SYMLINK_NOFOLLOW) == 0 && fstat(shared, &there) == 0 && st.st_ino == there.st_ino &&
			st.st_dev == there.st_dev && renameat(tmp, w->spare, dirfd, name) == 0) {
		*list_push(&w->taken) = st.st_ino;
		return true;
	}
	unlinkat(tmp, w->spare, 0);
	return false;
}

static void take(struct sharing *w, int dirfd, const char *name, int fd, const struct stat *st)
{
	_cleanup_free_ char *as = link_name(w, fd, st);
	for (int n = 0; as && n < ALIKE; n++) {
		_cleanup_free_ char *link = numbered(as, n);
		_cleanup_close_ int other = openat(w->links, link, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		struct stat there;
		if (other < 0 && errno == ENOENT)
			return;
		if (other >= 0 && fstat(other, &there) == 0 && is_sealed(&there, st) && !is_taken(w, there.st_ino) && is_equal(w, fd, other, st->st_size) &&
				put_name(w, dirfd, name, link, other))
			return;
	}
}

/* Give the file a name in links that is free; where there is none, it takes the place of the last. */
static void offer(struct sharing *w, int dirfd, const char *name, int fd, const struct stat *st)
{
	_cleanup_free_ char *as = link_name(w, fd, st);
	if (st->st_nlink > 1)
		return; /* it is there */
	for (int n = 0; as && n < ALIKE; n++) {
		_cleanup_free_ char *link = numbered(as, n);
		if (linkat(dirfd, name, w->links, link, 0) == 0 || errno != EEXIST)
			return;
		if (n == ALIKE - 1 && linkat(dirfd, name, store_tmp_fd(w->s), w->spare, 0) == 0 &&
				renameat(store_tmp_fd(w->s), w->spare, w->links, link) < 0)
			unlinkat(store_tmp_fd(w->s), w->spare, 0);
	}
}

static void share_file(struct sharing *w, int dirfd, const char *name)
{
	_cleanup_close_ int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
		w->file(w, dirfd, name, fd, &st);
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

static void share(struct store *s, const char *tmp_name, void (*file)(struct sharing *, int, const char *, int, const struct stat *))
{
	_cleanup_close_ int links = store_sub(s, "links", NULL);
	_cleanup_free_ char *spare = store_tmp_name(s, "link", NULL);
	_cleanup_free_ char *a = mem_resize(NULL, BLOCK, 1), *b = mem_resize(NULL, BLOCK, 1);
	struct sharing w = { .s = s, .links = links, .spare = spare, .block = { a, b }, .file = file };
	if (links >= 0 && spare)
		share_folder(&w, s->tmp_fd, tmp_name);
	list_free(&w.taken);
}

void store_share(struct store *s, const char *tmp_name)
{
	share(s, tmp_name, take);
}

void store_share_offer(struct store *s, const char *tmp_name)
{
	share(s, tmp_name, offer);
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
	if (st->st_nlink == 1)
		unlinkat(links, name, 0);
	return 0;
}

/* One name is that in links, and one object would have it anyhow. */
static uint64_t saved(int links, const char *name, const struct stat *st)
{
	(void)links, (void)name;
	return st->st_nlink > 2 ? (uint64_t)st->st_size * (st->st_nlink - 2) : 0;
}

void share_sweep(struct store *s)
{
	each_link(s, sweep);
}

uint64_t share_saved(struct store *s)
{
	return each_link(s, saved);
}
