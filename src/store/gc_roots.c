/* What roots keep: rows of the database and links in store/roots. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "store/gc_impl.h"

/* "../objects/<base>" or "<folder>/objects/<base>", and perhaps a file in that: the base, owned by the caller.
 * NULL: it leads elsewhere. */
static char *base_of_target(const struct store *s, const char *target)
{
	static const char relative[] = "../objects/";
	_cleanup_free_ char *absolute = mem_printf("%s/objects/", s->folder);
	const char *base = str_starts(target, relative) ? target + strlen(relative)
		: str_starts(target, absolute) ? target + strlen(absolute) : NULL;
	return base ? mem_dup_n(base, strcspn(base, "/")) : NULL;
}

/* 1: a link to an object, *base; 0: something else; -1: there is no such name. */
static int read_link(const struct store *s, int roots, const char *name, char **base)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(roots, name, target, sizeof target - 1);
	if (n < 0)
		return errno == ENOENT ? -1 : 0;
	target[n] = '\0';
	*base = base_of_target(s, target);
	return *base != NULL;
}

/* Registered and on disk: 1, 0, -1. */
static int is_there(struct store *s, const char *base, struct err *err)
{
	int64_t known = base_id(s, base, err);
	if (known <= 0)
		return (int)known;
	return faccessat(s->objects_fd, base, F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT;
}

static int read_rows(struct store *s, struct str_list *names, struct str_list *bases, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"SELECT name, base FROM root JOIN path ON path.id = root.path ORDER BY name", err);
	if (!stmt)
		return -1;
	int rc;
	while ((rc = db_step(s->db, stmt, err)) > 0) {
		str_list_add(names, db_text(stmt, 0));
		str_list_add(bases, db_text(stmt, 1));
	}
	return rc;
}

/* The object stays for this root: 1, 0, -1. */
static int row_keeps(struct store *s, int roots, const char *name, const char *base, struct err *err)
{
	_cleanup_free_ char *target = NULL;
	return read_link(s, roots, name, &target) < 0 ? 0 : is_there(s, base, err);
}

/* Likewise for a link: 1, with *base; 0; -1; and 2 for what is none to an object. */
static int link_keeps(struct store *s, int roots, const char *name, char **base, struct err *err)
{
	int rc = read_link(s, roots, name, base);
	return rc > 0 ? is_there(s, *base, err) : 2;
}

int gc_roots(struct store *s, struct str_list *kept, struct str_list *stale, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT, bases = STR_LIST_INIT, links = STR_LIST_INIT;
	_cleanup_close_ int roots = store_sub(s, "roots", err);
	/* Rows before links: a row that can be read has its link, unless somebody removed it. */
	if (roots < 0 || read_rows(s, &names, &bases, err) < 0 || fs_list(roots, &links, err) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		int rc = row_keeps(s, roots, names.items[i], bases.items[i], err);
		if (rc < 0)
			return -1;
		str_list_add(rc ? kept : stale, rc ? bases.items[i] : names.items[i]);
	}
	for (size_t i = 0; i < links.count; i++) {
		_cleanup_free_ char *base = NULL;
		int rc = link_keeps(s, roots, links.items[i], &base, err);
		if (rc < 0)
			return -1;
		if (rc == 1)
			str_list_take(kept, steal_ptr(base));
		else if (rc == 0)
			str_list_add(stale, links.items[i]);
	}
	str_list_sort(stale);
	str_list_uniq(stale);
	return 0;
}

static int drop_row(struct store *s, const char *name, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db, "DELETE FROM root WHERE name = ?", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, name);
	return db_step(s->db, stmt, err);
}

/* The base that a row has for it: 1, 0, -1. */
static int row_base(struct store *s, const char *name, char **base, struct err *err)
{
	_cleanup_stmt_ sqlite3_stmt *stmt = db_stmt(s->db,
		"SELECT base FROM root JOIN path ON path.id = root.path WHERE name = ?", err);
	if (!stmt)
		return -1;
	db_bind_text(stmt, 1, name);
	int rc = db_step(s->db, stmt, err);
	if (rc > 0)
		*base = mem_dup(db_text(stmt, 0));
	return rc;
}

static int drop_root(struct store *s, int roots, const char *name, struct err *err)
{
	_cleanup_free_ char *base = NULL, *target = NULL;
	int row = row_base(s, name, &base, err);
	int keeps = row > 0 ? row_keeps(s, roots, name, base, err) : row;
	if (keeps == 0 && row > 0 && drop_row(s, name, err) < 0)
		return -1;
	int links = keeps < 0 ? -1 : link_keeps(s, roots, name, &target, err);
	if (links == 0 && unlinkat(roots, name, 0) < 0 && errno != ENOENT)
		return err_sys(err, "can't remove %s/roots/%s", s->folder, name);
	return links < 0 ? -1 : 0;
}

/* In a transaction for writing, as store_root_set(): so neither comes into the middle of the other. */
int gc_drop_roots(struct store *s, const struct str_list *stale, struct err *err)
{
	_cleanup_close_ int roots = stale->count ? store_sub(s, "roots", err) : -1;
	if (stale->count == 0)
		return 0;
	if (roots < 0 || db_begin(s->db, err) < 0)
		return -1;
	for (size_t i = 0; i < stale->count; i++) {
		if (drop_root(s, roots, stale->items[i], err) < 0) {
			db_rollback(s->db);
			return -1;
		}
	}
	if (db_commit(s->db, err) == 0)
		return 0;
	db_rollback(s->db);
	return -1;
}
