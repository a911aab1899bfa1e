/* Deleting objects: what is registered goes first, then the name, then the bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "store/internal.h"

/* Run `sql` with base bound to its first parameter; the first column of the first row, NULL if none. */
static int ask(struct store *s, const char *sql, const char *base, char **answer, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, sql, err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, base);
	int rc = db_step(s->db, stmt, err);
	if (rc > 0)
		*answer = mem_dup(db_text(stmt, 0));
	return rc;
}

static int drop_refs(struct store *s, const char *base, struct err *err)
{
	char *none = NULL;
	return ask(s, "DELETE FROM ref WHERE referrer = (SELECT id FROM path WHERE base = ?)", base, &none, err);
}

/* Its own references are gone, and those of all others in the list: who still refers to it is outside. */
static int drop_path(struct store *s, const char *base, struct err *err)
{
	_cleanup_free_ char *root = NULL, *referrer = NULL;
	if (ask(s, "SELECT name FROM root JOIN path ON path.id = root.path WHERE base = ?", base, &root, err) < 0 ||
	    ask(s, "SELECT r.base FROM path p JOIN ref ON reference = p.id JOIN path r ON r.id = referrer "
		   "WHERE p.base = ?", base, &referrer, err) < 0)
		return -1;
	if (root)
		return err_set(err, ERR_FAIL, "%s can't be deleted: the root %s keeps it", base, root);
	if (referrer)
		return err_set(err, ERR_FAIL, "%s can't be deleted: %s refers to it", base, referrer);
	char *none = NULL;
	return ask(s, "DELETE FROM path WHERE base = ?", base, &none, err);
}

static int unregister(struct store *s, const char *const *paths, size_t count, struct err *err)
{
	if (db_durable(s->db, true, err) < 0)
		return -1;
	int rc = db_begin(s->db, err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = drop_refs(s, store_path_base(paths[i]), err);
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = drop_path(s, store_path_base(paths[i]), err);
	if (rc == 0)
		rc = db_commit(s->db, err);
	if (rc < 0)
		db_rollback(s->db);
	if (db_durable(s->db, false, rc < 0 ? NULL : err) < 0)
		rc = -1;
	return rc;
}

static int delete_all(struct store *s, const char *const *paths, size_t count, struct str_list *aside,
	struct err *err)
{
	/* Alone: whoever adds one of these just now must see either the row or no object. */
	_cleanup_close_ int gate = lock_gate(s, LOCK_EX, err);
	if (gate < 0 || unregister(s, paths, count, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		char *tmp = NULL;
		if (object_aside(s, store_path_base(paths[i]), &tmp, err) < 0)
			return -1;
		if (tmp)
			str_list_take(aside, tmp);
	}
	return 0;
}

int store_delete(struct store *s, const char *const *paths, size_t count, struct err *err)
{
	if (store_need_write(s, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (!path_base(paths[i], err))
			return -1;
	_cleanup_str_list_ struct str_list aside = STR_LIST_INIT;
	int rc = delete_all(s, paths, count, &aside, err);
	for (size_t i = 0; i < aside.count; i++)
		if (fs_remove_tree(s->tmp_fd, aside.items[i], rc < 0 ? NULL : err) < 0)
			rc = -1;
	return rc;
}
