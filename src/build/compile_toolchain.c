/* What of a world is its compilers', and what identifies them. */
#include <string.h>

#include "build/compile_service.h"
#include "core/hash.h"
#include "core/json.h"
#include "world/world.h"

/* Not what only links read. */
static bool is_seen(const char *at)
{
	return strcmp(at, "/toolchain/floor") != 0;
}

/* The environment's packages, /env, are what compiles read, not what they run: their headers are in the texts. */
static bool is_of_compilers(const char *at)
{
	return strcmp(at, "/env") != 0 && !str_starts(at, "/env/") && is_seen(at);
}

static void add_text(struct hasher *h, const char *text)
{
	hash_update(h, text, strlen(text) + 1);
}

static void add_mounts(struct hasher *h, const struct json *mounts)
{
	for (size_t i = 0; i < json_count(mounts); i++) {
		const struct json *mount = json_at(mounts, i), *layers = json_get(mount, "layers");
		const char *at = json_get_str(mount, "at");
		if (!at || !is_of_compilers(at))
			continue;
		add_text(h, "mount");
		add_text(h, at);
		for (size_t k = 0; k < json_count(layers); k++) {
			const char *layer = json_str(json_at(layers, k));
			add_text(h, layer ? layer : "");
		}
	}
}

static void add_placed(struct hasher *h, const char *kind, const struct json *placed)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (json_kind(placed) == JSON_OBJ)
		json_keys(placed, &names);
	for (size_t i = 0; i < names.count; i++) {
		const char *text = json_get_str(placed, names.items[i]);
		if (!is_of_compilers(names.items[i]))
			continue;
		add_text(h, kind);
		add_text(h, names.items[i]);
		add_text(h, text ? text : "");
	}
}

int compile_toolchain(const char *world, struct buf *out, struct err *err)
{
	_cleanup_json_ struct json *j = json_parse(slice_of(world), 16 << 20, err);
	struct hasher h;
	struct hash digest;
	if (!j)
		return err_add(err, "world");
	hash_begin(&h);
	add_mounts(&h, json_get(j, "mounts"));
	add_placed(&h, "file", json_get(j, "files"));
	add_placed(&h, "link", json_get(j, "links"));
	hash_end(&h, &digest);
	hash_base16(&digest, out);
	return 0;
}

bool compile_has_shim(const struct world *w)
{
	for (size_t i = 0; i < w->mount_count; i++)
		if (strcmp(w->mounts[i].at, "/toolchain") == 0)
			return true;
	return false;
}

int compile_see(struct compile_view *view, const char *text, const struct world *w, struct arena *a, struct err *err)
{
	_cleanup_buf_ struct buf toolchain = BUF_INIT;
	if (compile_toolchain(text, &toolchain, err) < 0)
		return -1;
	struct sandbox_mount *mounts = arena_alloc(a, (w->mount_count + 1) * sizeof *mounts);
	view->mount_count = 0;
	for (size_t i = 0; i < w->mount_count; i++)
		if (is_seen(w->mounts[i].at))
			mounts[view->mount_count++] = w->mounts[i];
	view->mounts = mounts;
	view->files = w->files;
	view->file_count = w->file_count;
	view->toolchain = arena_dup(a, toolchain.data);
	return 0;
}

const char *compile_gcc(const struct sandbox_file *files, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = files[i].text;
		size_t digits = strspn(text, "0123456789");
		if (strcmp(files[i].path, "/toolchain/gcc") == 0 && !files[i].link && digits && digits < 4 && !text[digits])
			return text;
	}
	return NULL;
}
