#include "lock/pyproject.h"

#include <string.h>

#include "core/buf.h"
#include "lock/requirement.h"
#include "lock/toml.h"
#include "wheel/metadata.h"

#define LIST_LIMIT 1000

int pyproject_requires(struct slice toml, struct str_list *out, struct err *err)
{
	struct toml_key key = { .name = "build-system.requires", .list = out };
	if (toml_read(toml, PYPROJECT_FILE, &key, 1, err) < 0)
		return -1;
	if (!key.found)
		str_list_add(out, "setuptools>=40.8.0");
	return 0;
}

/* One requirement in one spelling, at the list's end; not one of an extra. */
static int add_own(struct slice text, struct str_list *out, struct err *err)
{
	_cleanup_requirement_ struct requirement r = { 0 };
	_cleanup_buf_ struct buf spelled = BUF_INIT;
	if (requirement_parse(text, &r, err) < 0)
		return -1;
	if (requirement_is_extra(&r))
		return 0;
	requirement_write(&r, &spelled);
	str_list_take(out, buf_steal(&spelled));
	return 0;
}

static void sort_once(struct str_list *list)
{
	str_list_sort(list);
	str_list_uniq(list);
}

int pyproject_dependencies(struct slice toml, struct str_list *out, bool *stated, struct err *err)
{
	_cleanup_str_list_ struct str_list dependencies = STR_LIST_INIT, dynamic = STR_LIST_INIT;
	enum { NAME, DEPENDENCIES, DYNAMIC };
	struct toml_key keys[] = { [NAME] = { .name = "project.name" },
		[DEPENDENCIES] = { .name = "project.dependencies", .list = &dependencies },
		[DYNAMIC] = { .name = "project.dynamic", .list = &dynamic } };
	if (toml_read(toml, PYPROJECT_FILE, keys, sizeof keys / sizeof *keys, err) < 0)
		return -1;
	*stated = keys[NAME].found && !str_list_has(&dynamic, "dependencies");
	for (size_t i = 0; *stated && i < dependencies.count; i++)
		if (add_own(slice_of(dependencies.items[i]), out, err) < 0)
			return err_add(err, PYPROJECT_FILE ", project.dependencies");
	sort_once(out);
	return 0;
}

int pkginfo_requires(struct slice pkginfo, struct str_list *out, struct err *err)
{
	struct slice value;
	for (size_t i = 0; metadata_get(pkginfo, "Requires-Dist", i, &value); i++) {
		if (i == LIST_LIMIT)
			return err_set(err, ERR_INPUT, "PKG-INFO: more than %d Requires-Dist", LIST_LIMIT);
		if (add_own(value, out, err) < 0)
			return err_add(err, "PKG-INFO, Requires-Dist");
	}
	sort_once(out);
	return 0;
}
