#include "lua/world.h"

#include <string.h>
#include <lauxlib.h>

#include "lua/state.h"
#include "lua/value.h"

static const char metatable_key;

void world_open_lua(lua_State *L)
{
	lua_createtable(L, 0, 1);
	lua_pushliteral(L, "world");
	lua_setfield(L, -2, "__metatable");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &metatable_key);
}

const struct world_value *world_at(lua_State *L, int index)
{
	if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index))
		return NULL;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
	bool is = lua_rawequal(L, -1, -2);
	lua_pop(L, 2);
	return is ? lua_touserdata(L, index) : NULL;
}

int world_call(lua_State *L)
{
	struct eval *e = eval_of(L);
	struct buf *text = &e->scratch2;
	buf_clear(text);
	value_write(L, 1, text);
	struct world_value *w = lua_newuserdatauv(L, sizeof *w, 0);
	*w = (struct world_value){ .text = arena_dup_n(&e->graph.arena, text->data, text->len) };
	if (graph_used_of(&e->graph, text->data, text->len, &w->used, &e->err) < 0) {
		err_add(&e->err, "world");
		return eval_raise(e);
	}
	lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
	lua_setmetatable(L, -2);
	return 1;
}
