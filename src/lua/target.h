/* From what a recipe returned to targets, and from a target to its derivations. */
#ifndef FORGE_LUA_TARGET_H
#define FORGE_LUA_TARGET_H

#include <lua.h>

/*
 * Takes the value on top of the stack: a derivation, or a table {targets = {…}} as forge.wheel gives,
 * each of them {name=, recipe=, version=, label=, axes=, is_default=, excluded=, derive=function}.
 * Fills e->targets and keeps the functions.  Raises.
 */
void target_collect(lua_State *L);

/* Push the list of {role=, drv=} that target i's function gives. Raises. */
void target_derive(lua_State *L, size_t i);

#endif
