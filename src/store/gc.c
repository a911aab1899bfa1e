/*
 * Removing what is dead, batch by batch: with the gate closed to all others its rows go, durably, and its objects
 * step aside into tmp; with the gate open again the bytes go.  So others wait for milliseconds only, and a kill
 * leaves objects without rows (the next gc finds them) or names in tmp (the next forge sweeps them).
 */
#include "store/gc.h"

#include <errno.h>
#include <sys/file.h>

#include "core/fs.h"
#include "store/gc_impl.h"

#define BATCH 1000

struct taken {
	const struct store_dead *dead;
	char *tmp; /* owned */
};

struct collecting {
	struct store *s;
	const struct store_gc *gc;
	struct store_gc_done *done;
	size_t at;              /* of gc->dead */
	LIST(struct taken) taken;
	size_t failed;
	struct err first;       /* why something could not be removed */
};

static void fails(struct collecting *c, struct err *err)
{
	if (c->failed++ == 0)
		err_move(&c->first, err);
	else
		err_clear(err);
}

static void count_removed(struct collecting *c, const struct store_dead *d)
{
	c->done->removed++;
	c->done->bytes += d->bytes;
}

static bool is_full(const struct err *err)
{
	return err->code == ERR_SYS && (err->sys == ENOSPC || err->sys == EDQUOT);
}

/* The row of what is dead still: 0 if it is not. */
static int64_t dead_id(struct store *s, const struct store_dead *d, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"SELECT id FROM path WHERE base = ?1 AND max(used, registered) <= ?2 "
		"AND NOT EXISTS (SELECT 1 FROM root WHERE root.path = path.id) "
		"AND NOT EXISTS (SELECT 1 FROM ref WHERE reference = path.id AND referrer <> path.id)", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, d->base);
	db_bind_int(stmt, 2, d->own_used);
	int rc = db_step(s->db, stmt, err);
	return rc <= 0 ? rc : sqlite3_column_int64(stmt, 0);
}

/* sql: what goes of the row ?1. */
static int drop(struct store *s, const char *sql, int64_t id, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, sql, err);
	if (!stmt)
		return -1;
	db_bind_int(stmt, 1, id);
	return db_step(s->db, stmt, err);
}

/* 1: nobody can find it any more; 0: it stays; -1. */
static int unregister(struct store *s, const struct store_dead *d, const struct name_set *held, struct err *err)
{
	static const char refs[] = "DELETE FROM ref WHERE referrer = ?", path[] = "DELETE FROM path WHERE id = ?";
	if (name_set_has(held, d->base))
		return 0;
	if (!d->registered) { /* it may be by now */
		int64_t known = base_id(s, d->base, err);
		return known < 0 ? -1 : known == 0;
	}
	int64_t id = dead_id(s, d, err);
	if (id <= 0)
		return (int)id;
	return drop(s, refs, id, err) < 0 || drop(s, path, id, err) < 0 ? -1 : 1;
}

static int unregister_all(struct collecting *c, size_t count, struct err *err)
{
	_cleanup_name_set_ struct name_set held = { 0 };
	if (hold_read_all(c->s, &held, err) < 0 || db_begin(c->s->db, err) < 0)
		return -1;
	int rc = 0;
	for (size_t i = 0; i < count && rc >= 0; i++) {
		const struct store_dead *d = &c->gc->dead.items[c->at + i];
		rc = unregister(c->s, d, &held, err);
		if (rc > 0)
			*list_push(&c->taken) = (struct taken){ d, NULL };
	}
	if (rc >= 0 && db_commit(c->s->db, err) == 0)
		return 0;
	db_rollback(c->s->db);
	c->taken.count = 0;
	return -1;
}

static int take_batch(struct collecting *c, size_t count, struct err *err)
{
	_cleanup_close_ int gate = lock_gate(c->s, LOCK_EX, err);
	if (gate < 0 || unregister_all(c, count, err) < 0)
		return -1;
	for (size_t i = 0; i < c->taken.count; i++) {
		struct taken *t = &c->taken.items[i];
		struct err own = { 0 };
		int rc = object_aside(c->s, t->dead->base, &t->tmp, &own);
		if (rc < 0 && is_full(&own)) { /* no room for a name in tmp: then here, while nobody else can be at it */
			err_clear(&own);
			rc = fs_remove_tree(c->s->objects_fd, t->dead->base, &own);
		}
		if (rc < 0)
			fails(c, &own);
		else if (!t->tmp)
			count_removed(c, t->dead);
	}
	return 0;
}

static void remove_taken(struct collecting *c, store_gc_fn *fn, void *ctx)
{
	for (size_t i = 0; i < c->taken.count; i++) {
		struct taken *t = &c->taken.items[i];
		struct err own = { 0 };
		if (fn)
			fn(ctx, c->at + i, c->gc->dead.count);
		if (t->tmp && fs_remove_tree(c->s->tmp_fd, t->tmp, &own) < 0) {
			fails(c, &own);
		} else if (t->tmp) {
			count_removed(c, t->dead);
		}
		free(t->tmp);
	}
	c->taken.count = 0;
}

static int remove_all(struct collecting *c, store_gc_fn *fn, void *ctx, struct err *err)
{
	size_t total = c->gc->dead.count;
	for (size_t batch = BATCH; c->at < total;) {
		_cleanup_err_ struct err own = { 0 };
		size_t count = total - c->at < batch ? total - c->at : batch;
		if (take_batch(c, count, &own) == 0) {
			remove_taken(c, fn, ctx);
			c->at += count;
		} else if (count > 1 && is_full(&own)) { /* few rows need little room, and then there is more */
			batch = count / 8 + 1;
			db_shrink(c->s->db);
		} else {
			return err_move(err, &own);
		}
	}
	return 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

static int count_left(struct store *s, struct store_gc_done *done, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT count(*), coalesce(sum(nar_size), 0) FROM path", err);
	if (!stmt || db_step(s->db, stmt, err) < 0)
		return -1;
	done->left = (size_t)sqlite3_column_int64(stmt, 0);
	done->left_bytes = less((uint64_t)sqlite3_column_int64(stmt, 1), share_saved(s));
	return 0;
}

static int run(struct collecting *c, store_gc_fn *fn, void *ctx, struct err *err)
{
	struct store *s = c->s;
	if (c->gc->dead.count + c->gc->stale.count)
		reserve_spend(s);
	if (db_durable(s->db, true, err) < 0)
		return -1;
	uint64_t shared = share_saved(s);
	int rc = gc_drop_roots(s, &c->gc->stale, err);
	if (rc == 0)
		rc = remove_all(c, fn, ctx, err);
	share_sweep(s);
	c->done->bytes = less(c->done->bytes, less(shared, share_saved(s)));
	if (db_durable(s->db, false, rc < 0 ? NULL : err) < 0)
		rc = -1;
	reserve_keep(s);
	if (count_left(s, c->done, rc < 0 ? NULL : err) < 0)
		rc = -1;
	return rc;
}

int store_gc_run(struct store *s, const struct store_gc *gc, store_gc_fn *fn, void *ctx,
	struct store_gc_done *out, struct err *err)
{
	struct collecting c = { .s = s, .gc = gc, .done = out };
	*out = (struct store_gc_done){ 0 };
	if (store_need_write(s, err) < 0)
		return -1;
	int rc = run(&c, fn, ctx, err);
	if (rc == 0 && c.failed) {
		err_move(err, &c.first);
		rc = c.failed > 1 ? err_add(err, "%zu objects can't be removed; the first", c.failed) : -1;
	}
	err_clear(&c.first);
	list_free(&c.taken);
	return rc;
}
