/* Patch files of a recipe that it does not apply; declared in lint/lint_impl.h. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/json.h"
#include "core/mem.h"
#include "lint/lint_impl.h"

#define RECIPE_MAX (4u << 20)

/* The recipe's folder and its own name, "flash-attn" of recipes/flash-attn.lua. */
struct place {
	struct linting *l;
	int folder;
	char *stem;
};

static bool is_patch(const char *name)
{
	return str_ends(name, ".patch") || str_ends(name, ".diff");
}

static bool is_applied(const struct linting *l, const char *file)
{
	const struct json *applied = json_get(l->tables.told, "patches");
	for (size_t i = 0; i < json_count(applied); i++) {
		const char *one = json_str(json_at(applied, i));
		if (str_eq(str_starts(one, "./") ? one + 2 : one, file))
			return true;
	}
	return false;
}

/* Recipes may share a folder of patches, or begin with one another's names: is it named in any of them? */
static bool is_named(const struct place *p, const char *file)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	if (fs_list(p->folder, &names, NULL) < 0)
		return false;
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT;
		if (str_ends(names.items[i], ".lua") && fs_read_file(p->folder, names.items[i], RECIPE_MAX, &text, NULL) == 0 &&
		    text.len && memmem(text.data, text.len, file, strlen(file)))
			return true;
	}
	return false;
}

/* The files of patches/<more> that are this recipe's: all of its own folder, of patches/ those with its name. */
static int check_folder(const struct place *p, const char *more, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_free_ char *path = mem_printf("patches%s%s", *more ? "/" : "", more);
	_cleanup_close_ int fd = openat(p->folder, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	if (fd < 0 || fs_list(fd, &names, err) < 0)
		return fd < 0 ? err_sys(err, "can't read %s", path) : err_add(err, "%s", path);
	size_t n = strlen(p->stem);
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.items[i];
		bool own = *more || (strncmp(name, p->stem, n) == 0 && (name[n] == '-' || name[n] == '.'));
		_cleanup_free_ char *file = fs_join(path, name);
		if (own && is_patch(name) && !is_applied(p->l, file) && !is_named(p, file))
			lint_say(p->l, "patch", 0, mem_printf("%s is applied by no recipe", file),
				mem_dup("name it in `patches`, or remove it"));
	}
	return 0;
}

int lint_patches(struct linting *l, struct err *err)
{
	if (!l->tables.told)
		return 0;
	const char *recipe = l->o->recipe, *slash = strrchr(recipe, '/'), *base = slash ? slash + 1 : recipe;
	_cleanup_free_ char *folder = slash ? mem_dup_n(recipe, (size_t)(slash - recipe) + 1) : mem_dup(".");
	_cleanup_free_ char *stem = mem_dup_n(base, strlen(base) - (str_ends(base, ".lua") ? strlen(".lua") : 0));
	_cleanup_close_ int fd = fs_open_dir(folder, err);
	const struct place p = { l, fd, stem };
	if (fd < 0 || check_folder(&p, "", err) < 0)
		return -1;
	return check_folder(&p, stem, err);
}
