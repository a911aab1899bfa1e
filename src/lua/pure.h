/*
 * The part of Lua's own library that recipes get: base, table, string, math and
 * utf8, without what reads the outside, shows addresses, depends on libm's last
 * bit, or runs for long without the count hook seeing it.
 */
#ifndef FORGE_LUA_PURE_H
#define FORGE_LUA_PURE_H

#include <lua.h>

/* Fills the global table. May raise. */
void pure_open(lua_State *L);

/* After the last global is set: from now on an unknown global is an error, read or written. */
void pure_seal_globals(lua_State *L);

#endif
