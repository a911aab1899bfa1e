/* What the outputs of derivations were found to be. */
#include "core/mem.h"
#include "store/internal.h"

static int find(struct store *s, const char *id, char **path, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"SELECT base, max(used, registered) FROM realisation JOIN path ON path.id = realisation.path "
		"WHERE realisation.id = ?", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, id);
	int rc = db_step(s->db, stmt, err);
	if (rc > 0) {
		*path = mem_printf(STORE_DIR "/%s", db_text(stmt, 0));
		hold_add(s, db_text(stmt, 0), sqlite3_column_int64(stmt, 1));
	}
	return rc;
}

int store_realisation(struct store *s, const char *id, char **path, struct err *err)
{
	_cleanup_free_ char *found = NULL;
	if (!s->db)
		return 0;
	if (store_hold_begin(s, err) < 0)
		return -1;
	int rc = find(s, id, &found, err);
	if (store_hold_end(s, rc < 0 ? NULL : err) < 0)
		return -1;
	if (rc > 0)
		*path = steal_ptr(found);
	return rc;
}

int store_realisation_add(struct store *s, const char *id, const char *path, struct err *err)
{
	const char *base = path_base(path, err);
	if (!base || store_need_write(s, err) < 0)
		return -1;
	/* One statement, so that the path can't go between looking and writing. */
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"INSERT INTO realisation (id, path) SELECT ?1, id FROM path WHERE base = ?2 "
		"ON CONFLICT (id) DO UPDATE SET path = excluded.path RETURNING path", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, id);
	db_bind_text(stmt, 2, base);
	int rc = db_step(s->db, stmt, err);
	if (rc == 0)
		return err_set(err, ERR_FAIL, "%s is not in the store %s", path, s->folder);
	return rc < 0 ? -1 : db_step(s->db, stmt, err); /* to its end, which commits */
}
