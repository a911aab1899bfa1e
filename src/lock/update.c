/* `forge lock --update=NAME`: which requests a name concerns. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/git_map.h"
#include "fetch/oci_image.h"
#include "lock/entry.h"
#include "lock/requirement.h"
#include "lock/resolve_impl.h"
#include "wheel/name.h"

static bool same_project(const char *a, const char *b)
{
	_cleanup_free_ char *x = wheel_normalise_name(a), *y = wheel_normalise_name(b);
	return str_eq(x, y);
}

/* A requirement that the recipe writes. */
static bool asks_for(const struct request *q, const char *name)
{
	for (size_t i = 0; i < q->list.count; i++) {
		_cleanup_requirement_ struct requirement r = { 0 };
		if (requirement_parse(slice_of(q->list.items[i]), &r, NULL) == 0 && same_project(r.name, name))
			return true;
	}
	return false;
}

/* Something the lock holds for it. */
static bool holds(struct lock_resolver *r, const struct request *q, const char *name)
{
	struct json *entries = lock_entries(r->lock);
	_cleanup_str_list_ struct str_list items = STR_LIST_INIT;
	if (!json_get(entries, q->key))
		return false;
	entry_items(entries, q->key, &items);
	for (size_t i = 0; i < items.count; i++) {
		const struct json *e = json_get(entries, items.items[i]);
		const char *package = json_get_str(e, "package"), *project = json_get_str(e, "name");
		if (str_eq(package, name) || (project && same_project(project, name)))
			return true;
	}
	return false;
}

bool update_concerns(struct lock_resolver *r, const struct request *q)
{
	const char *name = r->only;
	if (q->kind == REQUEST_GIT) {
		_cleanup_free_ char *called = git_url_name(q->url);
		return str_eq(called, name) || str_eq(q->url, name);
	}
	if (q->kind == REQUEST_DEBIAN_SOURCE)
		return str_eq(q->name, name);
	if (q->kind == REQUEST_OCI)
		return str_eq(oci_image_last(q->image), name) || str_eq(q->image, name);
	if (q->kind == REQUEST_SDIST || q->kind == REQUEST_TAGS)
		return same_project(q->name, name);
	if (q->kind == REQUEST_REDIST)
		return str_list_has(&q->list, name);
	if (q->kind == REQUEST_DEBIAN)
		return str_list_has(&q->list, name) || holds(r, q, name);
	return asks_for(q, name) || holds(r, q, name);
}
