/* Where the store, the Lua library and the lock are; declared in cli/cli.h. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "core/fs.h"
#include "core/mem.h"
#include "defaults.h"

static const char *set_variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

char *cli_store_folder(const struct options *o, struct err *err)
{
	const char *given = o->store ? o->store : set_variable("FORGE_STORE");
	if (given)
		return mem_dup(given);
	if (fs_exists("recipes"))
		return mem_dup("store");
	const char *data = set_variable("XDG_DATA_HOME"), *home = set_variable("HOME");
	if (data)
		return fs_join(data, "forge/store");
	if (home)
		return fs_join(home, ".local/share/forge/store");
	err_set(err, ERR_USAGE, "no place for the store: give --store DIR or set FORGE_STORE");
	return NULL;
}

struct store *cli_store(const struct options *o, enum store_mode mode, struct err *err)
{
	_cleanup_free_ char *folder = cli_store_folder(o, err);
	return folder ? store_open(folder, mode, err) : NULL;
}

/* The library's folder if it is one: it must hold forge.lua. */
static char *library_in(const char *folder)
{
	_cleanup_free_ char *probe = fs_join(folder, "forge.lua");
	return fs_exists(probe) ? mem_dup(folder) : NULL;
}

char *cli_lib_folder(struct err *err)
{
	const char *given = set_variable("FORGE_LIB");
	if (given) {
		char *lib = library_in(given);
		if (!lib)
			err_set(err, ERR_FAIL, "FORGE_LIB is %s, which holds no forge.lua", given);
		return lib;
	}
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (n > 0) { /* run from a build folder inside the project */
		exe[n] = '\0';
		*strrchr(exe, '/') = '\0';
		_cleanup_free_ char *beside = fs_join(exe, "../lib");
		_cleanup_free_ char *found = library_in(beside);
		if (found)
			return fs_real(found, err);
	}
	char *installed = library_in(FORGE_DATADIR "/lib");
	if (!installed)
		err_set(err, ERR_FAIL, "the Lua library is neither beside the program nor in " FORGE_DATADIR
			"/lib: set FORGE_LIB to the folder that holds forge.lua");
	return installed;
}

char *cli_lock_file(const char *recipe)
{
	const char *slash = strrchr(recipe, '/');
	return slash ? mem_printf("%.*s/forge.lock", (int)(slash - recipe), recipe) : mem_dup("forge.lock");
}
