/* Roots: the database says what is kept; store/roots shows it as links. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"
#include "store/internal.h"

#define ROOT_NAME_MAX 200

static int check_name(const char *name, struct err *err)
{
	size_t n = strlen(name);
	bool good = n > 0 && n <= ROOT_NAME_MAX && name[0] != '.' && !strchr(name, '/');
	for (size_t i = 0; i < n && good; i++)
		good = (unsigned char)name[i] > ' ' && name[i] != 0x7f;
	if (good)
		return 0;
	_cleanup_buf_ struct buf shown = BUF_INIT;
	json_quote(slice_of(name), &shown);
	return err_set(err, ERR_FAIL, "%s can't be the name of a root (1 to %d characters without white space or "
		"\"/\", not beginning with a dot)", shown.data, ROOT_NAME_MAX);
}

/* Relative, so that a store can be moved. */
static int set_link(struct store *s, const char *name, const char *base, struct err *err)
{
	_cleanup_close_ int roots = store_sub(s, "roots", err);
	_cleanup_free_ char *tmp = roots < 0 ? NULL : store_tmp_name(s, "root", err);
	if (!tmp)
		return -1;
	_cleanup_free_ char *target = mem_printf("../objects/%s", base);
	if (symlinkat(target, s->tmp_fd, tmp) == 0 && renameat(s->tmp_fd, tmp, roots, name) == 0)
		return 0;
	err_sys(err, "can't write %s/roots/%s", s->folder, name);
	store_full(roots, err);
	unlinkat(s->tmp_fd, tmp, 0);
	return -1;
}

static int set_row(struct store *s, const char *name, int64_t path, const char *data, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"INSERT INTO root (name, path, data) VALUES (?, ?, ?) "
		"ON CONFLICT (name) DO UPDATE SET path = excluded.path, data = excluded.data", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, name);
	db_bind_int(stmt, 2, path);
	db_bind_text(stmt, 3, data);
	return db_step(s->db, stmt, err);
}

/* It says all that already, in both places: 1, 0, -1. */
static int is_set(struct store *s, const char *name, const char *path, const char *data, struct err *err)
{
	char target[PATH_MAX];
	_cleanup_free_ char *file = mem_printf("roots/%s", name), *wanted = NULL;
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT 1 FROM root JOIN path ON path.id = root.path "
		"WHERE name = ? AND base = ? AND data IS ?", err);
	if (!stmt)
		return -1;
	wanted = mem_printf("../objects/%s", store_path_base(path));
	db_bind_text(stmt, 1, name);
	db_bind_text(stmt, 2, store_path_base(path));
	db_bind_text(stmt, 3, data);
	int rc = db_step(s->db, stmt, err);
	ssize_t n = rc > 0 ? readlinkat(s->root_fd, file, target, sizeof target) : 0;
	return rc <= 0 ? rc : n >= 0 && slice_is((struct slice){ target, (size_t)n }, wanted);
}

static int set_root(struct store *s, const char *name, const char *path, const char *data, struct err *err)
{
	int64_t id = path_id(s, path, err);
	if (id <= 0)
		return id < 0 ? -1 : err_set(err, ERR_FAIL, "%s is not in the store %s", path, s->folder);
	if (set_row(s, name, id, data, err) < 0)
		return -1;
	return set_link(s, name, store_path_base(path), err);
}

int store_root_set(struct store *s, const char *name, const char *path, const char *data, struct err *err)
{
	if (check_name(name, err) < 0 || store_need_write(s, err) < 0)
		return -1;
	int set = is_set(s, name, path, data, err);
	if (set != 0)
		return set < 0 ? -1 : 0;
	if (db_begin(s->db, err) < 0)
		return -1;
	if (set_root(s, name, path, data, err) == 0 && db_commit(s->db, err) == 0)
		return 0;
	db_rollback(s->db);
	return -1;
}

int store_roots(struct store *s, store_root_fn *fn, void *ctx, struct err *err)
{
	if (!s->db)
		return 0;
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"SELECT name, base, data FROM root JOIN path ON path.id = root.path ORDER BY name", err);
	if (!stmt)
		return -1;
	int rc;
	while ((rc = db_step(s->db, stmt, err)) > 0) {
		_cleanup_free_ char *path = mem_printf(STORE_DIR "/%s", db_text(stmt, 1));
		int stop = fn(ctx, db_text(stmt, 0), path, db_text(stmt, 2));
		if (stop)
			return stop;
	}
	return rc;
}
