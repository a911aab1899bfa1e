/* Requests of kind "git": which commit a name is, the hash of what it holds, and what it says that it needs. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "core/fs.h"
#include "core/mem.h"
#include "fetch/git.h"
#include "fetch/url.h"
#include "lock/pyproject.h"
#include "lock/requirement.h"
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
	return json_new_strs(&q->list);
}

static struct json *entry_of(const struct request *q, const char *rev, const struct hash *nar)
{
	struct json *entry = json_new_obj();
	_cleanup_buf_ struct buf sri = BUF_INIT;
	hash_sri(nar, &sri);
	json_set_str(entry, "from", "git");
	json_set_str(entry, "url", q->url);
	json_set_str(entry, "rev", rev);
	json_set(entry, "submodules", submodules_of(q));
	json_set_str(entry, "narHash", sri.data);
	return entry;
}

/* The pyproject.toml of the folder that is built: 1, or 0 without one.  Links are not followed: their targets may be
 * outside. */
static int read_pyproject(struct lock_resolver *r, const struct request *q, const char *tmp, struct buf *text, struct err *err)
{
	_cleanup_close_ int tree = fs_open_beneath(store_tmp_fd(r->store), tmp, O_RDONLY | O_DIRECTORY, 0, err);
	_cleanup_close_ int folder = tree < 0 ? -1
		: fs_open_beneath(tree, q->subdir ? q->subdir : ".", O_RDONLY | O_DIRECTORY, 0, err);
	_cleanup_close_ int fd = folder < 0 ? -1 : fs_open_beneath(folder, PYPROJECT_FILE, O_RDONLY, 0, err);
	if (fd < 0 && folder >= 0 && err->sys == ENOENT) {
		err_clear(err);
		return 0;
	}
	if (fd < 0)
		return -1;
	return fs_slurp(fd, PYPROJECT_LIMIT, text, err) < 0 ? err_add(err, PYPROJECT_FILE) : 1;
}

/* "requires" and "build_requires" in the entry, as far as that file tells. */
static int read_needs(struct lock_resolver *r, const struct request *q, const char *tmp, struct json *entry, struct err *err)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_str_list_ struct str_list given = STR_LIST_INIT, build = STR_LIST_INIT, run = STR_LIST_INIT;
	bool stated = false;
	int rc = read_pyproject(r, q, tmp, &text, err);
	if (rc <= 0)
		return rc;
	if (pyproject_requires(buf_slice(&text), &given, err) < 0 ||
	    pyproject_dependencies(buf_slice(&text), &run, &stated, err) < 0)
		return -1;
	if (requirements_normalise(&given, &build, err) < 0)
		return err_add(err, PYPROJECT_FILE ", build-system.requires");
	json_set(entry, "build_requires", json_new_strs(&build));
	if (stated)
		json_set(entry, "requires", json_new_strs(&run));
	return 0;
}

/* Put in what the tree says that it needs.  What can't be read is no error: a recipe can say it instead, and patches and
 * further sources may make what isn't there yet. */
static void add_needs(struct lock_resolver *r, const struct request *q, const char *tmp, struct json *entry)
{
	_cleanup_err_ struct err why = { 0 };
	if (read_needs(r, q, tmp, entry, &why) < 0)
		event_warn(r->events, "%s: %s; so what it needs is not locked: say it in the recipe, as requires and runtime",
			q->words, why.msg);
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
	_cleanup_json_ struct json *entry = NULL;
	int rc = net_git(net, &g, progress, r, &answer, err);
	if (rc == 0)
		rc = measure(r, tmp, &nar, err);
	if (rc == 0) {
		entry = entry_of(q, json_get_str(answer, "rev"), &nar);
		add_needs(r, q, tmp, entry);
	}
	fs_remove_tree(store_tmp_fd(r->store), tmp, NULL);
	if (rc < 0)
		return -1;
	lock_put(r->lock, q->key, json_ref(entry));
	tell_lfs(r, q, answer);
	return 0;
}
