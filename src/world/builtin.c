#include "world/builtin_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "archive/unpack.h"
#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"
#include "wheel/finish.h"
#include "wheel/install.h"

typedef int builtin_fn(const struct drv *d, const struct store *s, int dirfd, char **note,
	struct err *err);

const char *builtin_parameter(const struct drv *d, const char *key, struct err *err)
{
	const char *value = drv_env_get(d, key);
	if (!value)
		err_set(err, ERR_INPUT, "%s needs the parameter %s", d->builder, key);
	return value;
}

int builtin_open(const struct store *s, struct slice path, int flags, struct err *err)
{
	struct slice name;
	if (store_path_check(path, &name, err) < 0)
		return -1;
	_cleanup_free_ char *base = mem_dup_n(path.p + strlen(STORE_DIR "/"), path.n - strlen(STORE_DIR "/"));
	return fs_open_beneath(store_objects_fd(s), base, O_RDONLY | flags, 0, err);
}

/* "<digest>-x-1.0.tar.gz" is "x-1.0.tar.gz" to people. */
static int name_object(const char *path, struct err *err)
{
	struct slice name;
	return store_path_check(slice_of(path), &name, NULL) < 0 ? -1 : err_add(err, "%.*s", (int)name.n, name.p);
}

static int unpack(const struct drv *d, const struct store *s, int dirfd, char **note, struct err *err)
{
	const char *src = builtin_parameter(d, "src", err), *strip = drv_env_get(d, "strip");
	_cleanup_close_ int fd = src ? builtin_open(s, slice_of(src), 0, err) : -1;
	if (fd < 0)
		return -1;
	struct unpack_options o = { .strip = strip ? (unsigned)strtoul(strip, NULL, 10) : 0 };
	return unpack_any(fd, dirfd, &o, err) < 0 ? name_object(src, err) : 0;
}

static int unpack_wheel(const struct drv *d, const struct store *s, int dirfd, char **note,
	struct err *err)
{
	const char *src = builtin_parameter(d, "src", err);
	_cleanup_close_ int fd = src ? builtin_open(s, slice_of(src), 0, err) : -1;
	if (fd < 0)
		return -1;
	return wheel_install(fd, dirfd, err) < 0 ? name_object(src, err) : 0;
}

int builtin_links(const char *text, int dirfd, struct err *err)
{
	_cleanup_json_ struct json *links = json_parse(slice_of(text), 1 << 20, err);
	if (!links)
		return err_add(err, "links");
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (json_kind(links) == JSON_OBJ)
		json_keys(links, &names);
	for (size_t i = 0; i < names.count; i++) {
		const char *path = names.items[i], *target = json_get_str(links, path);
		while (*path == '/')
			path++;
		const char *slash = strrchr(path, '/');
		_cleanup_free_ char *folder = mem_dup_n(path, slash ? (size_t)(slash - path) : 0);
		_cleanup_close_ int at = -1;
		struct stat st;
		if (!target)
			return err_set(err, ERR_INPUT, "links: the target of %s is not a string", path);
		if (fs_mkdirs_beneath(dirfd, folder, 0755, err) < 0)
			return -1;
		at = fs_open_beneath(dirfd, *folder ? folder : ".", O_PATH | O_DIRECTORY, 0, err);
		if (at < 0)
			return -1;
		const char *name = slash ? slash + 1 : path;
		if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) < 0 && symlinkat(target, at, name) < 0)
			return err_sys(err, "can't make the link %s", path);
	}
	return 0;
}

static int debian(const struct drv *d, const struct store *s, int dirfd, char **note, struct err *err)
{
	const char *debs = builtin_parameter(d, "debs", err), *links = drv_env_get(d, "links");
	if (!debs)
		return -1;
	struct unpack_options o = { .root_links = true, .merge = true };
	for (struct slice path, rest = slice_of(debs); rest.n;) {
		slice_cut(rest, ' ', &path, &rest);
		if (!path.n)
			continue;
		_cleanup_close_ int fd = builtin_open(s, path, 0, err);
		if (fd < 0 || unpack_deb(fd, dirfd, &o, err) < 0)
			return err_add(err, "%.*s", (int)path.n, path.p);
	}
	return links ? builtin_links(links, dirfd, err) : 0;
}

static int label_kind(const char *text, enum wheel_label_kind *out, struct err *err)
{
	static const char *const names[] = { "none", "local", "build" };
	for (int i = 0; i < 3; i++) {
		if (text && strcmp(text, names[i]) == 0) {
			*out = (enum wheel_label_kind)i;
			return 0;
		}
	}
	return err_set(err, ERR_INPUT, "builtin:finish: label_kind is none, local or build");
}

static int finish(const struct drv *d, const struct store *s, int dirfd, char **note, struct err *err)
{
	const char *src = builtin_parameter(d, "src", err), *epoch = drv_env_get(d, "epoch");
	if (!src)
		return -1;
	_cleanup_close_ int from = builtin_open(s, slice_of(src), O_DIRECTORY, err);
	if (from < 0 && err && err->sys == ENOTDIR)
		err_set(err, ERR_BUILD, "the build's output is a file, not a folder that holds a wheel");
	_cleanup_free_ char *tmp = fs_join(store_folder(s), "tmp");
	struct wheel_finish spec = {
		.from = from, .to = dirfd, .name = drv_env_get(d, "dist"),
		.version = drv_env_get(d, "version"), .label_text = drv_env_get(d, "label_text"),
		.epoch = epoch ? strtoll(epoch, NULL, 10) : 0, .python = drv_env_get(d, "python"), .tmp = tmp,
	};
	struct wheel_finished done = { 0 };
	if (from < 0 || label_kind(drv_env_get(d, "label_kind"), &spec.label, err) < 0 ||
			wheel_finish(&spec, &done, err) < 0) {
		if (err && (err->code == ERR_INPUT || err->code == ERR_HASH))
			err->code = ERR_BUILD; /* the step before made a wheel that is none */
		return -1;
	}
	_cleanup_free_ char *hex = hash_hex(&done.sha256);
	*note = mem_printf("%s\nsha256 %s\n%lld bytes\nplatform %s%s%s\n", done.file, hex,
		(long long)done.size, done.platform, done.why ? ": " : "", done.why ? done.why : "");
	wheel_finished_free(&done);
	return 0;
}

static const struct {
	const char *name;
	builtin_fn *run;
	bool read_only;
} builtins[] = {
	{ "builtin:unpack", unpack, false }, /* sources, which builds copy and change */
	{ "builtin:unpack-wheel", unpack_wheel, true },
	{ "builtin:debian", debian, true },
	{ "builtin:oci-rootfs", builtin_oci_rootfs, true },
	{ "builtin:finish", finish, false },
};

/* Its place in the table; -1: it is none. */
static int find(const char *builder)
{
	for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
		if (strcmp(builtins[i].name, builder) == 0)
			return (int)i;
	return -1;
}

bool builtin_known(const char *builder)
{
	return find(builder) >= 0;
}

bool builtin_is_read_only(const char *builder)
{
	int i = find(builder);
	return i >= 0 && builtins[i].read_only;
}

int builtin_run(const struct drv *resolved, const struct store *s, int dirfd, const char *name,
	char **note, struct err *err)
{
	int which = find(resolved->builder);
	if (which < 0)
		return err_set(err, ERR_INPUT, "there is no builder %s", resolved->builder);
	if (mkdirat(dirfd, name, 0755) < 0)
		return err_sys(err, "can't make the folder %s", name);
	_cleanup_close_ int out = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0)
		return err_sys(err, "can't open the folder %s", name);
	return builtins[which].run(resolved, s, out, note, err);
}
