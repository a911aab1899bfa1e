/* The bare mirrors: one a URL, with what was ever fetched from it. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "archive/name.h"
#include "core/fs.h"
#include "core/hash.h"
#include "core/mem.h"
#include "fetch/git_impl.h"
#include "fetch/git_proxy.h"
#include "fetch/url.h"

#define REFS_MAX 2000000
#define LOCK_WAIT_US 50000
#define PEELED "^{}"

/* One visit to a mirror. */
struct visit {
	struct git_run *r;
	const char *place;   /* the mapped URL */
	char *proxy;         /* NULL: none */
	char *shown;
	char *folder;        /* of the mirror */
	int lock;
	git_repository *repo;
	git_remote *remote;
	uint64_t before;     /* bytes received when this transfer began */
	bool too_large;
	struct err fault;
};

bool git_is_commit(const char *rev)
{
	return rev && strlen(rev) == GIT_REV_LEN && strspn(rev, "0123456789abcdef") == GIT_REV_LEN;
}

static char *mirror_folder(const struct git_run *r, const char *url)
{
	struct hash h;
	hash_of(url, strlen(url), &h);
	_cleanup_free_ char *hex = hash_hex(&h), *name = git_url_name(url);
	for (char *p = name; *p; p++)
		if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", *p))
			*p = '_';
	return mem_printf("%s/%.32s-%.64s", r->q->cache, hex, name);
}

/* Wait for the mirror's lock; to wait is a sign of life. */
static int take_lock(struct git_run *r, const char *folder, struct err *err)
{
	_cleanup_free_ char *file = mem_printf("%s.lock", folder);
	_cleanup_close_ int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	if (fd < 0)
		return err_sys(err, "can't open %s", file);
	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, "can't lock %s", file);
		r->watch->signs++;
		usleep(LOCK_WAIT_US);
	}
	return steal_fd(fd);
}

static int remove_mirror(const char *folder, struct err *err)
{
	return fs_remove_tree(AT_FDCWD, folder, err);
}

/* Packs that a killed process did not finish. */
static void sweep(const char *folder)
{
	_cleanup_free_ char *packs = mem_printf("%s/objects/pack", folder);
	_cleanup_close_ int fd = open(packs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fd < 0 || fs_list(fd, &names, NULL) < 0)
		return;
	for (size_t i = 0; i < names.count; i++)
		if (!str_starts(names.items[i], "pack-"))
			unlinkat(fd, names.items[i], 0);
}

static int open_mirror(struct visit *v, struct err *err)
{
	const struct git_api *git = v->r->git;
	if (fs_mkdirs(v->r->q->cache, 0755, err) < 0)
		return -1;
	v->lock = take_lock(v->r, v->folder, err);
	if (v->lock < 0)
		return -1;
	if (git->git_repository_open_bare(&v->repo, v->folder) == 0) {
		sweep(v->folder);
		return 0;
	}
	if (remove_mirror(v->folder, err) < 0)
		return -1;
	if (git->git_repository_init(&v->repo, v->folder, 1) < 0)
		return git_fail(git, err, "can't make %s", v->folder);
	return 0;
}

static void visit_end(struct visit *v)
{
	v->r->git->git_remote_free(v->remote);
	v->r->git->git_repository_free(v->repo);
	fs_close_ptr(&v->lock);
	free(v->folder);
	free(v->proxy);
	free(v->shown);
	err_clear(&v->fault);
}

static int on_transfer(const git_indexer_progress *p, void *ctx)
{
	struct visit *v = ctx;
	v->r->watch->received = v->before + p->received_bytes;
	v->r->watch->signs++;
	v->too_large = p->received_bytes > v->r->bytes;
	return v->too_large ? -1 : 0;
}

static int on_words(const char *text, int len, void *ctx)
{
	struct visit *v = ctx;
	v->r->watch->signs++;
	return 0;
}

static int on_ref(const char *name, const git_oid *a, const git_oid *b, void *ctx)
{
	struct visit *v = ctx;
	v->r->watch->signs++;
	return 0;
}

static int failed(struct visit *v, struct err *err)
{
	if (v->too_large)
		return err_set(err, ERR_INPUT, "%s: it sends more than %llu bytes", v->shown,
			(unsigned long long)v->r->bytes);
	return git_fail(v->r->git, err, "%s", v->shown);
}

static git_proxy_options proxy_options(const struct visit *v)
{
	return (git_proxy_options){ .version = GIT_PROXY_OPTIONS_VERSION, .url = v->proxy,
		.type = v->proxy ? GIT_PROXY_SPECIFIED : GIT_PROXY_NONE };
}

static int connect_remote(struct visit *v, struct err *err)
{
	const struct git_api *git = v->r->git;
	const git_remote_callbacks callbacks = { .version = GIT_REMOTE_CALLBACKS_VERSION, .sideband_progress = on_words,
		.payload = v };
	const git_proxy_options proxy = proxy_options(v);
	if (v->remote)
		return 0;
	if (v->r->q->offline && !str_starts(v->place, "file:"))
		return err_set(err, ERR_FAIL, "offline: would fetch %s", v->shown);
	if (v->proxy && str_starts(v->place, "http:")) /* libgit2 would go there itself: its issue 5650 */
		return err_set(err, ERR_FAIL, "%s: repositories go by a proxy over https only; a mirror can be named in "
			"FORGE_GIT_MIRROR, the host in no_proxy", v->shown);
	v->r->watch->signs++;
	int rc = v->repo ? git->git_remote_create_anonymous(&v->remote, v->repo, v->place)
		: git->git_remote_create_detached(&v->remote, v->place);
	if (rc < 0 ||
	    git->git_remote_connect(v->remote, GIT_DIRECTION_FETCH, &callbacks, &proxy, NULL) < 0)
		return failed(v, err);
	v->r->watch->signs++;
	return 0;
}

/* The refs the server told of. */
static int list_refs(struct visit *v, const git_remote_head ***heads, size_t *count, struct err *err)
{
	if (connect_remote(v, err) < 0)
		return -1;
	if (v->r->git->git_remote_ls(heads, count, v->remote) < 0)
		return failed(v, err);
	if (*count > REFS_MAX)
		return err_set(err, ERR_INPUT, "%s: it has more than %d refs", v->shown, REFS_MAX);
	return 0;
}

static bool valid_name(const char *rev)
{
	size_t n = strlen(rev);
	return n > 0 && n < 256 && rev[0] != '-' && rev[0] != '/' && !strstr(rev, "..") && !strstr(rev, "//") &&
		strcspn(rev, " \t\n\r~^:?*[\\\x7f") == n && !str_ends(rev, ".lock") && !str_ends(rev, "/");
}

static const git_remote_head *head_named(const git_remote_head **heads, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(heads[i]->name, name))
			return heads[i];
	return NULL;
}

/* As git does where a tag and a branch have the name: the tag. */
static const git_remote_head *find_rev(const git_remote_head **heads, size_t count, const char *rev)
{
	if (str_starts(rev, "refs/")) {
		_cleanup_free_ char *peeled = mem_printf("%s" PEELED, rev);
		const git_remote_head *head = head_named(heads, count, peeled);
		return head ? head : head_named(heads, count, rev);
	}
	_cleanup_free_ char *tag = mem_printf("refs/tags/%s", rev), *branch = mem_printf("refs/heads/%s", rev);
	const git_remote_head *head = find_rev(heads, count, tag);
	return head ? head : head_named(heads, count, branch);
}

static int no_such_rev(struct visit *v, const git_remote_head **heads, size_t count, const char *rev,
	struct err *err)
{
	_cleanup_free_ const char **names = mem_alloc((count + 1) * sizeof *names);
	size_t n = 0;
	for (size_t i = 0; i < count; i++) {
		const char *name = heads[i]->name;
		if (str_ends(name, PEELED))
			continue;
		if (str_starts(name, "refs/tags/"))
			names[n++] = name + strlen("refs/tags/");
		else if (str_starts(name, "refs/heads/"))
			names[n++] = name + strlen("refs/heads/");
	}
	const char *nearest = str_nearest(rev, names, n);
	return err_set(err, ERR_INPUT, "%s: it has no tag or branch \"%s\"%s%.200s%s", v->shown, rev,
		nearest ? "; did you mean \"" : " (a commit is written with all its 40 digits)",
		nearest ? nearest : "", nearest ? "\"?" : "");
}

static int resolve(struct visit *v, const char *rev, git_oid *out, struct err *err)
{
	const git_remote_head **heads;
	size_t count;
	if (git_is_commit(rev))
		return v->r->git->git_oid_fromstr(out, rev) < 0 ? failed(v, err) : 0;
	if (!valid_name(rev))
		return err_set(err, ERR_INPUT, "%s: \"%.200s\" is not the name of a tag or branch", v->shown, rev);
	if (list_refs(v, &heads, &count, err) < 0)
		return -1;
	const git_remote_head *head = find_rev(heads, count, rev);
	if (!head)
		return no_such_rev(v, heads, count, rev, err);
	*out = head->oid;
	return 0;
}

static bool has_commit(struct visit *v, const git_oid *oid)
{
	git_commit *commit = NULL;
	bool has = v->r->git->git_commit_lookup(&commit, v->repo, oid) == 0;
	v->r->git->git_commit_free(commit);
	return has;
}

static int fetch_refs(struct visit *v, char **specs, size_t count, struct err *err)
{
	const git_fetch_options o = {
		.version = GIT_FETCH_OPTIONS_VERSION, .prune = GIT_FETCH_NO_PRUNE,
		.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE,
		.proxy_opts = proxy_options(v),
		.callbacks = { .version = GIT_REMOTE_CALLBACKS_VERSION, .sideband_progress = on_words,
			.transfer_progress = on_transfer, .update_tips = on_ref, .payload = v },
	};
	git_strarray list = { specs, count };
	v->before = v->r->watch->received;
	return v->r->git->git_remote_fetch(v->remote, &list, &o, NULL) < 0 ? failed(v, err) : 0;
}

/* A ref of the server that is the commit itself: the least to be asked for. */
static char *tip_spec(const git_remote_head **heads, size_t count, const git_oid *oid, const char *hex)
{
	for (size_t i = 0; i < count; i++) {
		const char *name = heads[i]->name;
		size_t n = strlen(name);
		if (memcmp(heads[i]->oid.id, oid->id, GIT_OID_RAWSZ) != 0 || !str_starts(name, "refs/"))
			continue;
		if (str_ends(name, PEELED))
			n -= strlen(PEELED);
		return mem_printf("+%.*s:refs/forge/%s", (int)n, name, hex);
	}
	return NULL;
}

/*
 * The commit alone, where the server names it or lets one ask for it; else every branch and tag.  (Only the
 * commit without what came before it: this libgit2 can't ask for that.)
 */
static int fetch_commit(struct visit *v, const git_oid *oid, const char *hex, struct err *err)
{
	const git_remote_head **heads;
	size_t count;
	char *all[] = { (char[]){ "+refs/heads/*:refs/heads/*" }, (char[]){ "+refs/tags/*:refs/tags/*" } };
	if (list_refs(v, &heads, &count, err) < 0)
		return -1;
	_cleanup_free_ char *tip = tip_spec(heads, count, oid, hex);
	_cleanup_free_ char *exact = mem_printf("+%s:refs/forge/%s", hex, hex);
	if (tip && fetch_refs(v, &tip, 1, err) < 0)
		return -1;
	if (has_commit(v, oid))
		return 0;
	_cleanup_err_ struct err refused = { 0 };
	if (fetch_refs(v, &exact, 1, &refused) == 0 && has_commit(v, oid))
		return 0;
	if (v->too_large)
		return err_move(err, &refused);
	return fetch_refs(v, all, 2, err);
}

static int keep_commit(struct visit *v, const git_oid *oid, const char *hex)
{
	git_reference *ref = NULL;
	_cleanup_free_ char *name = mem_printf("refs/forge/%s", hex);
	v->r->git->git_reference_create(&ref, v->repo, name, oid, 1, NULL); /* a later fetch then tells what is here */
	v->r->git->git_reference_free(ref);
	return 0;
}

static int bring(struct visit *v, const char *rev, const char *what, git_oid *oid, struct err *err)
{
	char hex[GIT_REV_LEN + 1];
	if (resolve(v, rev, oid, err) < 0)
		return -1;
	v->r->git->git_oid_tostr(hex, sizeof hex, oid);
	if (has_commit(v, oid))
		return 0;
	if (fetch_commit(v, oid, hex, err) < 0)
		return -1;
	if (has_commit(v, oid))
		return keep_commit(v, oid, hex);
	return err_set(err, ERR_INPUT, "%s: it has no commit %s%s", v->shown, hex,
		what ? "" : ": the tag or branch it was on may have been rewritten (forge lock --update takes what is there now)");
}

static int visit_begin(struct visit *v, struct git_run *r, const char *url, char **place, struct err *err)
{
	*v = (struct visit){ .r = r, .lock = -1 };
	*place = git_map_apply(&r->map, url, err);
	if (!*place)
		return -1;
	v->place = *place;
	v->proxy = git_proxy_for(v->place);
	v->shown = url_redact(url);
	return 0;
}

int git_mirror_take(struct git_run *r, const char *url, const char *rev, const char *what,
	struct git_mirror_open *out, struct err *err)
{
	struct visit v;
	_cleanup_free_ char *place = NULL;
	int rc = visit_begin(&v, r, url, &place, err);
	if (rc == 0)
		v.folder = mirror_folder(r, url);
	if (rc == 0)
		rc = open_mirror(&v, err);
	if (rc == 0)
		rc = bring(&v, rev, what, &out->commit, err);
	if (rc == 0) {
		out->repo = steal_ptr(v.repo);
		out->shown = steal_ptr(v.shown);
	} else if (what) {
		err_add(err, "%s", what);
	}
	visit_end(&v);
	return rc;
}

void git_mirror_close(struct git_run *r, struct git_mirror_open *m)
{
	r->git->git_repository_free(m->repo);
	free(m->shown);
	*m = (struct git_mirror_open){ 0 };
}

int git_mirror_ask(struct git_run *r, const char *url, const char *rev, char commit[GIT_REV_LEN + 1],
	struct err *err)
{
	struct visit v;
	_cleanup_free_ char *place = NULL;
	const git_remote_head **heads;
	size_t count;
	git_oid oid;
	int rc = visit_begin(&v, r, url, &place, err);
	if (rc == 0)
		rc = resolve(&v, rev, &oid, err);
	if (rc == 0)
		rc = list_refs(&v, &heads, &count, err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		if (str_starts(heads[i]->name, "refs/tags/") && !str_ends(heads[i]->name, PEELED) &&
		    name_is_utf8(slice_of(heads[i]->name)))
			str_list_add(&r->tags, heads[i]->name + strlen("refs/tags/"));
	if (rc == 0)
		r->git->git_oid_tostr(commit, GIT_REV_LEN + 1, &oid);
	visit_end(&v);
	return rc;
}

void git_mirror_drop(struct git_run *r, const char *url)
{
	_cleanup_free_ char *folder = mirror_folder(r, url);
	_cleanup_close_ int lock = take_lock(r, folder, NULL);
	if (lock >= 0)
		remove_mirror(folder, NULL);
}
