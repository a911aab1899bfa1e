/* What is registered. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "store/internal.h"

void store_info_free(struct store_info *i)
{
	free(i->path);
	free(i->ca);
	free(i->deriver);
	str_list_free(&i->refs);
	memset(i, 0, sizeof *i);
}

const char *path_base(const char *path, struct err *err)
{
	struct slice name;
	if (store_path_check(slice_of(path), &name, err) < 0)
		return NULL;
	if (str_starts(path, STORE_DIR "/"))
		return store_path_base(path);
	err_set(err, ERR_FAIL, "%s is not a whole store path", path);
	return NULL;
}

int64_t base_id(struct store *s, const char *base, struct err *err)
{
	if (!s->db)
		return 0;
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT id FROM path WHERE base = ?", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, base);
	int rc = db_step(s->db, stmt, err);
	return rc <= 0 ? rc : sqlite3_column_int64(stmt, 0);
}

int64_t path_id(struct store *s, const char *path, struct err *err)
{
	const char *base = path_base(path, err);
	return base ? base_id(s, base, err) : -1;
}

static int look(struct store *s, const char *base, int64_t *used, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT max(used, registered) FROM path WHERE base = ?", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, base);
	int rc = db_step(s->db, stmt, err);
	if (rc > 0)
		*used = sqlite3_column_int64(stmt, 0);
	return rc;
}

int store_valid(struct store *s, const char *path, struct err *err)
{
	int64_t used;
	const char *base = path_base(path, err);
	if (!base)
		return -1;
	if (!s->db || !hold_wants(s, base))
		return s->db ? look(s, base, &used, err) : 0;
	if (store_hold_begin(s, err) < 0)
		return -1;
	int rc = look(s, base, &used, err);
	if (rc > 0)
		hold_add(s, base, used);
	return store_hold_end(s, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

/* Store paths of objects that `id` refers to, sorted. */
static int add_refs(struct store *s, int64_t id, struct str_list *out, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"SELECT base FROM ref JOIN path ON path.id = reference WHERE referrer = ? ORDER BY base", err);
	if (!stmt)
		return -1;
	db_bind_int(stmt, 1, id);
	int rc;
	while ((rc = db_step(s->db, stmt, err)) > 0)
		str_list_take(out, mem_printf(STORE_DIR "/%s", db_text(stmt, 0)));
	return rc;
}

static int read_info(struct store *s, const char *base, struct store_info *out, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"SELECT id, nar_hash, nar_size, ca, deriver, registered FROM path WHERE base = ?", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, base);
	int rc = db_step(s->db, stmt, err);
	if (rc <= 0)
		return rc;
	const void *hash = sqlite3_column_blob(stmt, 1);
	if (!hash || sqlite3_column_bytes(stmt, 1) != HASH_SIZE)
		return err_set(err, ERR_FAIL, "%s: what is registered of it is damaged", base);
	memcpy(out->nar_hash.bytes, hash, HASH_SIZE);
	out->path = mem_printf(STORE_DIR "/%s", base);
	out->nar_size = (uint64_t)sqlite3_column_int64(stmt, 2);
	out->ca = mem_dup(db_text(stmt, 3));
	if (db_text(stmt, 4))
		out->deriver = mem_printf(STORE_DIR "/%s", db_text(stmt, 4));
	out->registered = sqlite3_column_int64(stmt, 5);
	return add_refs(s, sqlite3_column_int64(stmt, 0), &out->refs, err) < 0 ? -1 : 1;
}

int store_query(struct store *s, const char *path, struct store_info *out, struct err *err)
{
	memset(out, 0, sizeof *out);
	const char *base = path_base(path, err);
	if (!base)
		return -1;
	if (!s->db)
		return 0;
	int rc = read_info(s, base, out, err);
	if (rc < 0)
		store_info_free(out);
	return rc;
}

int store_closure(struct store *s, const char *path, struct str_list *out, struct err *err)
{
	int64_t id = path_id(s, path, err);
	if (id < 0)
		return -1;
	if (id == 0)
		return err_set(err, ERR_FAIL, "%s is not in the store %s", path, s->folder);
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"WITH RECURSIVE closure(id) AS (VALUES (?1) "
		"UNION SELECT reference FROM ref JOIN closure ON referrer = closure.id) "
		"SELECT base FROM path JOIN closure USING (id) ORDER BY base", err);
	if (!stmt)
		return -1;
	db_bind_int(stmt, 1, id);
	int rc;
	while ((rc = db_step(s->db, stmt, err)) > 0)
		str_list_take(out, mem_printf(STORE_DIR "/%s", db_text(stmt, 0)));
	return rc;
}
