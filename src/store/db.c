#include "store/db.h"

#include <errno.h>
#include <string.h>

#include "core/list.h"
#include "core/mem.h"
#include "store/schema.sql.h"

/* How long to wait for another process's transaction: they take milliseconds, so much more
 * means that it is stopped or the disk is stuck. */
#define BUSY_MS 60000

struct cached {
	const char *sql;
	sqlite3_stmt *stmt;
};

struct db {
	sqlite3 *sql;
	char *file;
	LIST(struct cached) cache;
};

/* What SQLite says, as forge says it.  errno of the system call is kept, so that a full disk is seen as one. */
static int db_err(struct db *db, struct err *err)
{
	int rc = db->sql ? sqlite3_errcode(db->sql) & 0xff : SQLITE_NOMEM;
	int sys = db->sql ? sqlite3_system_errno(db->sql) : 0;
	if (rc == SQLITE_FULL || sys == ENOSPC || sys == EDQUOT) {
		errno = sys == EDQUOT ? EDQUOT : ENOSPC;
		return err_sys(err, "the disk is full: can't write %s", db->file);
	}
	if (rc == SQLITE_BUSY || rc == SQLITE_LOCKED)
		return err_set(err, ERR_FAIL, "%s has been locked by another process for %d seconds", db->file,
			BUSY_MS / 1000);
	if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
		return err_set(err, ERR_FAIL, "%s is damaged: %s", db->file, sqlite3_errmsg(db->sql));
	if (sys) {
		errno = sys;
		return err_sys(err, "%s: %s", db->file, sqlite3_errmsg(db->sql));
	}
	return err_set(err, ERR_FAIL, "%s: %s", db->file, db->sql ? sqlite3_errmsg(db->sql) : "out of memory");
}

int db_exec(struct db *db, const char *sql, struct err *err)
{
	if (sqlite3_exec(db->sql, sql, NULL, NULL, NULL) != SQLITE_OK)
		return db_err(db, err);
	return 0;
}

/* "file:…?immutable=1": SQLite's URI form, in which a path must be escaped. */
static char *immutable_uri(const char *file)
{
	struct buf uri = BUF_INIT;
	buf_str(&uri, "file:");
	for (const char *at = file; *at; at++) {
		if (strchr("%?#", *at))
			buf_printf(&uri, "%%%02X", *at);
		else
			buf_byte(&uri, *at);
	}
	buf_str(&uri, "?immutable=1");
	return buf_steal(&uri);
}

static void disconnect(struct db *db)
{
	for (size_t i = 0; i < db->cache.count; i++)
		sqlite3_finalize(db->cache.items[i].stmt);
	list_free(&db->cache);
	sqlite3_close(db->sql);
	db->sql = NULL;
}

static int connect_to(struct db *db, const char *name, int flags, struct err *err)
{
	disconnect(db);
	if (sqlite3_open_v2(name, &db->sql, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK)
		return db_err(db, err);
	sqlite3_extended_result_codes(db->sql, 1);
	sqlite3_busy_timeout(db->sql, BUSY_MS);
	return 0;
}

/*
 * Reading a WAL database wants its -shm file, to create or at least to read.  It is left in place by
 * writers (see connect_to_write), so this works for strangers and on read-only file systems, locks
 * included.  Where it is missing all the same (a bare copy on a read-only disk), nobody can be
 * writing through it, and the file is read as it is.
 */
static int connect_to_read(struct db *db, struct err *err)
{
	_cleanup_err_ struct err first = { 0 };
	if (connect_to(db, db->file, SQLITE_OPEN_READONLY, &first) == 0 && db_version(db, &first) >= 0)
		return 0;
	int rc = db->sql ? sqlite3_errcode(db->sql) & 0xff : SQLITE_NOMEM;
	if (rc != SQLITE_CANTOPEN && rc != SQLITE_READONLY)
		return err_move(err, &first);
	_cleanup_free_ char *uri = immutable_uri(db->file);
	if (connect_to(db, uri, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) < 0 || db_version(db, NULL) < 0)
		return err_move(err, &first);
	return 0;
}

static int connect_to_write(struct db *db, struct err *err)
{
	if (connect_to(db, db->file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, err) < 0)
		return -1;
	if (sqlite3_db_readonly(db->sql, "main") == 1)
		return err_set(err, ERR_FAIL, "%s is read-only", db->file);
	/* Keep -wal and -shm when the last one closes: readers without the right to write need them. */
	int keep = 1;
	sqlite3_file_control(db->sql, "main", SQLITE_FCNTL_PERSIST_WAL, &keep);
	/* NORMAL: a power cut may take the last additions back, never break the file; what they
	 * named is then found in objects/ and adopted.  Deletions switch to FULL. */
	return db_exec(db, "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA journal_size_limit = 0",
		err);
}

struct db *db_open(const char *folder, bool write, struct err *err)
{
	struct db *db = mem_alloc(sizeof *db);
	db->file = mem_printf("%s/db.sqlite", folder);
	if ((write ? connect_to_write(db, err) : connect_to_read(db, err)) < 0) {
		db_close(db);
		return NULL;
	}
	return db;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	disconnect(db);
	free(db->file);
	free(db);
}

int db_version(struct db *db, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(db, "PRAGMA user_version", err);
	if (!stmt || db_step(db, stmt, err) < 0)
		return -1;
	return sqlite3_column_int(stmt, 0);
}

int db_create(struct db *db, struct err *err)
{
	/* The journal mode is kept in the file; it can't be changed inside a transaction. */
	if (db_exec(db, "PRAGMA journal_mode = WAL", err) < 0 || db_begin(db, err) < 0)
		return -1;
	int version = db_version(db, err);
	if (version < 0 || (version == 0 && db_exec(db, schema_sql_text, err) < 0) || db_commit(db, err) < 0) {
		db_rollback(db);
		return -1;
	}
	return 0;
}

/* upgrades[n]: from version n + 1 to n + 2. */
static const char *const upgrades[DB_VERSION - 1] = {
	"ALTER TABLE build ADD COLUMN note TEXT; CREATE INDEX build_name ON build(name); PRAGMA user_version = 2",
	"ALTER TABLE path ADD COLUMN used INTEGER NOT NULL DEFAULT 0; "
	"CREATE TABLE manifest (command BLOB NOT NULL PRIMARY KEY, body BLOB NOT NULL, "
	"path INTEGER NOT NULL REFERENCES path(id) ON DELETE CASCADE) STRICT; "
	"CREATE INDEX manifest_path ON manifest(path); PRAGMA user_version = 3",
};

int db_upgrade(struct db *db, struct err *err)
{
	if (db_begin(db, err) < 0)
		return -1;
	int version = db_version(db, err); /* by now another process may have done it */
	for (; version > 0 && version < DB_VERSION; version++)
		if (db_exec(db, upgrades[version - 1], err) < 0)
			version = -2;
	if (version < 0 || db_commit(db, err) < 0) {
		db_rollback(db);
		return -1;
	}
	return 0;
}

int db_begin(struct db *db, struct err *err)
{
	return db_exec(db, "BEGIN IMMEDIATE", err);
}

int db_commit(struct db *db, struct err *err)
{
	return db_exec(db, "COMMIT", err);
}

void db_rollback(struct db *db)
{
	int saved = errno;
	if (!sqlite3_get_autocommit(db->sql))
		sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL);
	errno = saved;
}

int db_durable(struct db *db, bool durable, struct err *err)
{
	return db_exec(db, durable ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", err);
}

void db_shrink(struct db *db)
{
	sqlite3_wal_checkpoint_v2(db->sql, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
}

int db_begin_read(struct db *db, struct err *err)
{
	return db_exec(db, "BEGIN", err);
}

void db_end_read(struct db *db)
{
	db_rollback(db);
}

sqlite3_stmt *db_stmt(struct db *db, const char *sql, struct err *err)
{
	for (size_t i = 0; i < db->cache.count; i++)
		if (db->cache.items[i].sql == sql)
			return db->cache.items[i].stmt;
	sqlite3_stmt *stmt = NULL;
	if (sqlite3_prepare_v3(db->sql, sql, -1, SQLITE_PREPARE_PERSISTENT, &stmt, NULL) != SQLITE_OK) {
		db_err(db, err);
		return NULL;
	}
	*list_push(&db->cache) = (struct cached){ sql, stmt };
	return stmt;
}

void db_stmt_done(sqlite3_stmt **stmt)
{
	int saved = errno;
	if (*stmt) {
		sqlite3_reset(*stmt);
		sqlite3_clear_bindings(*stmt);
	}
	*stmt = NULL;
	errno = saved;
}

void db_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	if (text)
		sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
	else
		sqlite3_bind_null(stmt, at);
}

void db_bind_hash(sqlite3_stmt *stmt, int at, const struct hash *h)
{
	sqlite3_bind_blob(stmt, at, h->bytes, HASH_SIZE, SQLITE_STATIC);
}

void db_bind_int(sqlite3_stmt *stmt, int at, int64_t n)
{
	sqlite3_bind_int64(stmt, at, n);
}

int db_step(struct db *db, sqlite3_stmt *stmt, struct err *err)
{
	int rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		return 1;
	return rc == SQLITE_DONE ? 0 : db_err(db, err);
}

const char *db_text(sqlite3_stmt *stmt, int column)
{
	return (const char *)sqlite3_column_text(stmt, column);
}

int64_t db_last_id(struct db *db)
{
	return sqlite3_last_insert_rowid(db->sql);
}
