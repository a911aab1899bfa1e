/*
 * The database of a store, the only file that opens SQLite.  Statements are
 * prepared when first used and kept; each caller keeps its SQL beside its use.
 */
#ifndef FORGE_STORE_DB_H
#define FORGE_STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include "core/err.h"
#include "core/hash.h"

#define DB_VERSION 3 /* PRAGMA user_version that schema.sql sets */

struct db;

/* Open folder/db.sqlite.  With write it is created where missing; the caller then sees db_version() 0
 * and calls db_create() under a lock.  Without, a place that can't be written is read all the same. */
struct db *db_open(const char *folder, bool write, struct err *err);
void db_close(struct db *db);

/* PRAGMA user_version; -1 on error. */
int db_version(struct db *db, struct err *err);
/* Lay out an empty database; nothing is done where it has a version by now. */
int db_create(struct db *db, struct err *err);
/* Bring a database of an older version, from 1 on, to DB_VERSION. */
int db_upgrade(struct db *db, struct err *err);

int db_exec(struct db *db, const char *sql, struct err *err);
/* A transaction for writing; db_rollback keeps errno and is harmless outside one. */
int db_begin(struct db *db, struct err *err);
int db_commit(struct db *db, struct err *err);
void db_rollback(struct db *db);
/* With it, what db_commit() has committed survives a power cut: an object must not be gone while its row can come
 * back.  Not within a transaction. */
int db_durable(struct db *db, bool durable, struct err *err);
/* Bring what is in the journal into the file itself, so that it takes no room; where that can't be now, it stays. */
void db_shrink(struct db *db);
/* A transaction for reading: one snapshot, and cheaper than one for each statement. */
int db_begin_read(struct db *db, struct err *err);
void db_end_read(struct db *db);

/* A statement ready to bind; sql is a string constant (kept by its address).  NULL on error.
 * Hold it in a _cleanup_stmt_ variable: it is reset there.  Not for recursion. */
sqlite3_stmt *db_stmt(struct db *db, const char *sql, struct err *err);
void db_stmt_done(sqlite3_stmt **stmt);
#define _cleanup_stmt_ __attribute__((cleanup(db_stmt_done)))

/* Bound values are borrowed until the statement is done. Columns and parameters as SQLite counts them. */
void db_bind_text(sqlite3_stmt *stmt, int at, const char *text); /* NULL binds NULL */
void db_bind_hash(sqlite3_stmt *stmt, int at, const struct hash *h);
void db_bind_int(sqlite3_stmt *stmt, int at, int64_t n);
int db_step(struct db *db, sqlite3_stmt *stmt, struct err *err); /* 1 a row, 0 the end, -1 */
const char *db_text(sqlite3_stmt *stmt, int column);            /* NULL for NULL */
int64_t db_last_id(struct db *db);

#endif
