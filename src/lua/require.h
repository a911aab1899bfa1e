/* `require`, confined to lib/ and the recipe's own folder. */
#ifndef FORGE_LUA_REQUIRE_H
#define FORGE_LUA_REQUIRE_H

#include <lua.h>
#include "lua/state.h"

/* The binding: require(name).  "cuda.redist" is lib/cuda/redist.lua, else cuda/redist.lua beside the
 * recipe.  Each file runs once; a circle is an error. */
int require_call(lua_State *L);

/* From now on require(name) gives what push pushes. */
void require_preload(lua_State *L, const char *name, void (*push)(lua_State *L));

/* Push the compiled chunk of a file beneath a place's folder. Raises. */
void require_load(lua_State *L, enum place place, const char *file);

/* Where the innermost Lua function outside C stands; NULL where there is none.  *line may be NULL. */
const char *require_caller(lua_State *L, bool outside_lib, int *line, enum place *place);

#endif
