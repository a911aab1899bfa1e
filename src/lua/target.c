#include "lua/target.h"

#include <lauxlib.h>

#include "lua/bind.h"
#include "lua/state.h"
#include "lua/value.h"

#define TARGETS_MAX 10000

static const char targets_key, profile_key, lint_key;

static const struct bind_field target_fields[] = {
	{ "name", BIND_STRING, "the variant's short name" },
	{ "recipe", BIND_STRING, "the package" },
	{ "version", BIND_STRING, "its version" },
	{ "label", BIND_STRING | BIND_NIL, "the version a user sees" },
	{ "axes", BIND_TABLE, "the variant's axes" },
	{ "stable_abi", BIND_TABLE | BIND_NIL, "axes of which the wheel serves later values too" },
	{ "tell", BIND_ANY | BIND_NIL, "function: its label, and why it is not built" },
	{ "derive", BIND_ANY, "function: its derivations" },
	{ NULL, 0, NULL },
};

static const struct bind_field told_fields[] = {
	{ "label", BIND_STRING, "the version a user sees" },
	{ "excluded", BIND_STRING | BIND_NIL, "why it is not built" },
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

/* NULL where the field is nil. */
static struct json *field_json(lua_State *L, struct eval *e, const char *field)
{
	struct json *value = NULL;
	if (lua_getfield(L, -1, field) != LUA_TNIL) {
		buf_clear(&e->scratch2);
		value_write(L, lua_gettop(L), &e->scratch2);
		value = json_parse(buf_slice(&e->scratch2), SIZE_MAX, &e->err);
		if (!value)
			eval_raise(e);
	}
	lua_pop(L, 1);
	return value;
}

static struct json *field_axes(lua_State *L, struct eval *e)
{
	struct json *axes = field_json(L, e, "axes");
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
	struct eval_target *t = &e->targets[e->target_count];
	*t = (struct eval_target){
		.name = field_text(L, e, "name"),
		.recipe = field_text(L, e, "recipe"),
		.version = field_text(L, e, "version"),
		.label = field_text(L, e, "label"),
	};
	t->told = lua_getfield(L, -1, "tell") == LUA_TNIL;
	lua_pop(L, 1);
	e->target_count++; /* from here on what it owns is freed with the evaluation */
	t->axes = field_axes(L, e);
	t->stable_abi = field_json(L, e, "stable_abi");
}

static void collect_bare(lua_State *L, struct eval *e)
{
	const struct graph_node *node = e->graph.drvs.items[graph_to_drv(L, -1)];
	e->targets = arena_alloc(&e->arena, sizeof *e->targets);
	e->targets[0] = (struct eval_target){ .name = "", .recipe = node->drv.drv->name,
		.axes = json_new_obj(), .told = true };
	e->target_count = 1;
	lua_rawsetp(L, LUA_REGISTRYINDEX, &targets_key);
}

static int wrong_result(lua_State *L, int index, const struct eval *e)
{
	int type = lua_type(L, index);
	return luaL_error(L, "%s: a recipe returns a derivation or what forge.wheel gives, not %s%s", e->recipe,
		type == LUA_TNIL ? "nothing" : type == LUA_TTABLE ? "such a table" : "a ",
		type == LUA_TNIL || type == LUA_TTABLE ? "" : lua_typename(L, type));
}

/* The names of the profiles of the table at index; its functions are kept. */
static void collect_profiles(lua_State *L, int index, struct eval *e)
{
	if (lua_getfield(L, index, "profiles") == LUA_TTABLE) {
		size_t n = lua_rawlen(L, -1);
		for (size_t i = 0; i < n; i++) {
			if (lua_rawgeti(L, -1, (lua_Integer)i + 1) != LUA_TSTRING)
				luaL_error(L, "%s: the name of a profile is a %s", e->recipe, luaL_typename(L, -1));
			str_list_add(&e->profiles, lua_tostring(L, -1));
			lua_pop(L, 1);
		}
	}
	lua_pop(L, 1);
	str_list_sort(&e->profiles);
	lua_getfield(L, index, "profile");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &profile_key);
	lua_getfield(L, index, "lint");
	lua_rawsetp(L, LUA_REGISTRYINDEX, &lint_key);
}

bool target_is_recipe(lua_State *L, int index)
{
	if (graph_is_drv(L, index) || !lua_istable(L, index))
		return graph_is_drv(L, index);
	bool has = lua_getfield(L, index, "targets") == LUA_TTABLE;
	lua_pop(L, 1);
	return has;
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
	collect_profiles(L, result, e);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &targets_key);
}

/* Push target i's table, and the function of that field. */
static void push_function(lua_State *L, size_t i, const char *field)
{
	lua_rawgetp(L, LUA_REGISTRYINDEX, &targets_key);
	lua_rawgeti(L, -1, (lua_Integer)i + 1);
	lua_getfield(L, -1, field);
	if (!lua_isfunction(L, -1))
		luaL_error(L, "%s: the target's %s is a %s, not a function", eval_of(L)->recipe, field, luaL_typename(L, -1));
}

void target_tell(lua_State *L, size_t i)
{
	struct eval *e = eval_of(L);
	push_function(L, i, "tell");
	lua_call(L, 0, 1);
	luaL_checktype(L, -1, LUA_TTABLE);
	bind_check_fields(L, lua_gettop(L), "tell", told_fields);
	e->targets[i].label = field_text(L, e, "label");
	e->targets[i].excluded = field_text(L, e, "excluded");
	e->targets[i].told = true;
}

void target_profile(lua_State *L, const char *name, bool *marked)
{
	struct eval *e = eval_of(L);
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &profile_key) != LUA_TFUNCTION)
		luaL_error(L, "%s: the recipe has no profiles", e->recipe);
	lua_pushstring(L, name);
	lua_call(L, 1, 1);
	luaL_checktype(L, -1, LUA_TTABLE);
	size_t n = lua_rawlen(L, -1);
	for (size_t k = 0; k < n; k++) {
		lua_rawgeti(L, -1, (lua_Integer)k + 1);
		lua_Integer i = lua_tointeger(L, -1);
		if (i < 1 || (size_t)i > e->target_count)
			luaL_error(L, "%s: profile %s names no target", e->recipe, name);
		marked[i - 1] = true;
		lua_pop(L, 1);
	}
}

bool target_lint(lua_State *L)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &lint_key) != LUA_TFUNCTION)
		return false;
	lua_call(L, 0, 1);
	luaL_checktype(L, -1, LUA_TTABLE);
	return true;
}

/* Push what a recipe that returned a derivation gives: the one result "out". */
static void push_bare(lua_State *L)
{
	lua_createtable(L, 1, 0);
	lua_createtable(L, 0, 2);
	lua_pushliteral(L, "out");
	lua_setfield(L, -2, "role");
	lua_rawgetp(L, LUA_REGISTRYINDEX, &targets_key);
	lua_setfield(L, -2, "drv");
	lua_rawseti(L, -2, 1);
}

bool target_derive(lua_State *L, size_t i)
{
	struct eval *e = eval_of(L);
	lua_rawgetp(L, LUA_REGISTRYINDEX, &targets_key);
	if (graph_is_drv(L, -1)) {
		push_bare(L);
		return true;
	}
	push_function(L, i, "derive");
	lua_call(L, 0, 1);
	if (!lua_istable(L, -1))
		luaL_error(L, "%s: the target's derive gave a %s, not a list", e->recipe, luaL_typename(L, -1));
	e->targets[i].impossible = field_text(L, e, "impossible");
	return !e->targets[i].impossible;
}
