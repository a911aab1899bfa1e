/* `forge lock`: what the lock holds is kept, what it lacks is resolved. */
#include <fcntl.h>
#include <stdlib.h>

#include "core/fs.h"
#include "core/loop.h"
#include "core/mem.h"
#include "lock/entry.h"
#include "lock/resolve_impl.h"

struct lock_resolver *lock_resolver_new(struct lock *l, struct store *s,
	const struct lock_resolve_options *o, struct err *err)
{
	if (o->scratch && fs_mkdirs(o->scratch, 0755, err) < 0)
		return NULL;
	struct lock_resolver *r = mem_alloc(sizeof *r);
	r->lock = l;
	r->store = s;
	r->index_option = mem_dup(o->index);
	r->update = o->update;
	r->only = mem_dup(o->only);
	r->events = o->events;
	r->releases = json_new_obj();
	r->asked = json_new_obj();
	r->scratch = o->scratch ? fs_real(o->scratch, err) : NULL;
	if (o->scratch && !r->scratch) {
		lock_resolver_free(r);
		return NULL;
	}
	return r;
}

void lock_resolver_free(struct lock_resolver *r)
{
	if (!r)
		return;
	net_free(r->net);
	pypi_pages_free(r->pages);
	json_free(r->releases);
	json_free(r->asked);
	str_list_free(&r->fresh);
	free(r->index);
	free(r->index_option);
	free(r->only);
	free(r->scratch);
	free(r);
}

void lock_resolver_asked(const struct lock_resolver *r, struct str_list *keys)
{
	json_keys(r->asked, keys);
}

bool lock_resolver_named(const struct lock_resolver *r)
{
	return r->named;
}

struct net *resolver_net(struct lock_resolver *r, struct err *err)
{
	if (!r->net)
		r->net = net_new(r->index_option, err);
	return r->net;
}

int resolver_folder(struct lock_resolver *r, const char *name, struct err *err)
{
	_cleanup_free_ char *path = fs_join(r->scratch, name);
	return fs_mkdirs(path, 0755, err) < 0 ? -1 : fs_open_dir(path, err);
}

/* What comes from an index or an archive is held to the form the file is held to. */
static int check_new(struct lock_resolver *r, const char *key, struct err *err)
{
	struct json *entries = lock_entries(r->lock);
	if (entry_check(json_get(entries, key), key, err) < 0 || entry_check_items(entries, key, err) < 0)
		return err_add(err, "entry \"%s\"", key);
	_cleanup_str_list_ struct str_list items = STR_LIST_INIT;
	entry_items(entries, key, &items);
	for (size_t i = 0; i < items.count; i++)
		if (entry_check(json_get(entries, items.items[i]), items.items[i], err) < 0)
			return err_add(err, "entry \"%s\"", items.items[i]);
	return 0;
}

static int resolve(struct lock_resolver *r, const struct request *q, struct err *err)
{
	struct event e = { .kind = EVENT_START, .id = ++r->next_event, .what = "lock", .name = q->words };
	int64_t start = loop_now();
	event_emit(r->events, &e);
	int rc = q->kind == REQUEST_SDIST ? resolve_sdist(r, q, err)
		: q->kind == REQUEST_TAGS ? resolve_tags(r, q, err)
		: q->kind == REQUEST_WHEELS ? resolve_wheels(r, q, err)
		: q->kind == REQUEST_DEBIAN_SOURCE ? resolve_debian_source(r, q, err)
		: q->kind == REQUEST_GIT ? resolve_git(r, q, err)
		: q->kind == REQUEST_REDIST ? resolve_redist(r, q, err)
		: q->kind == REQUEST_OCI ? resolve_oci(r, q, err)
		: resolve_debian(r, q, err);
	if (rc == 0)
		rc = check_new(r, q->key, err);
	if (rc < 0)
		err_add(err, "locking %s", q->words);
	e.kind = EVENT_DONE;
	e.text = rc < 0 ? (err && err->msg ? err->msg : "failed") : NULL;
	e.ms = loop_now() - start;
	event_emit(r->events, &e);
	return rc;
}

int lock_resolve(void *resolver, const struct json *request, struct json **answer, struct err *err)
{
	struct lock_resolver *r = resolver;
	_cleanup_request_ struct request q = { 0 };
	if (request_parse(request, &q, err) < 0)
		return -1;
	bool named = r->only && update_concerns(r, &q);
	bool again = r->update && (!r->only || named) && !str_list_has(&r->fresh, q.key);
	r->named = r->named || named;
	json_set(r->asked, q.key, json_new_null());
	if (!lock_get(r->lock, q.key) || again) {
		if (resolve(r, &q, err) < 0)
			return -1;
		str_list_add(&r->fresh, q.key);
	}
	*answer = entry_answer(lock_entries(r->lock), q.key);
	return 0;
}
