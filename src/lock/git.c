/* Requests of kind "git": which commit a name is, and the hash of what it holds. */
#include <stdlib.h>

#include "core/fs.h"
#include "core/mem.h"
#include "fetch/git.h"
#include "fetch/url.h"
#include "lock/resolve_impl.h"
#include "store/store.h"

static void progress(void *ctx, int64_t done, int64_t total)
{
	const struct lock_resolver *r = ctx;
	event_emit(r->events, &(struct event){ .kind = EVENT_PROGRESS, .id = r->next_event, .done = done });
}

static struct json *submodules_of(const struct request *q)
{
	if (!q->list.count)
		return json_new_bool(q->submodules);
	struct json *list = json_new_arr();
	for (size_t i = 0; i < q->list.count; i++)
		json_push(list, json_new_str(q->list.items[i]));
	return list;
}

static void put(struct lock_resolver *r, const struct request *q, const char *rev, const struct hash *nar)
{
	struct json *entry = json_new_obj();
	_cleanup_buf_ struct buf sri = BUF_INIT;
	hash_sri(nar, &sri);
	json_set_str(entry, "from", "git");
	json_set_str(entry, "url", q->url);
	json_set_str(entry, "rev", rev);
	json_set(entry, "submodules", submodules_of(q));
	json_set_str(entry, "narHash", sri.data);
	lock_put(r->lock, q->key, entry);
}

/* A pointer is what git holds, so it is what the lock pins: a person should know. */
static void tell_lfs(struct lock_resolver *r, const struct request *q, const struct json *answer)
{
	const struct json *lfs = json_get(answer, "lfs");
	for (size_t i = 0; i < json_count(lfs); i++)
		event_warn(r->events, "%s: %s is a pointer of Git LFS, not the file it stands for: a build that needs "
			"the file must fetch it by forge.url", q->words, json_str(json_at(lfs, i)));
}

/* The same folder that a build gets, made in store/tmp for its hash and removed again. */
static int measure(struct lock_resolver *r, const char *tmp, struct hash *nar, struct err *err)
{
	struct store_prepared made = { 0 };
	if (store_prepare(store_tmp_fd(r->store), tmp, "source", DRV_NAR, NULL, NULL, &made, err) < 0)
		return -1;
	*nar = made.nar_hash;
	store_prepared_free(&made);
	return 0;
}

int resolve_git(struct lock_resolver *r, const struct request *q, struct err *err)
{
	struct net *net = resolver_net(r, err);
	_cleanup_free_ char *tmp = net ? store_tmp_name(r->store, "lock", err) : NULL;
	_cleanup_free_ char *cache = fs_join(r->scratch, "git");
	_cleanup_json_ struct json *answer = NULL;
	struct hash nar;
	if (!tmp)
		return -1;
	struct git_request g = { .url = q->url, .rev = q->rev, .submodules = q->submodules, .only = q->list,
		.cache = cache, .dirfd = store_tmp_fd(r->store), .name = tmp };
	int rc = net_git(net, &g, progress, r, &answer, err);
	if (rc == 0)
		rc = measure(r, tmp, &nar, err);
	fs_remove_tree(store_tmp_fd(r->store), tmp, NULL);
	if (rc < 0)
		return -1;
	put(r, q, json_get_str(answer, "rev"), &nar);
	tell_lfs(r, q, answer);
	return 0;
}
