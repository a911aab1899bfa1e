#include "world/world.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"

#define TEXT_MAX (4u * 1024 * 1024)
#define LAYERS_MAX 2000
#define MOUNTS_MAX 64

/* An absolute path without "." and ".." parts, so that it can't lead out of the world. */
static int check_inside(const char *path, struct err *err)
{
	bool bad = path[0] != '/' || strstr(path, "//") || str_ends(path, "/.") || str_ends(path, "/..") ||
		strstr(path, "/./") || strstr(path, "/../");
	if (bad || (path[1] && str_ends(path, "/")))
		return err_set(err, ERR_INPUT, "world: \"%s\" is not a plain absolute path", path);
	return 0;
}

/* The physical folder of "/forge/store/<object>[/sub]".  1: found, 0: the object lacks it. */
static int find_layer(const char *path, const struct store *s, struct arena *a, char **out,
	struct err *err)
{
	size_t prefix = strlen(STORE_DIR "/");
	if (check_inside(path, err) < 0)
		return -1;
	if (!str_starts(path, STORE_DIR "/"))
		return err_set(err, ERR_INPUT, "world: the layer %s is not in %s", path, STORE_DIR);
	struct slice object, sub, name;
	slice_cut(slice_of(path + prefix), '/', &object, &sub);
	if (store_path_check((struct slice){ path, prefix + object.n }, &name, err) < 0)
		return err_add(err, "world");
	int fd = fs_open_beneath(store_objects_fd(s), path + prefix, O_PATH | O_DIRECTORY, 0, NULL);
	if (fd < 0 && errno == ENOENT && sub.n)
		return 0;
	if (fd < 0 && errno == ENOTDIR && !sub.n)
		return err_set(err, ERR_INPUT, "world: the layer %s is a file, not a folder", path);
	if (fd < 0 && errno == ELOOP)
		return err_set(err, ERR_INPUT, "world: the layer %s is behind a link: name the folder that it leads to", path);
	if (fd < 0)
		return err_sys(err, "world: can't use the layer %s", path);
	fs_close_ptr(&fd);
	*out = arena_printf(a, "%s/objects/%s", store_folder(s), path + prefix);
	return 1;
}

/* A folder under itself shows nothing new, and the kernel refuses it: the topmost stays. */
static bool listed(const struct sandbox_mount *m, const char *layer)
{
	for (size_t i = 0; i < m->layer_count; i++)
		if (strcmp(m->layers[i], layer) == 0)
			return true;
	return false;
}

static int read_mount(const struct json *j, const struct store *s, struct arena *a,
	struct sandbox_mount *m, struct err *err)
{
	const char *at = json_get_str(j, "at");
	const struct json *layers = json_get(j, "layers");
	size_t count = json_count(layers);
	if (!at || json_kind(layers) != JSON_ARR || count > LAYERS_MAX)
		return err_set(err, ERR_INPUT, "world: a mount needs \"at\" and at most %d \"layers\"", LAYERS_MAX);
	if (check_inside(at, err) < 0)
		return -1;
	m->at = arena_dup(a, at);
	m->layers = arena_alloc(a, (count + 1) * sizeof *m->layers);
	for (size_t i = 0; i < count; i++) {
		const char *layer = json_str(json_at(layers, i));
		if (!layer)
			return err_set(err, ERR_INPUT, "world: a layer of %s is not a string", at);
		int found = find_layer(layer, s, a, &m->layers[m->layer_count], err);
		if (found < 0)
			return -1;
		m->layer_count += found && !listed(m, m->layers[m->layer_count]);
	}
	return 0;
}

static int read_files(const struct json *j, const char *key, bool link, struct arena *a,
	struct world *w, struct err *err)
{
	const struct json *table = json_get(j, key);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (json_kind(table) == JSON_OBJ)
		json_keys(table, &names);
	for (size_t i = 0; i < names.count; i++) {
		const char *text = json_get_str(table, names.items[i]);
		if (!text)
			return err_set(err, ERR_INPUT, "world: %s of %s is not a string", key, names.items[i]);
		if (check_inside(names.items[i], err) < 0)
			return -1;
		w->files[w->file_count++] = (struct sandbox_file){
			arena_dup(a, names.items[i]), arena_dup(a, text), link,
		};
	}
	return 0;
}

int world_read(const char *text, const struct store *s, struct arena *a, struct world *out,
	struct err *err)
{
	_cleanup_json_ struct json *j = json_parse(slice_of(text), TEXT_MAX, err);
	if (!j)
		return err_add(err, "world");
	const struct json *mounts = json_get(j, "mounts");
	size_t count = json_count(mounts);
	if (json_kind(mounts) != JSON_ARR || count == 0 || count > MOUNTS_MAX)
		return err_set(err, ERR_INPUT, "world: needs 1 to %d mounts", MOUNTS_MAX);
	memset(out, 0, sizeof *out);
	out->mounts = arena_alloc(a, count * sizeof *out->mounts);
	for (size_t i = 0; i < count; i++) {
		struct sandbox_mount *m = &out->mounts[out->mount_count];
		if (read_mount(json_at(mounts, i), s, a, m, err) < 0)
			return -1;
		out->mount_count += m->layer_count > 0; /* nothing to lay there: no mount */
	}
	if (out->mount_count == 0 || strcmp(out->mounts[0].at, "/") != 0)
		return err_set(err, ERR_INPUT, "world: the first mount must be / with at least one layer");
	size_t files = json_count(json_get(j, "files")) + json_count(json_get(j, "links"));
	out->files = arena_alloc(a, (files + 1) * sizeof *out->files);
	if (read_files(j, "files", false, a, out, err) < 0)
		return -1;
	return read_files(j, "links", true, a, out, err);
}
