/* The keys of a table in an order that does not depend on where they lie in memory. */
#ifndef FORGE_LUA_KEYS_H
#define FORGE_LUA_KEYS_H

#include <stdbool.h>
#include <lua.h>

struct lua_key {
	const char *text; /* NULL: a number */
	size_t len;
	lua_Number number; /* what numbers are sorted by; integers above 2^53 fall back to `integer` */
	lua_Integer integer;
	bool is_integer;
};

struct lua_keys {
	size_t count;
	struct lua_key items[];
};

/* Pushes a userdata with the keys of the table at index: numbers first, then strings bytewise.  Raises
 * for a key that is neither.  Texts are lent by the table's keys (nothing is ever collected). */
struct lua_keys *keys_push(lua_State *L, int index);
void keys_push_one(lua_State *L, const struct lua_key *key);

/* `pairs`: in the order above, over the keys there were at the start, without those that are gone. */
int keys_pairs(lua_State *L);

#endif
