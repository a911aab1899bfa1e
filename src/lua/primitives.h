/* The functions of C that lib/ builds on: what `require "forge.primitives"` gives. */
#ifndef FORGE_LUA_PRIMITIVES_H
#define FORGE_LUA_PRIMITIVES_H

#include <lua.h>
#include "lua/bind.h"

extern const struct bind primitives[];

/* Push the module: the functions; `set`, the overrides of the command line; `shim`, see shim.h. */
void primitives_push(lua_State *L);

#endif
