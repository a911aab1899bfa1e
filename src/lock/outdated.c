#include "lock/outdated.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/git.h"
#include "fetch/git_map.h"
#include "lock/choose.h"
#include "lock/entry.h"
#include "lock/requirement.h"
#include "lock/resolve_impl.h"
#include "wheel/name.h"
#include "wheel/version.h"

struct outdated {
	struct lock *lock;
	struct lock_reader *reader;
	struct lock_resolver *resolver;
	LIST(struct request) asked; /* each key once */
};

struct outdated *outdated_new(struct lock *l, struct lock_reader *reader, struct lock_resolver *r)
{
	struct outdated *o = mem_alloc(sizeof *o);
	o->lock = l;
	o->reader = reader;
	o->resolver = r;
	return o;
}

void outdated_free(struct outdated *o)
{
	if (!o)
		return;
	for (size_t i = 0; i < o->asked.count; i++)
		request_free(&o->asked.items[i]);
	list_free(&o->asked);
	free(o);
}

int outdated_answer(void *outdated, const struct json *request, struct json **answer, struct err *err)
{
	struct outdated *o = outdated;
	_cleanup_request_ struct request q = { 0 };
	if (lock_answer(o->reader, request, answer, err) < 0 || request_parse(request, &q, err) < 0)
		return -1;
	for (size_t i = 0; i < o->asked.count; i++)
		if (str_eq(o->asked.items[i].key, q.key))
			return 0;
	*list_push(&o->asked) = q;
	q = (struct request){ 0 };
	return 0;
}

static bool is_newer(const char *a, const char *than)
{
	_cleanup_version_ struct version va = { 0 }, vb = { 0 };
	return version_parse(slice_of(a), &va, NULL) == 0 && version_parse(slice_of(than), &vb, NULL) == 0 &&
		version_compare(&va, &vb) > 0;
}

/* A row for each thing once; what the recipe itself says of it counts. */
static void add(outdated_rows *rows, const char *name, const char *locked, const char *newest, enum outdated_how how)
{
	for (size_t i = 0; i < rows->count; i++) {
		struct outdated_row *row = &rows->items[i];
		if (!str_eq(row->name, name) || !str_eq(row->locked, locked))
			continue;
		if (how < row->how)
			row->how = how;
		return;
	}
	*list_push(rows) = (struct outdated_row){ mem_dup(name), mem_dup(locked), mem_dup(newest), how };
}

/* The names of all projects that are to be looked up, so that their pages are asked for at once. */
static void add_names(struct outdated *o, struct str_list *names)
{
	const struct json *entries = lock_entries(o->lock);
	for (size_t i = 0; i < o->asked.count; i++) {
		const struct request *q = &o->asked.items[i];
		if (q->kind == REQUEST_SDIST)
			str_list_add(names, q->name);
		if (q->kind != REQUEST_WHEELS)
			continue;
		_cleanup_json_ struct json *files = entry_answer(entries, q->key);
		for (size_t k = 0; k < json_count(files); k++)
			str_list_add(names, json_get_str(json_at(files, k), "name"));
	}
}

static int look_at_sdist(struct outdated *o, const struct request *q, outdated_rows *rows, struct err *err)
{
	const struct simple_page *page = pypi_page(o->resolver, q->name, err);
	_cleanup_free_ char *newest = page ? choose_newest_sdist(page) : NULL;
	if (newest && is_newer(newest, q->version))
		add(rows, q->name, q->version, newest, OUTDATED_RECIPE);
	return page ? 0 : -1;
}

static bool is_pinned(const struct request *q, const char *name)
{
	for (size_t i = 0; i < q->list.count; i++) {
		_cleanup_requirement_ struct requirement r = { 0 };
		if (requirement_parse(slice_of(q->list.items[i]), &r, NULL) < 0)
			continue;
		_cleanup_free_ char *project = wheel_normalise_name(r.name), *version = requirement_pin(&r);
		if (version && str_eq(project, name))
			return true;
	}
	return false;
}

static int look_at_wheels(struct outdated *o, const struct request *q, outdated_rows *rows, struct err *err)
{
	_cleanup_json_ struct json *files = entry_answer(lock_entries(o->lock), q->key);
	for (size_t i = 0; i < json_count(files); i++) {
		const char *version = json_get_str(json_at(files, i), "version");
		_cleanup_free_ char *name = wheel_normalise_name(json_get_str(json_at(files, i), "name"));
		const struct simple_page *page = pypi_page(o->resolver, name, err);
		if (!page)
			return -1;
		_cleanup_free_ char *newest = choose_newest(page, q->python, NULL);
		if (newest && is_newer(newest, version))
			add(rows, name, version, newest, is_pinned(q, name) ? OUTDATED_PINNED : OUTDATED_LOCKED);
	}
	return 0;
}

/* What stands before the version in a tag: "v", "release-". */
static size_t prefix_length(const char *tag)
{
	size_t n = 0;
	while (tag[n] && !isdigit((unsigned char)tag[n]))
		n++;
	return n;
}

/* The tag of the newest release, named as rev is; NULL: none is newer.  Lent from tags. */
static const char *newer_tag(const struct json *tags, const char *rev)
{
	size_t n = prefix_length(rev);
	const char *best = rev;
	for (size_t i = 0; i < json_count(tags); i++) {
		const char *tag = json_str(json_at(tags, i));
		_cleanup_version_ struct version v = { 0 };
		if (!tag || prefix_length(tag) != n || strncmp(tag, rev, n) != 0 ||
		    version_parse(slice_of(tag + n), &v, NULL) < 0 || version_is_prerelease(&v))
			continue;
		if (is_newer(tag + n, best + n))
			best = tag;
	}
	return best == rev ? NULL : best;
}

static int look_at_git(struct outdated *o, const struct request *q, outdated_rows *rows, struct err *err)
{
	struct net *net = resolver_net(o->resolver, err);
	const char *locked = json_get_str(lock_get(o->lock, q->key), "rev");
	_cleanup_json_ struct json *answer = NULL;
	_cleanup_free_ char *name = git_url_name(q->url);
	if (git_is_commit(q->rev)) /* a commit is no release and never another */
		return 0;
	const struct git_request ask = { .url = q->url, .rev = q->rev };
	if (!net || net_git(net, &ask, NULL, NULL, &answer, err) < 0)
		return err_add(err, "%s", name);
	const char *now = json_get_str(answer, "rev"), *newer = newer_tag(json_get(answer, "tags"), q->rev);
	if (newer)
		add(rows, name, q->rev, newer, OUTDATED_RECIPE);
	if (!str_eq(now, locked))
		add(rows, name, locked, now, OUTDATED_MOVED);
	return 0;
}

/* A tag that is another image now; versions in tags mean what each registry likes. */
static int look_at_oci(struct outdated *o, const struct request *q, outdated_rows *rows, struct err *err)
{
	const char *locked = json_get_str(lock_get(o->lock, q->key), "digest");
	_cleanup_free_ char *now = q->tag ? oci_tag_now(o->resolver, q, err) : NULL;
	if (!q->tag)
		return 0;
	if (!now)
		return err_add(err, "%s", q->image);
	if (!str_eq(now, locked))
		add(rows, q->image, locked, now, OUTDATED_MOVED);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct outdated_row *x = a, *y = b;
	int c = strcmp(x->name, y->name);
	return c ? c : strcmp(x->locked, y->locked);
}

int outdated_find(struct outdated *o, outdated_rows *rows, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	add_names(o, &names);
	if (names.count && pypi_read_pages(o->resolver, &names, err) < 0)
		return -1;
	for (size_t i = 0; i < o->asked.count; i++) {
		const struct request *q = &o->asked.items[i];
		int rc = q->kind == REQUEST_SDIST ? look_at_sdist(o, q, rows, err)
			: q->kind == REQUEST_WHEELS ? look_at_wheels(o, q, rows, err)
			: q->kind == REQUEST_GIT ? look_at_git(o, q, rows, err)
			: q->kind == REQUEST_OCI ? look_at_oci(o, q, rows, err) : 0;
		if (rc < 0)
			return -1;
	}
	if (rows->count)
		qsort(rows->items, rows->count, sizeof *rows->items, by_name);
	return 0;
}

void outdated_rows_free(outdated_rows *rows)
{
	for (size_t i = 0; i < rows->count; i++) {
		free(rows->items[i].name);
		free(rows->items[i].locked);
		free(rows->items[i].newest);
	}
	list_free(rows);
}
