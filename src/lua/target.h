/* From what a recipe returned to targets, and from a target to its derivations. */
#ifndef FORGE_LUA_TARGET_H
#define FORGE_LUA_TARGET_H

#include <stdbool.h>
#include <lua.h>

/*
 * Takes the value on top of the stack: a derivation, or a table {targets = {…}} as forge.wheel gives,
 * each of them {name=, recipe=, version=, axes=, stable_abi=, derive=function} with label= or, where that is
 * only to be found out for a target that is asked for, tell=function which gives {label=, excluded=}; beside them
 * profiles={names} and profile=function, which gives the indexes of the named one's targets, and lint=function, see
 * lib/forge/lint.lua.
 * Fills e->targets and keeps the functions.  Raises.
 */
void target_collect(lua_State *L);
/* Is the value at index (from the top: negative) of that form? */
bool target_is_recipe(lua_State *L, int index);

/* Fill target i's label and excluded. Raises. */
void target_tell(lua_State *L, size_t i);

/* Mark the targets of a profile. Raises. */
void target_profile(lua_State *L, const char *name, bool *marked);

/* Push the table that the recipe's lint gives; false, with anything pushed, where it has none. Raises. */
bool target_lint(lua_State *L);

/* Push the list of {role=, drv=} that target i's function gives. Raises.  False, with the target's field set, where
 * it gives {impossible=why}. */
bool target_derive(lua_State *L, size_t i);

#endif
