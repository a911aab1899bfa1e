#include "archive/unpack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/deb.h"
#include "archive/name.h"
#include "archive/stream.h"
#include "archive/tar.h"
#include "archive/tree.h"
#include "archive/zip.h"
#include "core/fs.h"
#include "core/mem.h"

/* What headers may take beside the files' own bytes: 4 KiB an entry, generously. */
#define HEADERS_LIMIT (8ULL << 30)

/* One archive on its way into a tree. */
struct unpacking {
	struct tree *tree;
	unsigned strip;
	struct buf name, target; /* clean and stripped */
	struct buf top;          /* what was stripped from the first entry, with "/" behind */
	bool has_top;
};

static void unpacking_free(struct unpacking *u)
{
	tree_free(u->tree);
	buf_free(&u->name);
	buf_free(&u->target);
	buf_free(&u->top);
}
#define _cleanup_unpacking_ __attribute__((cleanup(unpacking_free)))

/* Take u->strip folders off a clean name.  1, or 0 when nothing is left: a folder on the way. */
static int strip(struct unpacking *u, struct buf *name, struct err *err)
{
	if (u->strip == 0)
		return 1;
	size_t cut = 0;
	for (unsigned i = 0; i < u->strip; i++) {
		const char *slash = memchr(name->data + cut, '/', name->len - cut);
		if (!slash)
			return 0;
		cut = (size_t)(slash - name->data) + 1;
	}
	if (!u->has_top) {
		buf_add(&u->top, name->data, cut);
		u->has_top = true;
	}
	if (u->top.len != cut || memcmp(u->top.data, name->data, cut) != 0)
		return err_set(err, ERR_INPUT, "the archive has more than one top folder");
	memmove(name->data, name->data + cut, name->len - cut + 1);
	name->len -= cut;
	return 1;
}

/* Fill u->name from an entry's: 1, 0 to leave the entry out (the top folder itself), -1. */
static int take_name(struct unpacking *u, struct slice raw, bool folder, struct err *err)
{
	bool slash;
	if (name_clean(raw, &u->name, &slash, err))
		return -1;
	const char *last = strrchr(u->name.data, '/');
	if (str_starts(last ? last + 1 : u->name.data, ".wh."))
		return err_set(err, ERR_INPUT, "a whiteout: only the layers of an image can have one");
	if (u->name.len == 0)
		return folder ? 0 : err_set(err, ERR_INPUT, "the name is empty");
	int r = strip(u, &u->name, err);
	if (r == 0 && !folder)
		return err_set(err, ERR_INPUT, "it does not lie in the top folder");
	return r;
}

static int unpack_tar_file(struct unpacking *u, struct tar *tar, const struct tar_entry *e, struct err *err)
{
	const uint8_t *data;
	size_t len;
	uint64_t at;
	int r;
	if (tree_file(u->tree, u->name.data, e->exec, e->size, err))
		return -1;
	while ((r = tar_data(tar, &data, &len, &at, err)) > 0)
		if (tree_write(u->tree, at, data, len, err))
			return -1;
	return r < 0 ? -1 : tree_file_end(u->tree, err);
}

static int unpack_tar_link(struct unpacking *u, const struct tar_entry *e, struct err *err)
{
	if (e->kind == TAR_SYMLINK)
		return tree_symlink(u->tree, u->name.data, e->target.p, err);
	bool slash;
	if (name_clean(e->target, &u->target, &slash, err) || strip(u, &u->target, err) < 0)
		return err_add(err, "the target of a hard link");
	return tree_hardlink(u->tree, u->name.data, u->target.data, err);
}

static int unpack_tar_entry(struct unpacking *u, struct tar *tar, const struct tar_entry *e, struct err *err)
{
	int r = take_name(u, e->name, e->kind == TAR_FOLDER, err);
	if (r < 0) {
		_cleanup_free_ char *shown = name_show(e->name.p);
		return err_add(err, "%s", shown);
	}
	if (r == 0)
		return 0;
	switch (e->kind) {
	case TAR_FOLDER:
		return tree_folder(u->tree, u->name.data, err);
	case TAR_FILE:
		return unpack_tar_file(u, tar, e, err);
	default:
		return unpack_tar_link(u, e, err);
	}
}

static uint64_t stream_limit(const struct unpack_options *o)
{
	uint64_t sum;
	if (__builtin_add_overflow(o->limits.bytes ? o->limits.bytes : UNPACK_BYTES_DEFAULT, HEADERS_LIMIT, &sum))
		return UINT64_MAX;
	return sum;
}

/* The tar at at..end of the file. */
static int unpack_tar_range(int fd, off_t at, off_t end, int dirfd, const struct unpack_options *o,
	struct err *err)
{
	_cleanup_unpacking_ struct unpacking u = { .strip = o->strip };
	enum stream_kind kind;
	struct tar_entry e;
	int r;
	if (stream_sniff(fd, at, end, &kind, err))
		return -1;
	_cleanup_stream_ struct stream *s = stream_open(fd, at, end, kind, err);
	if (!s)
		return -1;
	_cleanup_tar_ struct tar *tar = tar_new(s, stream_limit(o));
	u.tree = tree_open(dirfd, o, err);
	if (!u.tree)
		return -1;
	while ((r = tar_next(tar, &e, err)) > 0)
		if (unpack_tar_entry(&u, tar, &e, err))
			return -1;
	return r;
}

static int file_size(int fd, off_t *size, struct err *err)
{
	struct stat st;
	if (fstat(fd, &st))
		return err_sys(err, "can't stat the archive");
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_FAIL, "the archive is not a regular file");
	*size = st.st_size;
	return 0;
}

int unpack_tar(int fd, int dirfd, const struct unpack_options *o, struct err *err)
{
	off_t size;
	if (file_size(fd, &size, err))
		return -1;
	int zip = zip_ends_like_one(fd, (uint64_t)size, err);
	if (zip < 0)
		return -1;
	if (zip)
		return err_set(err, ERR_INPUT, "the file ends as a zip does: refused as a tar");
	return unpack_tar_range(fd, 0, size, dirfd, o, err);
}

int unpack_deb(int fd, int dirfd, const struct unpack_options *o, struct err *err)
{
	off_t at, end;
	if (deb_find_data(fd, &at, &end, err))
		return -1;
	return unpack_tar_range(fd, at, end, dirfd, o, err);
}

struct file_sink {
	struct tree *tree;
	uint64_t at;
};

static int write_piece(void *ctx, const void *data, size_t len, struct err *err)
{
	struct file_sink *to = ctx;
	uint64_t at = to->at;
	to->at += len;
	return tree_write(to->tree, at, data, len, err);
}

static int unpack_zip_entry(struct unpacking *u, struct zip *z, const struct zip_entry *e, struct err *err)
{
	struct file_sink to = { u->tree, 0 };
	if (zip_check_plain(e, err))
		return -1;
	int r = take_name(u, slice_of(e->name), e->folder, err);
	if (r < 0) {
		_cleanup_free_ char *shown = name_show(e->name);
		return err_add(err, "%s", shown);
	}
	if (r == 0)
		return 0;
	if (e->folder)
		return tree_folder(u->tree, u->name.data, err);
	if (tree_file(u->tree, u->name.data, e->mode & 0111, e->size, err) ||
	    zip_stream(z, e, write_piece, &to, err))
		return -1;
	return tree_file_end(u->tree, err);
}

int unpack_zip(int fd, int dirfd, const struct unpack_options *o, struct err *err)
{
	_cleanup_unpacking_ struct unpacking u = { .strip = o->strip };
	struct zip *z = zip_open(fd, err);
	if (!z)
		return -1;
	u.tree = tree_open(dirfd, o, err);
	int rc = u.tree ? 0 : -1;
	for (size_t i = 0; !rc && i < zip_count(z); i++)
		rc = unpack_zip_entry(&u, z, zip_at(z, i), err);
	zip_free(z);
	return rc;
}

int unpack_any(int fd, int dirfd, const struct unpack_options *o, struct err *err)
{
	char head[4];
	off_t size;
	if (file_size(fd, &size, err))
		return -1;
	if (size < (off_t)sizeof head)
		return err_set(err, ERR_INPUT, "the file is too short for an archive");
	if (fs_pread_full(fd, head, sizeof head, 0, err))
		return -1;
	if (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0)
		return unpack_zip(fd, dirfd, o, err);
	return unpack_tar(fd, dirfd, o, err);
}
