#include "archive/layer.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "archive/name.h"
#include "archive/stream.h"
#include "archive/tar.h"
#include "archive/tree.h"
#include "archive/tree_layer.h"
#include "core/mem.h"
#include "core/str.h"

#define MARK ".wh."
#define MARK_LEN 4
#define OPAQUE ".wh..opq" /* behind MARK */

/* Of one layer, headers and content. */
#define STREAM_LIMIT (UNPACK_BYTES_DEFAULT + (8ULL << 30))

struct layers {
	struct tree *tree;
	struct buf name, target; /* clean, of the entry at hand */
	uint64_t left_out;
};

struct layers *layers_open(int dirfd, const struct unpack_options *o, struct err *err)
{
	struct unpack_options ours = { .limits = o->limits, .root_links = true };
	struct tree *tree = tree_open(dirfd, &ours, err);
	if (!tree)
		return NULL;
	struct layers *l = mem_alloc(sizeof *l);
	l->tree = tree;
	return l;
}

void layers_free(struct layers *l)
{
	if (!l)
		return;
	tree_free(l->tree);
	buf_free(&l->name);
	buf_free(&l->target);
	free(l);
}

void layers_free_ptr(struct layers **l)
{
	layers_free(*l);
	*l = NULL;
}

uint64_t layers_left_out(const struct layers *l)
{
	return l->left_out;
}

/* What the tree says names its file already. */
static int refuse(const struct tar_entry *e, const char *why, struct err *err)
{
	_cleanup_free_ char *shown = name_show(e->name.p);
	return err_set(err, ERR_INPUT, "%s: %s", shown, why);
}

static int add_name(const struct tar_entry *e, struct err *err)
{
	_cleanup_free_ char *shown = name_show(e->name.p);
	return err_add(err, "%s", shown);
}

static int whiteout(struct layers *l, const struct tar_entry *e, char *name, struct err *err)
{
	char *slash = strrchr(name, '/'), *hidden = (slash ? slash + 1 : name) + MARK_LEN;
	if (e->kind != TAR_FILE || e->size > 0)
		return refuse(e, "a whiteout that is no empty file", err);
	if (!*hidden || str_eq(hidden, ".") || str_eq(hidden, ".."))
		return refuse(e, "a whiteout that leads out of its folder", err);
	bool opaque = str_eq(hidden, OPAQUE);
	if (!opaque && str_starts(hidden, MARK))
		return refuse(e, "a file of the old AUFS's own: build the image anew with a newer tool", err);
	if (slash)
		*slash = '\0';
	return tree_whiteout(l->tree, slash ? name : "", opaque ? NULL : hidden, err);
}

/* Does a part of the clean name before its last one mark a whiteout? */
static bool is_below_whiteout(const char *name)
{
	for (const char *part = name, *slash; (slash = strchr(part, '/')); part = slash + 1)
		if (str_starts(part, MARK))
			return true;
	return false;
}

static int add_file(struct layers *l, struct tar *tar, const struct tar_entry *e, struct err *err)
{
	const uint8_t *data;
	size_t len;
	uint64_t at;
	int r;
	if (tree_file(l->tree, l->name.data, e->exec, e->size, err))
		return -1;
	while ((r = tar_data(tar, &data, &len, &at, err)) > 0)
		if (tree_write(l->tree, at, data, len, err))
			return -1;
	return r < 0 ? -1 : tree_file_end(l->tree, err);
}

static int add_hardlink(struct layers *l, const struct tar_entry *e, struct err *err)
{
	bool slash;
	if (name_clean(e->target, &l->target, &slash, err)) {
		err_add(err, "the target of a hard link");
		return add_name(e, err);
	}
	return tree_hardlink(l->tree, l->name.data, l->target.data, err);
}

static int make(struct layers *l, struct tar *tar, const struct tar_entry *e, struct err *err)
{
	if (tree_take(l->tree, l->name.data, e->kind == TAR_FOLDER, err))
		return -1;
	switch (e->kind) {
	case TAR_FOLDER:
		return tree_folder(l->tree, l->name.data, err);
	case TAR_FILE:
		return add_file(l, tar, e, err);
	case TAR_SYMLINK:
		return tree_symlink(l->tree, l->name.data, e->target.p, err);
	case TAR_HARDLINK:
		return add_hardlink(l, e, err);
	default:
		l->left_out++;
		return 0;
	}
}

static int add_entry(struct layers *l, struct tar *tar, const struct tar_entry *e, struct err *err)
{
	bool slash;
	if (name_clean(e->name, &l->name, &slash, err))
		return add_name(e, err);
	const char *last = strrchr(l->name.data, '/');
	if (is_below_whiteout(l->name.data))
		return refuse(e, "a name that leads through a whiteout", err);
	if (str_starts(last ? last + 1 : l->name.data, MARK))
		return whiteout(l, e, l->name.data, err);
	if (l->name.len == 0 && e->kind != TAR_FOLDER)
		return refuse(e, "the image itself can be nothing but a folder", err);
	return make(l, tar, e, err);
}

static int add_all(struct layers *l, struct stream *s, struct err *err)
{
	_cleanup_tar_ struct tar *tar = tar_new(s, STREAM_LIMIT);
	struct tar_entry e;
	int r;
	tar_allow_special(tar);
	while ((r = tar_next(tar, &e, err)) > 0)
		if (add_entry(l, tar, &e, err))
			return -1;
	return r;
}

int layers_add(struct layers *l, int fd, const struct hash *diff_id, struct err *err)
{
	struct stat st;
	struct hasher hasher;
	struct hash got;
	enum stream_kind kind;
	if (fstat(fd, &st))
		return err_sys(err, "can't stat the layer");
	if (stream_sniff(fd, 0, st.st_size, &kind, err))
		return -1;
	_cleanup_stream_ struct stream *s = stream_open(fd, 0, st.st_size, kind, err);
	if (!s)
		return -1;
	hash_begin(&hasher);
	stream_hash(s, &hasher);
	tree_layer(l->tree);
	if (add_all(l, s, err))
		return -1;
	hash_end(&hasher, &got);
	if (hash_eq(&got, diff_id))
		return 0;
	_cleanup_free_ char *want_hex = hash_hex(diff_id), *got_hex = hash_hex(&got);
	return err_set(err, ERR_HASH, "unpacked it is sha256 %s, the image's configuration says %s", got_hex, want_hex);
}
