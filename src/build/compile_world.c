#include "build/compile_world.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "compile/manifest.h"
#include "core/fs.h"

struct compile_world {
	const struct compile_view *view;
	struct compile_known *known;
	int build;
	int **layers; /* of each mount: descriptors, -1: not opened yet */
};

int compile_open_input(int build, const char *path, struct stat *st, bool *missing, struct err *err)
{
	_cleanup_err_ struct err why = { 0 };
	_cleanup_close_ int fd = fs_open_beneath(build, path + strlen("/build/"), O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &why);
	*missing = fd < 0 && (why.sys == ENOENT || why.sys == ENOTDIR);
	if (*missing)
		return -1;
	if (fd < 0 && why.sys == ELOOP)
		return err_set(err, ERR_INPUT, "%s is reached through a link", path);
	if (fd < 0 || fstat(fd, st) < 0)
		return err_set(err, ERR_INPUT, "%s can't be read", path);
	if (!S_ISREG(st->st_mode) || st->st_size > COMPILE_INPUT_MAX)
		return err_set(err, ERR_INPUT, "%s is no plain file of a sound size", path);
	return steal_fd(fd);
}

int compile_hash_input(int fd, struct hash *out, struct err *err)
{
	struct hasher h;
	char block[65536];
	uint64_t all = 0;
	ssize_t n;
	hash_begin(&h);
	while ((n = read(fd, block, sizeof block)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || (all += (uint64_t)n) > COMPILE_INPUT_MAX)
			return err_set(err, ERR_INPUT, "one of its files can't be read");
		hash_update(&h, block, (size_t)n);
	}
	hash_end(&h, out);
	return 0;
}

struct compile_world *compile_world_open(const struct compile_view *view, struct compile_known *known, struct err *err)
{
	int build = fs_open_dir(view->build, err);
	if (build < 0)
		return NULL;
	struct compile_world *w = mem_alloc(sizeof *w);
	*w = (struct compile_world){ .view = view, .known = known, .build = build };
	w->layers = mem_alloc((view->mount_count + 1) * sizeof *w->layers);
	for (size_t i = 0; i < view->mount_count; i++) {
		w->layers[i] = mem_alloc((view->mounts[i].layer_count + 1) * sizeof **w->layers);
		for (size_t k = 0; k < view->mounts[i].layer_count; k++)
			w->layers[i][k] = -1;
	}
	return w;
}

void compile_world_close(struct compile_world *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->view->mount_count; i++) {
		for (size_t k = 0; k < w->view->mounts[i].layer_count; k++)
			fs_close_ptr(&w->layers[i][k]);
		free(w->layers[i]);
	}
	free(w->layers);
	close(w->build);
	free(w);
}

int compile_world_build(const struct compile_world *w)
{
	return w->build;
}

/* What follows `folder` in path: "" for itself, else from the "/" on; NULL: it is not in there. */
static const char *below(const char *path, const char *folder)
{
	size_t n = strcmp(folder, "/") == 0 ? 0 : strlen(folder);
	return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0') ? path + n : NULL;
}

/* An entry in a folder that never changes, or in the build's: what it is, and for a file *fd to read it.
 * *hides: whatever is below this layer does not count. */
static enum manifest_kind look(int folder, const char *rest, int *fd, bool *hides)
{
	_cleanup_err_ struct err why = { 0 };
	struct stat st;
	const char *name = *rest ? rest + 1 : ".";
	*fd = fs_open_beneath(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, &why);
	*hides = *fd >= 0 || why.sys != ENOENT;
	if (*fd < 0)
		return why.sys == ENOENT || why.sys == ENOTDIR ? MANIFEST_MISSING : MANIFEST_ODD;
	if (fstat(*fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= COMPILE_INPUT_MAX)
		return MANIFEST_FILE;
	bool dir = S_ISDIR(st.st_mode);
	fs_close_ptr(fd);
	return dir ? MANIFEST_DIR : MANIFEST_ODD;
}

/* What forge itself places into the view, above all layers. */
static enum manifest_kind look_placed(const struct compile_view *v, const char *path, const char **text)
{
	enum manifest_kind kind = MANIFEST_MISSING;
	*text = NULL;
	for (size_t i = 0; i < v->file_count; i++) {
		const struct sandbox_file *f = &v->files[i];
		const char *rest = below(f->path, path);
		if (rest && *rest == '\0') {
			*text = f->link ? NULL : f->text;
			return f->link ? MANIFEST_ODD : MANIFEST_FILE;
		}
		if (rest)
			kind = MANIFEST_DIR;
		if (below(path, f->path))
			return MANIFEST_ODD; /* in what is a file, or behind a link */
	}
	return kind;
}

static int open_layer(struct compile_world *w, size_t mount, size_t layer)
{
	int *fd = &w->layers[mount][layer];
	if (*fd < 0)
		*fd = fs_open_dir(w->view->mounts[mount].layers[layer], NULL);
	return *fd;
}

/* The mount that shows the path, and whether the path leads to where one is; -1: none. */
static ssize_t find_mount(const struct compile_view *v, const char *path, bool *leads)
{
	ssize_t best = -1;
	size_t longest = 0;
	*leads = false;
	for (size_t i = 0; i < v->mount_count; i++) {
		const char *at = v->mounts[i].at;
		*leads |= below(at, path) != NULL;
		if (below(path, at) && (best < 0 || strlen(at) >= longest)) {
			best = (ssize_t)i;
			longest = strlen(at);
		}
	}
	return best;
}

/* In the layers of a mount, topmost first: the first that has it, or has something in its way.  *layer: that one. */
static enum manifest_kind look_layers(struct compile_world *w, size_t mount, const char *path, int *fd, size_t *layer)
{
	const struct sandbox_mount *m = &w->view->mounts[mount];
	for (*layer = 0; *layer < m->layer_count; (*layer)++) {
		bool hides;
		int folder = open_layer(w, mount, *layer);
		if (folder < 0)
			return MANIFEST_ODD;
		enum manifest_kind kind = look(folder, below(path, m->at), fd, &hides);
		if (hides)
			return kind;
	}
	return MANIFEST_MISSING;
}

/* Where a file is: open, or a text that forge placed. */
struct found {
	int fd;
	const char *text, *layer; /* layer: the physical folder, NULL: in none */
};

static enum manifest_kind look_anywhere(struct compile_world *w, const char *path, struct found *found)
{
	const char *rest = below(path, "/build");
	bool hides, leads;
	size_t layer;
	*found = (struct found){ .fd = -1 };
	if (rest)
		return look(w->build, rest, &found->fd, &hides);
	enum manifest_kind placed = look_placed(w->view, path, &found->text);
	if (placed == MANIFEST_FILE || placed == MANIFEST_ODD)
		return placed;
	ssize_t mount = find_mount(w->view, path, &leads);
	if (placed == MANIFEST_DIR || leads)
		return MANIFEST_DIR;
	if (mount < 0)
		return MANIFEST_MISSING;
	enum manifest_kind kind = look_layers(w, (size_t)mount, path, &found->fd, &layer);
	if (kind == MANIFEST_FILE)
		found->layer = w->view->mounts[mount].layers[layer];
	return kind;
}

static int hash_found(struct compile_world *w, const char *path, const struct found *found, struct hash *out)
{
	if (found->text) {
		hash_of(found->text, strlen(found->text), out);
		return 1;
	}
	if (!found->layer)
		return compile_hash_input(found->fd, out, NULL) < 0 ? -1 : 1;
	_cleanup_free_ char *key = mem_printf("%s\n%s", found->layer, path);
	if (compile_known_find(w->known, key, out))
		return 1;
	if (compile_hash_input(found->fd, out, NULL) < 0)
		return -1;
	compile_known_keep(w->known, key, out);
	return 1;
}

int compile_world_hash(void *world, const char *path, struct hash *out)
{
	struct found found;
	enum manifest_kind kind = look_anywhere(world, path, &found);
	int rc = kind == MANIFEST_MISSING ? 0 : kind == MANIFEST_FILE ? hash_found(world, path, &found, out) : -1;
	fs_close_ptr(&found.fd);
	return rc;
}

int compile_world_exists(void *world, const char *path)
{
	struct found found;
	enum manifest_kind kind = look_anywhere(world, path, &found);
	fs_close_ptr(&found.fd);
	return kind;
}

void compile_env_id(const struct compile_view *view, struct buf *out)
{
	struct hasher h;
	struct hash id;
	hash_begin(&h);
	for (size_t i = 0; i < view->mount_count; i++) {
		const struct sandbox_mount *m = &view->mounts[i];
		if (!below(m->at, "/env"))
			continue;
		hash_update(&h, "mount", sizeof "mount");
		hash_update(&h, m->at, strlen(m->at) + 1);
		for (size_t k = 0; k < m->layer_count; k++)
			hash_update(&h, m->layers[k], strlen(m->layers[k]) + 1);
	}
	for (size_t i = 0; i < view->file_count; i++) {
		const struct sandbox_file *f = &view->files[i];
		if (!below(f->path, "/env"))
			continue;
		hash_update(&h, f->link ? "link" : "file", sizeof "link");
		hash_update(&h, f->path, strlen(f->path) + 1);
		hash_update(&h, f->text, strlen(f->text) + 1);
	}
	hash_end(&h, &id);
	hash_base16(&id, out);
}
