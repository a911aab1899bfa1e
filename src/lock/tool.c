/* uv as forge's own pinned tool: named in the lock, fetched into the store, installed below scratch. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "lock/choose.h"
#include "lock/resolve_impl.h"
#include "store/store.h"
#include "wheel/install.h"

#define KEY "tool uv"

/* uv's wheels hold a static program and serve every Python; which one is asked for makes no difference. */
#define ANY_PYTHON "3.13"

static int choose(struct lock_resolver *r, struct err *err)
{
	const struct simple_page *page = pypi_page(r, "uv", err);
	_cleanup_free_ char *version = page ? choose_newest(page, ANY_PYTHON, err) : NULL;
	if (!version)
		return -1;
	struct pypi_pick pick = { .name = "uv", .version = version };
	pick.file = choose_wheel(page, version, ANY_PYTHON, NULL, err);
	if (!pick.file || pypi_measure(r, &pick, 1, err) < 0)
		return -1;
	struct json *tool = json_new_obj();
	_cleanup_free_ char *key = mem_printf("pypi %s", pick.file->filename);
	json_set_str(tool, "file", pick.file->filename);
	lock_put(r->lock, key, pypi_entry(&pick));
	lock_put(r->lock, KEY, tool);
	str_list_add(&r->fresh, KEY);
	free(pick.sha256);
	return 0;
}

/* Put what the entry names into the store, under the path a derivation that fetches it has. */
static int fetch_to_store(struct lock_resolver *r, const struct json *entry, const char *path, struct err *err)
{
	const char *file = json_get_str(entry, "file");
	_cleanup_free_ char *tmp = store_tmp_name(r->store, "lock", err);
	if (!tmp || !resolver_net(r, err))
		return -1;
	_cleanup_close_ int fd = openat(store_tmp_fd(r->store), tmp, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_sys(err, "can't write in the store");
	struct store_prepared p = { 0 };
	int rc = net_locked(r->net, entry, fd, err);
	if (rc == 0)
		rc = store_prepare(store_tmp_fd(r->store), tmp, file, DRV_FLAT, NULL, NULL, &p, err);
	if (rc == 0 && !str_eq(p.path, path))
		rc = err_set(err, ERR_HASH, "%s became %s in the store, not %s", file, p.path, path);
	if (rc == 0)
		rc = store_commit(r->store, &p, 1, err);
	else
		unlinkat(store_tmp_fd(r->store), tmp, 0);
	store_prepared_free(&p);
	return rc;
}

/* Unpack the wheel aside and move it to its name: another forge may do the same. */
static int install(struct lock_resolver *r, int tools, const char *physical, const char *name, struct err *err)
{
	_cleanup_close_ int wheel = fs_open(physical, O_RDONLY, 0, err);
	_cleanup_free_ char *aside = NULL;
	if (wheel < 0 || fs_temp_dir(tools, "new", &aside, err) < 0)
		return -1;
	_cleanup_close_ int dir = fs_open_beneath(tools, aside, O_RDONLY | O_DIRECTORY, 0, err);
	int rc = dir < 0 ? -1 : wheel_install(wheel, dir, err);
	if (rc < 0)
		err_add(err, "installing uv");
	else if (renameat(tools, aside, tools, name) == 0)
		return 0;
	else if (faccessat(tools, name, F_OK, 0) < 0)
		rc = err_sys(err, "can't install uv in %s/tools", r->scratch);
	fs_remove_tree(tools, aside, NULL);
	return rc;
}

char *tool_uv(struct lock_resolver *r, struct err *err)
{
	bool again = r->update && (!r->only || str_eq(r->only, "uv")) && !str_list_has(&r->fresh, KEY);
	if ((!lock_get(r->lock, KEY) || again) && choose(r, err) < 0)
		return NULL;
	_cleanup_free_ char *key = mem_printf("pypi %s", json_get_str(lock_get(r->lock, KEY), "file"));
	const struct json *entry = lock_get(r->lock, key);
	const char *hex = json_get_str(entry, "sha256");
	struct hash hash;
	_cleanup_buf_ struct buf path = BUF_INIT;
	if (hash_parse(slice_of(hex), &hash, err) < 0)
		return NULL;
	store_path_fixed(DRV_FLAT, &hash, json_get_str(entry, "file"), NULL, &path);
	int valid = store_valid(r->store, path.data, err);
	if (valid < 0 || (!valid && fetch_to_store(r, entry, path.data, err) < 0))
		return NULL;
	_cleanup_free_ char *name = mem_printf("uv-%.32s", hex);
	_cleanup_free_ char *program = mem_printf("%s/tools/%s/bin/uv", r->scratch, name);
	_cleanup_close_ int tools = resolver_folder(r, "tools", err);
	_cleanup_free_ char *physical = store_physical(r->store, path.data);
	if (tools < 0 || (!fs_exists(program) && install(r, tools, physical, name, err) < 0))
		return NULL;
	if (!fs_exists(program)) {
		err_set(err, ERR_INPUT, "%s holds no program bin/uv", json_get_str(entry, "file"));
		return NULL;
	}
	return steal_ptr(program);
}
