#include "lua/target.h"

#include <lauxlib.h>

#include "lua/bind.h"
#include "lua/state.h"
#include "lua/value.h"

#define TARGETS_MAX 10000

static const char derive_key;

static const struct bind_field target_fields[] = {
	{ "name", BIND_STRING, "the variant's short name" },
	{ "recipe", BIND_STRING, "the package" },
	{ "version", BIND_STRING, "its version" },
	{ "label", BIND_STRING, "the version a user sees" },
	{ "axes", BIND_TABLE, "the variant's axes" },
	{ "is_default", BIND_BOOL | BIND_NIL, "is it what is built when nothing is chosen" },
	{ "excluded", BIND_STRING | BIND_NIL, "why it is not built" },
	{ "derive", BIND_ANY, "function: its derivations" },
	{ NULL, 0, NULL },
};

static const char *field_text(lua_State *L, struct eval *e, const char *field)
{
	size_t len;
	lua_getfield(L, -1, field);
	const char *text = lua_tolstring(L, -1, &len);
	if (text)
		text = arena_dup_n(&e->arena, text, len);
	lua_pop(L, 1);
	return text;
}

static struct json *field_axes(lua_State *L, struct eval *e)
{
	lua_getfield(L, -1, "axes");
	buf_clear(&e->scratch2);
	value_write(L, lua_gettop(L), &e->scratch2);
	lua_pop(L, 1);
	struct json *axes = json_parse((struct slice){ e->scratch2.data, e->scratch2.len }, SIZE_MAX, &e->err);
	if (!axes)
		eval_raise(e);
	if (json_kind(axes) == JSON_OBJ)
		return axes;
	json_free(axes); /* an empty table reads as an empty list */
	return json_new_obj();
}

/* The target on top of the stack. */
static void read_target(lua_State *L, struct eval *e)
{
	luaL_checktype(L, -1, LUA_TTABLE);
	bind_check_fields(L, lua_gettop(L), "target", target_fields);
	struct eval_target t = {
		.name = field_text(L, e, "name"),
		.recipe = field_text(L, e, "recipe"),
		.version = field_text(L, e, "version"),
		.label = field_text(L, e, "label"),
		.excluded = field_text(L, e, "excluded"),
	};
	lua_getfield(L, -1, "is_default");
	t.is_default = lua_toboolean(L, -1);
	lua_pop(L, 1);
	t.axes = field_axes(L, e);
	e->targets[e->target_count++] = t;
}

static void collect_bare(lua_State *L, struct eval *e)
{
	const struct graph_node *node = e->graph.drvs.items[graph_to_drv(L, -1)];
	e->targets = arena_alloc(&e->arena, sizeof *e->targets);
	e->targets[0] = (struct eval_target){ .name = "", .recipe = node->drv.drv->name,
		.axes = json_new_obj(), .is_default = true };
	e->target_count = 1;
	lua_rawsetp(L, LUA_REGISTRYINDEX, &derive_key);
}

static int wrong_result(lua_State *L, int index, const struct eval *e)
{
	int type = lua_type(L, index);
	return luaL_error(L, "%s: a recipe returns a derivation or what forge.wheel gives, not %s%s", e->recipe,
		type == LUA_TNIL ? "nothing" : type == LUA_TTABLE ? "such a table" : "a ",
		type == LUA_TNIL || type == LUA_TTABLE ? "" : lua_typename(L, type));
}

void target_collect(lua_State *L)
{
	struct eval *e = eval_of(L);
	if (graph_is_drv(L, -1)) {
		collect_bare(L, e);
		return;
	}
	int result = lua_gettop(L);
	if (!lua_istable(L, result) || lua_getfield(L, result, "targets") != LUA_TTABLE)
		wrong_result(L, result, e);
	size_t n = lua_rawlen(L, -1);
	if (n == 0 || n > TARGETS_MAX)
		luaL_error(L, "%s: %d variants: a recipe has 1 to %d", e->recipe, (int)n, TARGETS_MAX);
	e->targets = arena_alloc(&e->arena, n * sizeof *e->targets);
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		read_target(L, e);
		lua_pop(L, 1);
	}
	lua_rawsetp(L, LUA_REGISTRYINDEX, &derive_key);
}

void target_derive(lua_State *L, size_t i)
{
	struct eval *e = eval_of(L);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &derive_key);
	if (graph_is_drv(L, -1)) {
		lua_createtable(L, 1, 0);
		lua_createtable(L, 0, 2);
		lua_pushliteral(L, "out");
		lua_setfield(L, -2, "role");
		lua_pushvalue(L, -3);
		lua_setfield(L, -2, "drv");
		lua_rawseti(L, -2, 1);
		return;
	}
	lua_rawgeti(L, -1, (lua_Integer)i + 1);
	lua_getfield(L, -1, "derive");
	if (!lua_isfunction(L, -1))
		luaL_error(L, "%s: the target's derive is a %s, not a function", e->recipe, luaL_typename(L, -1));
	lua_call(L, 0, 1);
	if (!lua_istable(L, -1))
		luaL_error(L, "%s: the target's derive gave a %s, not a list", e->recipe, luaL_typename(L, -1));
}
