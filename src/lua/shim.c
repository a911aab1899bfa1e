#include "lua/shim.h"

static const struct { const char *name, *text; } sources[] = {
#include "shim_texts.h"
};

void shim_push(lua_State *L)
{
	lua_newtable(L);
	for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
		lua_pushstring(L, sources[i].text);
		lua_setfield(L, -2, sources[i].name);
	}
}
