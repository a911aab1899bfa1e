/* Between Lua values and JSON. */
#ifndef FORGE_LUA_VALUE_H
#define FORGE_LUA_VALUE_H

#include <lua.h>
#include "core/buf.h"
#include "core/json.h"

/*
 * Append the value at index as compact JSON with keys sorted bytewise, as json_write would.  A table
 * with a first item is an array, one with string keys an object, an empty one an array.  A derivation
 * is its output's path.  Raises (out is the caller's to keep across that) for what JSON can't say:
 * a mixed table, holes, functions, NaN, text that is not UTF-8, 64 levels, a million values.
 */
void value_write(lua_State *L, int index, struct buf *out);

/* Push j as a Lua value: objects and arrays are tables, null is nil. */
void value_push(lua_State *L, const struct json *j);

#endif
