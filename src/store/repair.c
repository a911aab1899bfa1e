/* A damaged object gives way to a good copy; nothing is destroyed before that is in place. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "store/internal.h"

static int verify_replacement(struct store *s, const char *path, const char *tmp_name, struct err *err)
{
	struct store_info info;
	int rc = store_query(s, path, &info, err);
	if (rc <= 0)
		return rc < 0 ? -1 : err_set(err, ERR_FAIL, "%s is not in the store %s", path, s->folder);
	rc = seal_tree(s->tmp_fd, tmp_name, err) < 0 ? -1 : object_is(s->tmp_fd, tmp_name, &info.nar_hash, err);
	_cleanup_free_ char *wanted = hash_hex(&info.nar_hash);
	store_info_free(&info);
	if (rc == 0)
		return err_set(err, ERR_HASH, "the replacement of %s does not have its NAR hash sha256:%s", path, wanted);
	return rc < 0 ? -1 : 0;
}

static int put_in_place(struct store *s, const char *base, const char *tmp_name, struct err *err)
{
	_cleanup_close_ int gate = lock_gate(s, LOCK_EX, err);
	if (gate < 0)
		return -1;
	int failed = object_rename_new(s->tmp_fd, tmp_name, s->objects_fd, base);
	errno = failed;
	if (failed && failed != EEXIST)
		return err_sys(err, "can't move %s into %s/objects", base, s->folder);
	if (failed && object_swap(s, tmp_name, base, err) < 0)
		return -1;
	if (seal_root(s->objects_fd, base, err) < 0)
		return -1;
	if (fsync(s->objects_fd) < 0)
		return err_sys(err, "can't make %s/objects durable", s->folder);
	return 0;
}

int store_repair(struct store *s, const char *path, const char *tmp_name, struct err *err)
{
	const char *base = path_base(path, err);
	if (!base || store_need_write(s, err) < 0 || verify_replacement(s, path, tmp_name, err) < 0)
		return -1;
	if (syncfs(s->tmp_fd) < 0)
		return err_sys(err, "can't make %s durable", s->folder);
	if (put_in_place(s, base, tmp_name, err) < 0)
		return store_full(s->objects_fd, err);
	return fs_remove_tree(s->tmp_fd, tmp_name, err); /* what was damaged */
}
