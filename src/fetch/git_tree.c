/* From git's objects to files: a commit's tree, and in it the trees of its submodules. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "archive/name.h"
#include "archive/tree.h"
#include "core/mem.h"
#include "fetch/git_impl.h"
#include "fetch/git_modules.h"

#define BLOB_MAX (2ull << 30)
#define DEPTH_MAX 200       /* of folders */
#define NESTED_MAX 16       /* submodules in submodules */
#define SUBMODULES_MAX 500  /* in all */
#define TARGET_MAX 4095
#define LFS_SIZE_MAX 1024
#define LFS_BEGIN "version https://git-lfs.github.com/spec/v1\n"

enum { MODE_TREE = 0040000, MODE_LINK = 0120000, MODE_MODULE = 0160000 };

struct writer {
	struct git_run *r;
	struct tree *tree;
	size_t submodules;
	struct str_list found; /* what of request.only was there */
	struct str_list names; /* of all submodules seen, for messages */
};

/* One repository of the nest. */
struct repo {
	struct writer *w;
	git_repository *git;
	const char *url;            /* the real one, for relative URLs in it */
	const char *top;            /* where it stands, "" for the outermost */
	unsigned nested;
	struct git_modules modules;
};

static int put_entries(struct repo *p, const git_tree *tree, const char *path, unsigned depth, struct err *err);

static int refuse(const char *path, const char *why, struct err *err)
{
	_cleanup_free_ char *shown = name_show(path);
	return err_set(err, ERR_INPUT, "%s: %s", shown, why);
}

/* "a/b" of "a" and "b"; refuses what no tree of git may hold. */
static char *entry_path(const char *folder, const char *name, struct err *err)
{
	_cleanup_buf_ struct buf clean = BUF_INIT;
	_cleanup_free_ char *path = mem_printf("%s%s%s", folder, *folder ? "/" : "", name);
	bool slash;
	if (name_clean(slice_of(name), &clean, &slash, err) < 0) {
		_cleanup_free_ char *shown = name_show(path);
		err_add(err, "%s", shown);
		return NULL;
	}
	if (strchr(name, '/') || !str_eq(clean.data, name) || strcasecmp(name, ".git") == 0) {
		refuse(path, "git allows no such name", err);
		return NULL;
	}
	return steal_ptr(path);
}

static void note_lfs(struct writer *w, const char *path, const char *data, size_t size)
{
	if (size < LFS_SIZE_MAX && size > strlen(LFS_BEGIN) && memcmp(data, LFS_BEGIN, strlen(LFS_BEGIN)) == 0 &&
	    w->r->lfs.count < GIT_LFS_TOLD)
		str_list_take(&w->r->lfs, name_show(path));
}

static int write_blob(struct writer *w, const char *path, unsigned mode, const char *data, size_t size,
	struct err *err)
{
	if (mode == MODE_LINK) {
		if (size > TARGET_MAX || memchr(data, '\0', size))
			return refuse(path, "a link that is no path", err);
		_cleanup_free_ char *target = mem_dup_n(data, size);
		return tree_symlink(w->tree, path, target, err);
	}
	note_lfs(w, path, data, size);
	if (tree_file(w->tree, path, mode & 0100, size, err) < 0)
		return -1;
	if (size && tree_write(w->tree, 0, data, size, err) < 0)
		return -1;
	return tree_file_end(w->tree, err);
}

static int unreadable(const struct repo *p, const char *path, struct err *err)
{
	_cleanup_free_ char *shown = name_show(path);
	return git_fail(p->w->r->git, err, "%s", shown);
}

/* The size is looked at before the content is brought into memory. */
static int open_blob(struct repo *p, const git_oid *oid, const char *path, git_blob **out, struct err *err)
{
	const struct git_api *git = p->w->r->git;
	git_odb *odb = NULL;
	git_object_t type;
	size_t size;
	int rc = git->git_repository_odb(&odb, p->git);
	if (rc == 0)
		rc = git->git_odb_read_header(&size, &type, odb, oid);
	git->git_odb_free(odb);
	if (rc < 0)
		return unreadable(p, path, err);
	if (type != GIT_OBJECT_BLOB)
		return refuse(path, "it is no file's content", err);
	if (size > BLOB_MAX)
		return refuse(path, "a file of more than 2 GiB", err);
	return git->git_blob_lookup(out, p->git, oid) < 0 ? unreadable(p, path, err) : 0;
}

static int put_blob(struct repo *p, const git_oid *oid, unsigned mode, const char *path, struct err *err)
{
	const struct git_api *git = p->w->r->git;
	git_blob *blob = NULL;
	if (open_blob(p, oid, path, &blob, err) < 0)
		return -1;
	p->w->r->watch->signs++;
	int rc = write_blob(p->w, path, mode, git->git_blob_rawcontent(blob), (size_t)git->git_blob_rawsize(blob), err);
	git->git_blob_free(blob);
	return rc;
}

/* Is the submodule at path asked for, by its path from the top or (of the outermost repository) its name? */
static bool is_wanted(struct repo *p, const char *path, const struct git_module *module)
{
	struct writer *w = p->w;
	const struct str_list *only = &w->r->q->only;
	const char *name = module && p->nested == 0 ? module->name : NULL;
	str_list_add(&w->names, path);
	if (w->r->q->submodules)
		return true;
	bool by_path = str_list_has(only, path), by_name = name && str_list_has(only, name);
	if (by_path)
		str_list_add(&w->found, path);
	if (by_name)
		str_list_add(&w->found, name);
	return by_path || by_name;
}

static int read_modules(struct repo *p, const git_tree *tree, struct err *err)
{
	const struct git_api *git = p->w->r->git;
	const git_tree_entry *e = git->git_tree_entry_byname(tree, ".gitmodules");
	bool needed = p->w->r->q->submodules || p->w->r->q->only.count;
	git_blob *blob = NULL;
	if (!e || !needed)
		return 0;
	_cleanup_free_ char *path = mem_printf("%s%s.gitmodules", p->top, *p->top ? "/" : "");
	unsigned mode = (unsigned)git->git_tree_entry_filemode_raw(e);
	if (mode == MODE_LINK || mode == MODE_TREE || mode == MODE_MODULE)
		return refuse(path, "it is not a file", err);
	if (open_blob(p, git->git_tree_entry_id(e), path, &blob, err) < 0)
		return -1;
	struct slice text = { git->git_blob_rawcontent(blob), (size_t)git->git_blob_rawsize(blob) };
	int rc = git_modules_parse(text, &p->modules, err);
	git->git_blob_free(blob);
	return rc < 0 && *p->top ? err_add(err, "%s", p->top) : rc;
}

/* The commit's tree, of a repository that stands at p->top. */
static int put_commit(struct repo *p, const git_oid *commit_id, struct err *err)
{
	const struct git_api *git = p->w->r->git;
	git_commit *commit = NULL;
	git_tree *tree = NULL;
	char hex[GIT_REV_LEN + 1];
	git->git_oid_tostr(hex, sizeof hex, commit_id);
	int rc = git->git_commit_lookup(&commit, p->git, commit_id);
	if (rc == 0)
		rc = git->git_commit_tree(&tree, commit);
	if (rc < 0)
		git_fail(git, err, "commit %s", hex);
	else if (read_modules(p, tree, err) < 0)
		rc = -1;
	if (rc == 0)
		rc = put_entries(p, tree, p->top, 0, err);
	git->git_tree_free(tree);
	git->git_commit_free(commit);
	return rc < 0 ? -1 : 0;
}

static int put_submodule(struct repo *p, const git_oid *commit, const char *path, struct err *err)
{
	struct writer *w = p->w;
	const char *inner = path + (*p->top ? strlen(p->top) + 1 : 0);
	const struct git_module *module = git_modules_at(&p->modules, inner);
	if (tree_folder(w->tree, path, err) < 0)
		return -1;
	if (!is_wanted(p, path, module))
		return 0;
	_cleanup_free_ char *shown = name_show(path), *what = mem_printf("the submodule %s", shown);
	if (!module || !module->url)
		return err_set(err, ERR_INPUT, "%s: .gitmodules has no url for it", what);
	if (p->nested >= NESTED_MAX || ++w->submodules > SUBMODULES_MAX)
		return err_set(err, ERR_INPUT, "%s: more than %d submodules, or %d in one another", what, SUBMODULES_MAX,
			NESTED_MAX);
	_cleanup_free_ char *url = git_module_url(p->url, module->url, err);
	if (!url)
		return err_add(err, "%s", what);
	char hex[GIT_REV_LEN + 1];
	struct git_mirror_open m = { 0 };
	w->r->git->git_oid_tostr(hex, sizeof hex, commit);
	if (git_mirror_take(w->r, url, hex, what, &m, err) < 0)
		return -1;
	struct repo sub = { .w = w, .git = m.repo, .url = url, .top = path, .nested = p->nested + 1 };
	int rc = put_commit(&sub, commit, err);
	git_modules_free(&sub.modules);
	git_mirror_close(w->r, &m);
	return rc;
}

static int put_tree(struct repo *p, const git_oid *oid, const char *path, unsigned depth, struct err *err)
{
	const struct git_api *git = p->w->r->git;
	git_tree *tree = NULL;
	if (depth > DEPTH_MAX)
		return refuse(path, "folders nested too deep", err);
	if (git->git_tree_lookup(&tree, p->git, oid) < 0)
		return unreadable(p, path, err);
	int rc = tree_folder(p->w->tree, path, err);
	if (rc == 0)
		rc = put_entries(p, tree, path, depth, err);
	git->git_tree_free(tree);
	return rc;
}

static int put_entry(struct repo *p, const git_tree_entry *e, const char *path, unsigned depth, struct err *err)
{
	const struct git_api *git = p->w->r->git;
	unsigned mode = (unsigned)git->git_tree_entry_filemode_raw(e);
	const git_oid *oid = git->git_tree_entry_id(e);
	if (mode == MODE_TREE)
		return put_tree(p, oid, path, depth + 1, err);
	if (mode == MODE_MODULE)
		return put_submodule(p, oid, path, err);
	if (mode == MODE_LINK || (mode & ~0777u) == 0100000)
		return put_blob(p, oid, mode, path, err);
	return refuse(path, "it is neither file, link, folder nor submodule", err);
}

/* Git's order: a folder's name counts as if it ended in "/". */
static int compare(const char *a, bool a_tree, const char *b, bool b_tree)
{
	_cleanup_free_ char *x = mem_printf("%s%s", a, a_tree ? "/" : ""), *y = mem_printf("%s%s", b, b_tree ? "/" : "");
	return strcmp(x, y);
}

static int put_entries(struct repo *p, const git_tree *tree, const char *path, unsigned depth, struct err *err)
{
	const struct git_api *git = p->w->r->git;
	const char *before = NULL;
	bool before_tree = false;
	for (size_t i = 0, n = git->git_tree_entrycount(tree); i < n; i++) {
		const git_tree_entry *e = git->git_tree_entry_byindex(tree, i);
		const char *name = git->git_tree_entry_name(e);
		bool is_tree = (unsigned)git->git_tree_entry_filemode_raw(e) == MODE_TREE;
		_cleanup_free_ char *child = entry_path(path, name, err);
		if (!child)
			return -1;
		if (before && compare(before, before_tree, name, is_tree) >= 0)
			return refuse(child, "git's tree has it twice or out of order", err);
		if (put_entry(p, e, child, depth, err) < 0)
			return -1;
		before = name;
		before_tree = is_tree;
	}
	return 0;
}

static int check_only(struct writer *w, struct err *err)
{
	const struct str_list *only = &w->r->q->only;
	for (size_t i = 0; i < only->count; i++) {
		const char *wanted = only->items[i];
		if (str_list_has(&w->found, wanted))
			continue;
		const char *nearest = str_nearest(wanted, (const char *const *)w->names.items, w->names.count);
		return err_set(err, ERR_INPUT, "it has no submodule \"%s\"%s%.200s%s", wanted,
			nearest ? "; did you mean \"" : "", nearest ? nearest : "", nearest ? "\"?" : "");
	}
	return 0;
}

int git_tree_write(struct git_run *r, const struct git_mirror_open *m, const char *url, int dirfd,
	struct err *err)
{
	struct unpack_options o = { .limits = { .bytes = r->bytes } };
	_cleanup_tree_ struct tree *tree = tree_open(dirfd, &o, err);
	struct writer w = { .r = r, .tree = tree };
	struct repo top = { .w = &w, .git = m->repo, .url = url, .top = "" };
	if (!tree)
		return -1;
	int rc = put_commit(&top, &m->commit, err);
	if (rc == 0)
		rc = check_only(&w, err);
	git_modules_free(&top.modules);
	str_list_free(&w.found);
	str_list_free(&w.names);
	return rc < 0 ? err_add(err, "%s", m->shown) : 0;
}
