/* Adding a batch of prepared objects, in the order that survives a sudden end (DESIGN 4). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "store/internal.h"

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Every reference is valid or comes with the batch. */
static int check_refs(struct store *s, const struct store_prepared *items, size_t count, struct err *err)
{
	_cleanup_free_ const char **batch = mem_alloc(count * sizeof *batch);
	for (size_t i = 0; i < count; i++) {
		batch[i] = items[i].path;
		if (!path_base(items[i].path, err) || (items[i].deriver && !path_base(items[i].deriver, err)))
			return -1;
	}
	qsort(batch, count, sizeof *batch, by_text);
	for (size_t i = 0; i < count; i++) {
		for (size_t k = 0; k < items[i].refs.count; k++) {
			const char *ref = items[i].refs.items[k];
			if (bsearch(&ref, batch, count, sizeof *batch, by_text))
				continue;
			int valid = store_valid(s, ref, err);
			if (valid <= 0)
				return valid < 0 ? -1 : err_set(err, ERR_FAIL,
					"%s refers to %s, which is not in the store %s", items[i].path, ref, s->folder);
		}
	}
	return 0;
}

/* objects/base is there without being registered: a crash or another process just now put it there.
 * What holds the right bytes is kept, anything else gives way to the new copy. */
static int adopt(struct store *s, const struct store_prepared *item, const char *base, struct err *err)
{
	_cleanup_err_ struct err why = { 0 }; /* what can't be read is as good as wrong */
	if (object_is(s->objects_fd, base, &item->nar_hash, &why) == 1)
		return 0;
	return object_swap(s, item->tmp_name, base, err);
}

static int place(struct store *s, const struct store_prepared *item, struct err *err)
{
	const char *base = store_path_base(item->path);
	int failed = object_rename_new(s->tmp_fd, item->tmp_name, s->objects_fd, base);
	if (failed == EEXIST) {
		int valid = store_valid(s, item->path, err);
		if (valid < 0 || (!valid && adopt(s, item, base, err) < 0))
			return -1;
	} else if (failed) {
		errno = failed;
		return err_sys(err, "can't move %s into %s/objects", base, s->folder);
	}
	return seal_root(s->objects_fd, base, err);
}

static int register_path(struct store *s, const struct store_prepared *item, int64_t now, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"INSERT INTO path (base, nar_hash, nar_size, ca, deriver, registered) VALUES (?, ?, ?, ?, ?, ?) "
		"ON CONFLICT DO NOTHING", err);
	if (!stmt)
		return -1;
	_cleanup_free_ char *ca = object_ca(item->method,
		item->method == DRV_NAR ? &item->nar_hash : &item->flat_hash);
	db_bind_text(stmt, 1, store_path_base(item->path));
	db_bind_hash(stmt, 2, &item->nar_hash);
	db_bind_int(stmt, 3, (int64_t)item->nar_size);
	db_bind_text(stmt, 4, ca);
	db_bind_text(stmt, 5, item->deriver ? store_path_base(item->deriver) : NULL);
	db_bind_int(stmt, 6, now);
	return db_step(s->db, stmt, err);
}

static int register_refs(struct store *s, const struct store_prepared *item, struct err *err)
{
	int64_t referrer = item->refs.count ? path_id(s, item->path, err) : 0;
	if (referrer < 0)
		return -1;
	for (size_t i = 0; i < item->refs.count; i++) {
		int64_t reference = path_id(s, item->refs.items[i], err);
		if (reference <= 0) /* deleted since check_refs() */
			return reference < 0 ? -1 : err_set(err, ERR_FAIL, "%s refers to %s, which is not in the store %s",
				item->path, item->refs.items[i], s->folder);
		_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
			"INSERT INTO ref (referrer, reference) VALUES (?, ?) ON CONFLICT DO NOTHING", err);
		if (!stmt)
			return -1;
		db_bind_int(stmt, 1, referrer);
		db_bind_int(stmt, 2, reference);
		if (db_step(s->db, stmt, err) < 0)
			return -1;
	}
	return 0;
}

static int register_all(struct store *s, const struct store_prepared *items, size_t count, int64_t now,
	struct err *err)
{
	if (db_begin(s->db, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (register_path(s, &items[i], now, err) < 0)
			goto failed;
	for (size_t i = 0; i < count; i++)
		if (register_refs(s, &items[i], err) < 0)
			goto failed;
	if (hold_write_uses(s, err) == 0 && db_commit(s->db, err) == 0) {
		hold_uses_written(s);
		return 0;
	}
failed:
	db_rollback(s->db);
	return -1;
}

int store_settle(int tmp_fd, struct store_prepared *items, size_t count, struct err *err)
{
	bool settled = true;
	for (size_t i = 0; i < count; i++)
		settled = settled && items[i].settled;
	if (!settled && syncfs(tmp_fd) < 0)
		return err_sys(err, "can't make %s durable", items[0].name);
	for (size_t i = 0; i < count; i++)
		items[i].settled = true;
	return 0;
}

/* With the gate held. */
static int add_all(struct store *s, const struct store_prepared *items, size_t count, struct err *err)
{
	int64_t now = (int64_t)time(NULL);
	for (size_t i = 0; i < count; i++) {
		if (place(s, &items[i], err) < 0)
			return -1;
		hold_add(s, store_path_base(items[i].path), now);
	}
	if (fsync(s->objects_fd) < 0)
		return err_sys(err, "can't make %s/objects durable", s->folder);
	return hold_write(s, err) < 0 ? -1 : register_all(s, items, count, now, err);
}

static int commit(struct store *s, struct store_prepared *items, size_t count, struct err *err)
{
	if (check_refs(s, items, count, err) < 0)
		return -1;
	if (store_settle(s->tmp_fd, items, count, err) < 0)
		return -1;
	if (store_hold_begin(s, err) < 0)
		return -1;
	int rc = add_all(s, items, count, err);
	return store_hold_end(s, rc < 0 ? NULL : err) < 0 ? -1 : rc;
}

int store_commit(struct store *s, struct store_prepared *items, size_t count, struct err *err)
{
	if (count == 0)
		return 0;
	if (store_need_write(s, err) < 0)
		return -1;
	int rc = commit(s, items, count, err);
	if (rc < 0)
		store_full(s->objects_fd, err);
	/* What was moved is gone from here; copies that were not wanted, and all of a failed batch, go now. */
	for (size_t i = 0; i < count; i++)
		fs_remove_tree(s->tmp_fd, items[i].tmp_name, NULL);
	return rc;
}
