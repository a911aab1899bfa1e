/* Objects against what is registered. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "drv/nar_dump.h"
#include "store/internal.h"

struct report {
	store_bad_fn *fn;
	void *ctx;
	int count;
};

static void bad(struct report *r, const char *path, const char *why)
{
	r->count++;
	if (r->fn)
		r->fn(r->ctx, path, why);
}

/* The database itself: pages, and rows that refer to nothing. */
static int verify_db(struct store *s, struct report *r, struct err *err)
{
	static const char *const checks[] = { "PRAGMA quick_check(1)", "PRAGMA foreign_key_check" };
	for (size_t i = 0; i < 2; i++) {
		_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, checks[i], err);
		int rc = stmt ? db_step(s->db, stmt, err) : -1;
		if (rc < 0)
			return -1;
		if (rc > 0 && (i == 1 || !str_eq(db_text(stmt, 0), "ok")))
			bad(r, "db.sqlite", i == 1 ? "a row refers to another that is missing" : db_text(stmt, 0));
	}
	return 0;
}

static int all_paths(struct store *s, struct str_list *paths, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "SELECT base FROM path ORDER BY base", err);
	if (!stmt)
		return -1;
	int rc;
	while ((rc = db_step(s->db, stmt, err)) > 0)
		str_list_take(paths, mem_printf(STORE_DIR "/%s", db_text(stmt, 0)));
	return rc;
}

/* The path has to follow from the content address, the name and the references. */
static bool names_itself(const struct store_info *i)
{
	static const struct { const char *prefix; enum drv_method method; } kinds[] = {
		{ "fixed:r:", DRV_NAR }, { "fixed:", DRV_FLAT }, { "text:", DRV_TEXT },
	};
	for (size_t k = 0; k < 3; k++) {
		struct hash h;
		if (!str_starts(i->ca, kinds[k].prefix))
			continue;
		if (hash_parse(slice_of(i->ca + strlen(kinds[k].prefix)), &h, NULL) < 0)
			return false;
		_cleanup_buf_ struct buf path = BUF_INIT;
		const char *name = store_path_base(i->path) + STORE_PATH_DIGEST + 1;
		if (kinds[k].method == DRV_TEXT)
			store_path_text(&h, name, &i->refs, &path);
		else
			store_path_fixed(kinds[k].method, &h, name, kinds[k].method == DRV_NAR ? &i->refs : NULL, &path);
		return str_eq(path.data, i->path);
	}
	return false;
}

static char *compare_contents(struct store *s, const struct store_info *i)
{
	_cleanup_err_ struct err err = { 0 };
	struct hash found;
	uint64_t size;
	if (nar_hash(s->objects_fd, store_path_base(i->path), &found, &size, &err) < 0)
		return mem_printf("can't be read: %s", err.msg);
	if (hash_eq(&found, &i->nar_hash) && size == i->nar_size)
		return NULL;
	_cleanup_free_ char *is = hash_hex(&found), *was = hash_hex(&i->nar_hash);
	return mem_printf("its contents changed: NAR hash sha256:%s (%llu bytes), registered sha256:%s (%llu bytes)", is,
		(unsigned long long)size, was, (unsigned long long)i->nar_size);
}

/* NULL, or what is wrong. */
static char *inspect(struct store *s, const struct store_info *i, bool contents)
{
	struct stat st;
	if (fstatat(s->objects_fd, store_path_base(i->path), &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? mem_dup("is missing") : mem_printf("can't be looked at: %s", strerror(errno));
	if (!names_itself(i))
		return mem_dup("its path does not follow from what is registered of it");
	/* Free to compare, and catches a file that something appended to: a NAR is longer than what it holds. */
	if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > i->nar_size)
		return mem_dup("is longer than what is registered");
	return contents ? compare_contents(s, i) : NULL;
}

static int verify_path(struct store *s, const char *path, bool contents, struct report *r, struct err *err)
{
	struct store_info info;
	int rc = store_query(s, path, &info, err);
	if (rc <= 0)
		return rc;
	_cleanup_free_ char *why = inspect(s, &info, contents);
	store_info_free(&info);
	/* Another process may have deleted it meanwhile. */
	if (why && (rc = store_valid(s, path, err)) > 0)
		bad(r, path, why);
	return rc < 0 ? -1 : 0;
}

int store_verify(struct store *s, bool contents, store_bad_fn *fn, void *ctx, struct err *err)
{
	struct report r = { fn, ctx, 0 };
	_cleanup_str_list_ struct str_list paths = STR_LIST_INIT;
	if (!s->db)
		return 0;
	if (verify_db(s, &r, err) < 0 || all_paths(s, &paths, err) < 0)
		return -1;
	for (size_t i = 0; i < paths.count; i++)
		if (verify_path(s, paths.items[i], contents, &r, err) < 0)
			return -1;
	return r.count;
}
