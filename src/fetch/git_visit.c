/* What is asked of a repository's server. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "fetch/git_visit.h"

#define REFS_MAX 2000000

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
int visit_refs(struct visit *v, const git_remote_head ***heads, size_t *count, struct err *err)
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
		_cleanup_free_ char *peeled = mem_printf("%s" GIT_PEELED, rev);
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
		if (str_ends(name, GIT_PEELED))
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

int visit_resolve(struct visit *v, const char *rev, git_oid *out, struct err *err)
{
	const git_remote_head **heads;
	size_t count;
	if (git_is_commit(rev))
		return v->r->git->git_oid_fromstr(out, rev) < 0 ? failed(v, err) : 0;
	if (!valid_name(rev))
		return err_set(err, ERR_INPUT, "%s: \"%.200s\" is not the name of a tag or branch", v->shown, rev);
	if (visit_refs(v, &heads, &count, err) < 0)
		return -1;
	const git_remote_head *head = find_rev(heads, count, rev);
	if (!head)
		return no_such_rev(v, heads, count, rev, err);
	*out = head->oid;
	return 0;
}

bool visit_has(struct visit *v, const git_oid *oid)
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
		if (str_ends(name, GIT_PEELED))
			n -= strlen(GIT_PEELED);
		return mem_printf("+%.*s:refs/forge/%s", (int)n, name, hex);
	}
	return NULL;
}

/*
 * The commit alone, where the server names it or lets one ask for it; else every branch and tag.  (Only the
 * commit without what came before it: this libgit2 can't ask for that.)
 */
int visit_fetch(struct visit *v, const git_oid *oid, const char *hex, struct err *err)
{
	const git_remote_head **heads;
	size_t count;
	char *all[] = { (char[]){ "+refs/heads/*:refs/heads/*" }, (char[]){ "+refs/tags/*:refs/tags/*" } };
	if (visit_refs(v, &heads, &count, err) < 0)
		return -1;
	_cleanup_free_ char *tip = tip_spec(heads, count, oid, hex);
	_cleanup_free_ char *exact = mem_printf("+%s:refs/forge/%s", hex, hex);
	if (tip && fetch_refs(v, &tip, 1, err) < 0)
		return -1;
	if (visit_has(v, oid))
		return 0;
	_cleanup_err_ struct err refused = { 0 };
	if (fetch_refs(v, &exact, 1, &refused) == 0 && visit_has(v, oid))
		return 0;
	if (v->too_large)
		return err_move(err, &refused);
	return fetch_refs(v, all, 2, err);
}
