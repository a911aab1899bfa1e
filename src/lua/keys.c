#include "lua/keys.h"

#include <stdlib.h>
#include <string.h>
#include <lauxlib.h>

#include "lua/vm.h"

static int compare_numbers(const struct lua_key *a, const struct lua_key *b)
{
	if (a->is_integer && b->is_integer)
		return (a->integer > b->integer) - (a->integer < b->integer);
	return (a->number > b->number) - (a->number < b->number);
}

static int compare(const void *pa, const void *pb)
{
	const struct lua_key *a = pa, *b = pb;
	if (!a->text || !b->text)
		return a->text ? 1 : b->text ? -1 : compare_numbers(a, b);
	int order = memcmp(a->text, b->text, a->len < b->len ? a->len : b->len);
	return order ? order : (a->len > b->len) - (a->len < b->len);
}

#define FEW 16 /* as most tables have: then qsort's own work is the larger part */

static void sort(struct lua_key *items, size_t n)
{
	if (n > FEW) {
		qsort(items, n, sizeof *items, compare);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct lua_key one = items[i];
		size_t k = i;
		for (; k > 0 && compare(&items[k - 1], &one) > 0; k--)
			items[k] = items[k - 1];
		items[k] = one;
	}
}

static size_t count_keys(lua_State *L, int index)
{
	size_t n = 0;
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
		n++;
	return n;
}

static void read_key(lua_State *L, int index, struct lua_key *key)
{
	switch (lua_type(L, index)) {
	case LUA_TSTRING:
		key->text = lua_tolstring(L, index, &key->len);
		return;
	case LUA_TNUMBER:
		key->number = lua_tonumber(L, index);
		key->is_integer = lua_isinteger(L, index);
		key->integer = lua_tointeger(L, index);
		return;
	default:
		luaL_error(L, "a table with a %s as a key has no order: use numbers and strings",
			luaL_typename(L, index));
	}
}

struct lua_keys *keys_push(lua_State *L, int index)
{
	index = lua_absindex(L, index);
	luaL_checkstack(L, 4, NULL);
	size_t n = count_keys(L, index), i = 0;
	vm_spend(L, n);
	struct lua_keys *keys = lua_newuserdatauv(L, sizeof *keys + n * sizeof keys->items[0], 0);
	memset(keys, 0, sizeof *keys + n * sizeof keys->items[0]);
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1))
		read_key(L, -2, &keys->items[i++]);
	keys->count = n;
	sort(keys->items, n);
	return keys;
}

void keys_push_one(lua_State *L, const struct lua_key *key)
{
	if (key->text)
		lua_pushlstring(L, key->text, key->len);
	else if (key->is_integer)
		lua_pushinteger(L, key->integer);
	else
		lua_pushnumber(L, key->number);
}

/* Upvalues: the keys, how many were given out. */
static int pairs_next(lua_State *L)
{
	const struct lua_keys *keys = lua_touserdata(L, lua_upvalueindex(1));
	size_t i = (size_t)lua_tointeger(L, lua_upvalueindex(2));
	luaL_checktype(L, 1, LUA_TTABLE);
	for (; i < keys->count; i++) {
		lua_settop(L, 1);
		keys_push_one(L, &keys->items[i]);
		lua_pushvalue(L, -1);
		if (lua_rawget(L, 1) == LUA_TNIL)
			continue;
		lua_pushinteger(L, (lua_Integer)i + 1);
		lua_replace(L, lua_upvalueindex(2));
		return 2;
	}
	lua_pushinteger(L, (lua_Integer)i);
	lua_replace(L, lua_upvalueindex(2));
	lua_pushnil(L);
	return 1;
}

int keys_pairs(lua_State *L)
{
	luaL_checktype(L, 1, LUA_TTABLE);
	keys_push(L, 1);
	lua_pushinteger(L, 0);
	lua_pushcclosure(L, pairs_next, 2);
	lua_pushvalue(L, 1);
	lua_pushnil(L);
	return 3;
}
