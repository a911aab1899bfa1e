/* A source's pyproject.toml and PKG-INFO: requirements from its dependencies and from PKG-INFO have one spelling. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "core/buf.h"
#include "lock/pyproject.h"
#include "lock/requirement.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_spelling(const struct str_list *run)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_str_list_ struct str_list again = STR_LIST_INIT;
	if (requirements_normalise(run, &again, &err) < 0 || again.count != run->count)
		__builtin_trap();
	for (size_t i = 0; i < run->count; i++)
		if (strcmp(run->items[i], again.items[i]) != 0)
			__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_str_list_ struct str_list build = STR_LIST_INIT, own = STR_LIST_INIT, run = STR_LIST_INIT;
	struct slice text = { (const char *)data, len };
	bool stated;
	pyproject_requires(text, &build, &err);
	if (pyproject_dependencies(text, &own, &stated, &err) == 0)
		check_spelling(&own);
	if (pkginfo_requires(text, &run, &err) == 0)
		check_spelling(&run);
	return 0;
}
