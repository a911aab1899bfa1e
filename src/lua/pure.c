#include "lua/pure.h"

#include <string.h>
#include <lauxlib.h>
#include <lualib.h>

#include "core/str.h"
#include "lua/keys.h"
#include "lua/pattern.h"
#include "lua/vm.h"

/* What stays of each library; anything else a newer Lua adds stays out by itself. */
static const char *const base_names[] = { "assert", "error", "getmetatable", "ipairs", "rawequal",
	"rawget", "rawlen", "rawset", "select", "tonumber", "type", NULL };
static const char *const table_names[] = { "concat", "insert", "move", "pack", "remove", "sort",
	"unpack", NULL };
static const char *const string_names[] = { "byte", "char", "format", "len", "lower", "rep",
	"reverse", "sub", "upper", NULL };
/* No random; no sin, exp, log and the like: their last bit is libm's business. */
static const char *const math_names[] = { "abs", "ceil", "floor", "fmod", "huge", "max",
	"maxinteger", "min", "mininteger", "modf", "pi", "sqrt", "tointeger", "type", "ult", NULL };
static const char *const utf8_names[] = { "char", "charpattern", "codepoint", "codes", "len",
	"offset", NULL };

/* A text for any value that is the same in every run: no addresses. */
static void push_text(lua_State *L, int index)
{
	int type = lua_type(L, index);
	bool plain = type != LUA_TTABLE && type != LUA_TFUNCTION && type != LUA_TUSERDATA &&
		type != LUA_TLIGHTUSERDATA && type != LUA_TTHREAD;
	if (plain || luaL_getmetafield(L, index, "__tostring") != LUA_TNIL) {
		if (!plain)
			lua_pop(L, 1);
		luaL_tolstring(L, index, NULL);
	} else {
		lua_pushstring(L, lua_typename(L, type));
	}
}

static int pure_tostring(lua_State *L)
{
	luaL_checkany(L, 1);
	push_text(L, 1);
	return 1;
}

static int pure_pcall(lua_State *L)
{
	luaL_checkany(L, 1);
	int status = lua_pcall(L, lua_gettop(L) - 1, LUA_MULTRET, 0);
	if (vm_of(L)->stop != VM_RUNS)
		return vm_raise_stop(L);
	lua_pushboolean(L, status == LUA_OK);
	lua_insert(L, 1);
	return lua_gettop(L);
}

static int pure_xpcall(lua_State *L)
{
	luaL_checktype(L, 2, LUA_TFUNCTION);
	lua_pushvalue(L, 1);
	lua_pushvalue(L, 2);
	lua_replace(L, 1);
	lua_replace(L, 2); /* handler, function, arguments */
	int status = lua_pcall(L, lua_gettop(L) - 2, LUA_MULTRET, 1);
	if (vm_of(L)->stop != VM_RUNS)
		return vm_raise_stop(L);
	lua_pushboolean(L, status == LUA_OK);
	lua_replace(L, 1);
	return lua_gettop(L);
}

static int pure_setmetatable(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	luaL_argexpected(L, lua_isnoneornil(L, 2) || lua_istable(L, 2), 2, "nil or table");
	if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL)
		return luaL_error(L, "cannot change a protected metatable");
	lua_settop(L, 2);
	/* A finalizer would run when the state is closed, outside every wall. */
	if (!lua_isnil(L, 2)) {
		lua_pushliteral(L, "__gc");
		if (lua_rawget(L, 2) != LUA_TNIL)
			return luaL_error(L, "a metatable with __gc is not for recipes");
		lua_pop(L, 1);
	}
	lua_setmetatable(L, 1);
	return 1;
}

/* Go on in the library's own function, kept as the upvalue, in this same call: it sees the arguments as
 * they are, and its errors name the caller's line. */
static int call_original(lua_State *L)
{
	return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

/* A table of its true length: with __len it could claim 2^53 items and keep a C loop busy for years. */
static int table_guard(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	if (luaL_getmetafield(L, 1, "__len") != LUA_TNIL)
		return luaL_error(L, "table functions don't take a table with __len");
	vm_spend(L, lua_rawlen(L, 1));
	return call_original(L);
}

static int guarded_move(lua_State *L)
{
	lua_Integer from = luaL_checkinteger(L, 2), to = luaL_checkinteger(L, 3);
	if (to >= from)
		vm_spend(L, (uint64_t)to - (uint64_t)from + 1);
	return call_original(L);
}

static int guarded_unpack(lua_State *L)
{
	vm_spend(L, 16 + (lua_istable(L, 1) ? lua_rawlen(L, 1) : 0));
	return call_original(L);
}

/* What a string function does is at most a few passes over its argument. */
static int string_guard(lua_State *L)
{
	vm_spend(L, lua_rawlen(L, 1) / 16);
	return call_original(L);
}

static int guarded_rep(lua_State *L)
{
	size_t len, sep = 0;
	luaL_checklstring(L, 1, &len);
	lua_Integer n = luaL_checkinteger(L, 2);
	luaL_optlstring(L, 3, "", &sep);
	if (len + sep == 0 || n <= 0) {
		lua_pushliteral(L, "");
		return 1;
	}
	/* What can't fit fails before it loops. */
	if ((uint64_t)n <= vm_of(L)->memory_max)
		vm_spend(L, (uint64_t)n);
	return call_original(L);
}

/* %p would show an address, and %s of a table too. */
static int guarded_format(lua_State *L)
{
	size_t len;
	const char *form = luaL_checklstring(L, 1, &len);
	for (const char *p = form; p < form + len; p++) {
		if (*p != '%')
			continue;
		p += 1 + strspn(p + 1, "-+ #0123456789.");
		if (p < form + len && *p == 'p')
			return luaL_error(L, "string.format: %%p is not for recipes");
	}
	for (int i = 2, top = lua_gettop(L); i <= top; i++)
		if (lua_type(L, i) > LUA_TSTRING || lua_type(L, i) == LUA_TLIGHTUSERDATA) {
			push_text(L, i);
			lua_replace(L, i);
		}
	vm_spend(L, len / 16);
	return call_original(L);
}

static const struct { const char *library, *name; lua_CFunction guard; } guards[] = {
	{ "table", "concat", table_guard },  { "table", "insert", table_guard },
	{ "table", "remove", table_guard },  { "table", "sort", table_guard },
	{ "table", "move", guarded_move },   { "table", "unpack", guarded_unpack },
	{ "string", "byte", string_guard },  { "string", "lower", string_guard },
	{ "string", "upper", string_guard }, { "string", "reverse", string_guard },
	{ "string", "rep", guarded_rep },    { "string", "format", guarded_format },
	{ "utf8", "len", string_guard },     { "utf8", "codepoint", string_guard },
	{ "utf8", "offset", string_guard },
};

/* A fresh table with the named fields of the one on top, which it replaces. */
static void keep_only(lua_State *L, const char *const *names)
{
	lua_newtable(L);
	for (; *names; names++) {
		lua_getfield(L, -2, *names);
		lua_setfield(L, -2, *names);
	}
	lua_remove(L, -2);
}

static void open_library(lua_State *L, const char *name, lua_CFunction open, const char *const *names)
{
	lua_pushcfunction(L, open);
	lua_pushstring(L, name);
	lua_call(L, 1, 1);
	keep_only(L, names);
	for (size_t i = 0; i < sizeof guards / sizeof *guards; i++)
		if (str_eq(guards[i].library, name)) {
			lua_getfield(L, -1, guards[i].name);
			lua_pushcclosure(L, guards[i].guard, 1);
			lua_setfield(L, -2, guards[i].name);
		}
}

/* The global table itself, so that functions of the base library that look at it agree. */
static void open_base(lua_State *L)
{
	lua_pushcfunction(L, luaopen_base);
	lua_call(L, 0, 1);
	keep_only(L, base_names);
	lua_rawgeti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
	for (lua_pushnil(L); lua_next(L, -2); ) {
		lua_pop(L, 1);
		lua_pushvalue(L, -1);
		lua_pushnil(L);
		lua_rawset(L, -4); /* clearing while walking is allowed */
	}
	for (lua_pushnil(L); lua_next(L, -3); ) {
		lua_pushvalue(L, -2);
		lua_insert(L, -2);
		lua_rawset(L, -4);
	}
	static const luaL_Reg ours[] = { { "tostring", pure_tostring }, { "pcall", pure_pcall },
		{ "xpcall", pure_xpcall }, { "setmetatable", pure_setmetatable }, { "pairs", keys_pairs },
		{ NULL, NULL } };
	luaL_setfuncs(L, ours, 0);
	lua_pop(L, 2);
}

void pure_open(lua_State *L)
{
	open_base(L);
	open_library(L, "table", luaopen_table, table_names);
	lua_setglobal(L, "table");
	open_library(L, "math", luaopen_math, math_names);
	lua_setglobal(L, "math");
	open_library(L, "utf8", luaopen_utf8, utf8_names);
	lua_setglobal(L, "utf8");
	open_library(L, "string", luaopen_string, string_names);
	pattern_open(L); /* find, match, gmatch, gsub */
	/* ("x"):rep(3) goes through the metatable of strings; recipes can't reach it to change it. */
	lua_pushliteral(L, "");
	lua_createtable(L, 0, 2);
	lua_pushvalue(L, -3);
	lua_setfield(L, -2, "__index");
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
	lua_pop(L, 1);
	lua_setglobal(L, "string");
}

static int unknown_global(lua_State *L)
{
	const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?";
	if (str_eq(name, "forge"))
		return luaL_error(L, "forge is not a global: begin with  local forge = require \"forge\"");
	const char *known[64];
	size_t n = 0;
	const struct lua_keys *keys = keys_push(L, 1);
	for (size_t i = 0; i < keys->count && n < 64; i++)
		if (keys->items[i].text)
			known[n++] = keys->items[i].text;
	const char *near = str_nearest(name, known, n);
	if (near)
		return luaL_error(L, "there is no '%s' in a recipe (did you mean '%s'?)", name, near);
	return luaL_error(L, "there is no '%s' in a recipe", name);
}

static int new_global(lua_State *L)
{
	return luaL_error(L, "'%s' would be a global variable: write local before it",
		lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "?");
}

void pure_seal_globals(lua_State *L)
{
	static const luaL_Reg seal[] = { { "__index", unknown_global }, { "__newindex", new_global },
		{ NULL, NULL } };
	lua_pushglobaltable(L);
	luaL_newlib(L, seal);
	lua_pushboolean(L, 0);
	lua_setfield(L, -2, "__metatable");
	lua_setmetatable(L, -2);
	lua_pop(L, 1);
}
