/* What builds took. */
#include "store/internal.h"

int store_build_add(struct store *s, const struct store_build *b, struct err *err)
{
	if (store_need_write(s, err) < 0)
		return -1;
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"INSERT INTO build (drv, name, what, log, start_ms, end_ms, cpu_ms, peak_memory, status, path, note) "
		"VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, b->drv_path);
	db_bind_text(stmt, 2, b->name);
	db_bind_text(stmt, 3, b->what);
	db_bind_text(stmt, 4, b->log);
	db_bind_int(stmt, 5, b->start_ms);
	db_bind_int(stmt, 6, b->end_ms);
	db_bind_int(stmt, 7, b->cpu_ms);
	db_bind_int(stmt, 8, (int64_t)b->peak_memory);
	db_bind_int(stmt, 9, b->status);
	db_bind_text(stmt, 10, b->path);
	db_bind_text(stmt, 11, b->note);
	return db_step(s->db, stmt, err);
}

/* sql: the columns of struct store_build; ?1 the text to match, ?2 the limit. */
static int walk(struct store *s, const char *sql, const char *match, size_t limit, store_build_fn *fn, void *ctx,
	struct err *err)
{
	if (!s->db)
		return 0;
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, sql, err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, match);
	db_bind_int(stmt, 2, limit > INT64_MAX ? INT64_MAX : (int64_t)limit);
	int rc;
	while ((rc = db_step(s->db, stmt, err)) > 0) {
		struct store_build b = {
			.drv_path = db_text(stmt, 0),
			.name = db_text(stmt, 1),
			.what = db_text(stmt, 2),
			.log = db_text(stmt, 3),
			.start_ms = sqlite3_column_int64(stmt, 4),
			.end_ms = sqlite3_column_int64(stmt, 5),
			.cpu_ms = sqlite3_column_int64(stmt, 6),
			.peak_memory = (uint64_t)sqlite3_column_int64(stmt, 7),
			.status = sqlite3_column_int(stmt, 8),
			.path = db_text(stmt, 9),
			.note = db_text(stmt, 10),
		};
		int stop = fn(ctx, &b);
		if (stop)
			return stop;
	}
	return rc;
}

#define RECORDS "SELECT drv, name, what, log, start_ms, end_ms, cpu_ms, peak_memory, status, path, note FROM build " \
	"WHERE (?1 IS NULL OR instr(name, ?1) OR instr(drv, ?1)) AND what "
#define COMPILES "IN ('compile', 'step')"
#define NEWEST " ORDER BY id DESC LIMIT ?2"

static const char builds[] = RECORDS "NOT " COMPILES NEWEST, compiles[] = RECORDS COMPILES NEWEST;

int store_builds(struct store *s, const char *match, size_t limit, store_build_fn *fn, void *ctx, struct err *err)
{
	return walk(s, builds, match, limit, fn, ctx, err);
}

int store_compiles(struct store *s, const char *match, size_t limit, store_build_fn *fn, void *ctx, struct err *err)
{
	return walk(s, compiles, match, limit, fn, ctx, err);
}

/* A command that is taken apart waits between its steps, so that its time is what they took of the processor; one that
 * took next to nothing of that waits for something else. */
#define TOOK "CASE WHEN cpu_ms >= 100 THEN cpu_ms ELSE end_ms - start_ms END"

int store_compile_last(struct store *s, const char *name, int64_t *ms, uint64_t *peak_memory, struct err *err)
{
	if (!s->db)
		return 0;
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT " TOOK ", peak_memory FROM build "
		"WHERE name = ? AND what " COMPILES " AND status = 0 AND note LIKE 'miss%' ORDER BY id DESC LIMIT 1", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, name);
	int rc = db_step(s->db, stmt, err);
	if (rc > 0) {
		*ms = sqlite3_column_int64(stmt, 0);
		*peak_memory = (uint64_t)sqlite3_column_int64(stmt, 1);
	}
	return rc;
}

int store_compile_sum(struct store *s, const char *drv_name, int64_t *count, int64_t *ms, struct err *err)
{
	if (!s->db)
		return 0;
	/* Of each source the newest, in the builds of this name. */
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT count(*), coalesce(sum(ms), 0) FROM "
		"(SELECT " TOOK " AS ms, max(id) FROM build WHERE what = 'compile' AND note LIKE 'miss%' "
		"AND substr(drv, -length(?1)) = ?1 GROUP BY name)", err);
	if (!stmt)
		return -1;
	_cleanup_free_ char *suffix = mem_printf("-%s.drv", drv_name);
	db_bind_text(stmt, 1, suffix);
	int rc = db_step(s->db, stmt, err);
	if (rc > 0) {
		*count = sqlite3_column_int64(stmt, 0);
		*ms = sqlite3_column_int64(stmt, 1);
	}
	return rc;
}
