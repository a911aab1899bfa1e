/*
 * string.find, match, gmatch and gsub, as the Lua manual (5.4, 6.4.1) defines
 * them, with a matcher of our own: Lua's can be sent into years of backtracking
 * by one call, where no hook looks; ours counts its steps against the budget.
 * Letters, digits and the other classes are ASCII's, whatever the locale.
 */
#ifndef FORGE_LUA_PATTERN_H
#define FORGE_LUA_PATTERN_H

#include <lua.h>

/* Adds the four functions to the table on top of the stack. */
void pattern_open(lua_State *L);

#endif
