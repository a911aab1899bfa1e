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
#include "fetch/git_proxy.h"
#include "fetch/git_visit.h"
#include "fetch/url.h"

#define LOCK_WAIT_US 50000

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
	free(v->place);
	free(v->proxy);
	free(v->shown);
}

static void keep_commit(struct visit *v, const git_oid *oid, const char *hex)
{
	git_reference *ref = NULL;
	_cleanup_free_ char *name = mem_printf("refs/forge/%s", hex);
	v->r->git->git_reference_create(&ref, v->repo, name, oid, 1, NULL); /* a later fetch then tells what is here */
	v->r->git->git_reference_free(ref);
}

static int bring(struct visit *v, const char *rev, const char *what, git_oid *oid, struct err *err)
{
	char hex[GIT_REV_LEN + 1];
	if (visit_resolve(v, rev, oid, err) < 0)
		return -1;
	v->r->git->git_oid_tostr(hex, sizeof hex, oid);
	if (visit_has(v, oid))
		return 0;
	if (visit_fetch(v, oid, hex, err) < 0)
		return -1;
	if (!visit_has(v, oid))
		return err_set(err, ERR_INPUT, "%s: it has no commit %s%s", v->shown, hex, what ? ""
			: ": the tag or branch it was on may have been rewritten (forge lock --update takes what is there now)");
	keep_commit(v, oid, hex);
	return 0;
}

static int visit_begin(struct visit *v, struct git_run *r, const char *url, struct err *err)
{
	*v = (struct visit){ .r = r, .lock = -1 };
	v->place = git_map_apply(&r->map, url, err);
	if (!v->place)
		return -1;
	v->proxy = git_proxy_for(v->place);
	v->shown = url_redact(url);
	return 0;
}

int git_mirror_take(struct git_run *r, const char *url, const char *rev, const char *what,
	struct git_mirror_open *out, struct err *err)
{
	struct visit v;
	int rc = visit_begin(&v, r, url, err);
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
	const git_remote_head **heads;
	size_t count;
	git_oid oid;
	int rc = visit_begin(&v, r, url, err);
	if (rc == 0)
		rc = visit_resolve(&v, rev, &oid, err);
	if (rc == 0)
		rc = visit_refs(&v, &heads, &count, err);
	for (size_t i = 0; rc == 0 && i < count; i++)
		if (str_starts(heads[i]->name, "refs/tags/") && !str_ends(heads[i]->name, GIT_PEELED) &&
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
