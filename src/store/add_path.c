/* A person's file or folder into the store. */
#include <stdlib.h>

#include "core/fs.h"
#include "core/mem.h"
#include "store/internal.h"

int store_add_path(struct store *s, int from, const char *name, const char *object_name,
	enum drv_method method, char **path, struct err *err)
{
	_cleanup_free_ char *tmp = store_tmp_name(s, object_name, err);
	if (!tmp || store_copy_in(s->tmp_fd, from, name, tmp, err) < 0)
		return -1;
	struct store_prepared p;
	if (store_prepare(s->tmp_fd, tmp, object_name, method, NULL, NULL, &p, err) < 0) {
		fs_remove_tree(s->tmp_fd, tmp, NULL);
		return -1;
	}
	int rc = store_commit(s, &p, 1, err);
	if (rc == 0)
		*path = steal_ptr(p.path);
	store_prepared_free(&p);
	return rc;
}
