/*
 * A world that many derivations share: its JSON and what that uses, found once.  In Lua a userdata, which a
 * derivation takes for its `world` as it takes a table.
 */
#ifndef FORGE_LUA_WORLD_H
#define FORGE_LUA_WORLD_H

#include <lua.h>
#include "lua/graph.h"

struct world_value {
	const char *text;        /* in the graph's arena, as is what `used` points to */
	struct graph_used used;
};

/* The binding: world(table). */
int world_call(lua_State *L);

/* The world at index; NULL if it is none. */
const struct world_value *world_at(lua_State *L, int index);

void world_open_lua(lua_State *L);

#endif
