/* Manifests of compilers' commands: kept and found again, not understood. */
#include <sqlite3.h>

#include "store/internal.h"

static void bind_hash(sqlite3_stmt *stmt, int at, const struct hash *h)
{
	sqlite3_bind_blob(stmt, at, h->bytes, HASH_SIZE, SQLITE_STATIC);
}

int store_manifest(struct store *s, const struct hash *command, struct buf *out, struct err *err)
{
	if (!s->db)
		return 0;
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT body FROM manifest WHERE command = ?", err);
	if (!stmt)
		return -1;
	bind_hash(stmt, 1, command);
	int rc = db_step(s->db, stmt, err);
	if (rc > 0)
		buf_add(out, sqlite3_column_blob(stmt, 0), (size_t)sqlite3_column_bytes(stmt, 0));
	return rc;
}

int store_manifest_set(struct store *s, const struct hash *command, struct slice bytes, const char *newest, struct err *err)
{
	if (store_need_write(s, err) < 0)
		return -1;
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "INSERT INTO manifest (command, body, path) "
		"SELECT ?1, ?2, path FROM realisation WHERE id = ?3 "
		"ON CONFLICT (command) DO UPDATE SET body = excluded.body, path = excluded.path", err);
	if (!stmt)
		return -1;
	bind_hash(stmt, 1, command);
	sqlite3_bind_blob64(stmt, 2, bytes.p, bytes.n, SQLITE_STATIC);
	db_bind_text(stmt, 3, newest);
	return db_step(s->db, stmt, err);
}
