/* The userdata that stands for a derivation in a recipe: see graph.h. */
#include <string.h>
#include <lauxlib.h>

#include "lua/bind.h"
#include "lua/state.h"

struct drv_value {
	size_t index; /* in the graph; nothing to free */
};

static const char metatable_key;

void graph_push_drv(lua_State *L, size_t index)
{
	struct drv_value *v = lua_newuserdatauv(L, sizeof *v, 0);
	v->index = index;
	lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
	lua_setmetatable(L, -2);
}

bool graph_is_drv(lua_State *L, int index)
{
	if (lua_type(L, index) != LUA_TUSERDATA || !lua_getmetatable(L, index))
		return false;
	bool is = lua_topointer(L, -1) == eval_of(L)->graph.metatable;
	lua_pop(L, 1);
	return is;
}

size_t graph_to_drv(lua_State *L, int index)
{
	const struct drv_value *v = lua_touserdata(L, index);
	return v->index;
}

static int drv_tostring(lua_State *L)
{
	if (!graph_is_drv(L, 1))
		return luaL_error(L, "not a derivation");
	lua_pushstring(L, graph_drv_text(&eval_of(L)->graph, graph_to_drv(L, 1)));
	return 1;
}

static int drv_concat(lua_State *L)
{
	for (int i = 1; i <= 2; i++) {
		if (!graph_is_drv(L, i) && !lua_isstring(L, i))
			return luaL_error(L, "attempt to join a derivation and a %s", luaL_typename(L, i));
		if (lua_type(L, i) == LUA_TUSERDATA) {
			lua_pushstring(L, graph_drv_text(&eval_of(L)->graph, graph_to_drv(L, i)));
			lua_replace(L, i);
		}
	}
	lua_concat(L, 2);
	return 1;
}

static int drv_eq(lua_State *L)
{
	lua_pushboolean(L, graph_is_drv(L, 1) && graph_is_drv(L, 2) &&
		graph_to_drv(L, 1) == graph_to_drv(L, 2));
	return 1;
}

/* d.name, and d.<output>: the path of that output. */
static int drv_index(lua_State *L)
{
	if (!graph_is_drv(L, 1) || lua_type(L, 2) != LUA_TSTRING)
		return luaL_error(L, "a derivation has no such field");
	const struct graph_node *node = eval_of(L)->graph.drvs.items[graph_to_drv(L, 1)];
	const struct drv *d = node->drv.drv;
	const char *field = lua_tostring(L, 2);
	if (str_eq(field, "name")) {
		lua_pushstring(L, d->name);
		return 1;
	}
	for (size_t i = 0; i < d->output_count; i++)
		if (str_eq(field, d->outputs[i].name)) {
			lua_pushstring(L, node->texts[i]);
			return 1;
		}
	return bind_error(L, "the derivation %s has no output '%s'", d->name, field);
}

void graph_open_lua(lua_State *L)
{
	static const luaL_Reg methods[] = { { "__tostring", drv_tostring }, { "__concat", drv_concat },
		{ "__eq", drv_eq }, { "__index", drv_index }, { NULL, NULL } };
	luaL_newlib(L, methods);
	lua_pushliteral(L, "derivation");
	lua_setfield(L, -2, "__metatable");
	eval_of(L)->graph.metatable = lua_topointer(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &metatable_key);
}
