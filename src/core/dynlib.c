#include "core/dynlib.h"

#include <dlfcn.h>
#include <string.h>

int dynlib_load(const char *soname, const char *const *names, size_t count, void *table,
	struct err *err)
{
	void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		return err_set(err, ERR_FAIL, "%s can't be loaded (%s): install its package", soname, dlerror());
	for (size_t i = 0; i < count; i++) {
		void *function = dlsym(lib, names[i]);
		if (!function)
			return err_set(err, ERR_FAIL, "%s is too old: it lacks %s", soname, names[i]);
		memcpy((char *)table + i * sizeof function, &function, sizeof function);
	}
	return 0;
}
