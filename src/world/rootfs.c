/* A root file system of an image's layers. */
#include <string.h>

#include "archive/layer.h"
#include "core/fs.h"
#include "core/hash.h"
#include "core/mem.h"
#include "world/builtin_impl.h"

/* The next word of a list that is joined by spaces; false at its end. */
static bool next(struct slice *list, struct slice *word)
{
	while (list->n) {
		slice_cut(*list, ' ', word, list);
		if (word->n)
			return true;
	}
	return false;
}

static int add(struct layers *l, const struct store *s, struct slice path, struct slice id, struct err *err)
{
	struct slice name;
	struct hash diff_id;
	if (hash_parse(id, &diff_id, err) < 0)
		return err_add(err, "builtin:oci-rootfs: diff_ids");
	_cleanup_close_ int fd = builtin_open(s, path, 0, err);
	if (fd < 0 || layers_add(l, fd, &diff_id, err) < 0)
		return store_path_check(path, &name, NULL) < 0 ? -1 : err_add(err, "%.*s", (int)name.n, name.p);
	return 0;
}

int builtin_oci_rootfs(const struct drv *d, const struct store *s, int dirfd, char **note, struct err *err)
{
	const char *paths = builtin_parameter(d, "layers", err), *ids = builtin_parameter(d, "diff_ids", err);
	const char *links = drv_env_get(d, "links");
	if (!paths || !ids)
		return -1;
	_cleanup_layers_ struct layers *l = layers_open(dirfd, &(struct unpack_options){ 0 }, err);
	if (!l)
		return -1;
	struct slice path, id, more_paths = slice_of(paths), more_ids = slice_of(ids);
	while (next(&more_paths, &path)) {
		if (!next(&more_ids, &id))
			return err_set(err, ERR_INPUT, "builtin:oci-rootfs: each of the layers needs one of diff_ids");
		if (add(l, s, path, id, err) < 0)
			return -1;
	}
	if (links && builtin_links(links, dirfd, err) < 0)
		return -1;
	if (layers_left_out(l))
		*note = mem_printf("%llu devices and fifos of the image were left out\n", (unsigned long long)layers_left_out(l));
	return 0;
}
