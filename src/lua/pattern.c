#include "lua/pattern.h"

#include <stdbool.h>
#include <string.h>
#include <lauxlib.h>

#include "lua/match.h"
#include "lua/vm.h"

static void begin(struct match *m, lua_State *L, const char *subject, size_t len, const char *pattern_end)
{
	m->L = L;
	m->start = subject;
	m->end = subject + len;
	m->pattern_end = pattern_end;
	m->steps = 0;
}

static const char *try_at(struct match *m, const char *s, const char *pattern)
{
	m->count = 0;
	m->depth = 0;
	return match_here(m, s, pattern);
}

/* The optional start: 1 is the first byte, negative counts from the end. */
static size_t start_offset(lua_Integer init, size_t len)
{
	if (init > 0)
		return (size_t)init - 1;
	if (init == 0 || init < -(lua_Integer)len)
		return 0;
	return len - (size_t)-init;
}

static int push_found(lua_State *L, const char *subject, const char *s, const char *e)
{
	lua_pushinteger(L, s - subject + 1);
	lua_pushinteger(L, e - subject);
	return 2;
}

static int find_plain(lua_State *L, const char *subject, size_t len, size_t from,
	const char *what, size_t what_len)
{
	/* memmem is linear in glibc. */
	vm_spend(L, (len - from) / 16);
	const char *at = memmem(subject + from, len - from, what, what_len);
	if (at)
		return push_found(L, subject, at, at + what_len);
	luaL_pushfail(L);
	return 1;
}

static int find_or_match(lua_State *L, bool find)
{
	size_t len, pattern_len;
	const char *subject = luaL_checklstring(L, 1, &len);
	const char *pattern = luaL_checklstring(L, 2, &pattern_len);
	size_t from = start_offset(luaL_optinteger(L, 3, 1), len);
	if (from > len) {
		luaL_pushfail(L);
		return 1;
	}
	bool special = false;
	for (size_t i = 0; i < pattern_len && !special; i++)
		special = strchr("^$*+?.([%-", pattern[i]) != NULL && pattern[i] != '\0';
	if (find && (!special || lua_toboolean(L, 4)))
		return find_plain(L, subject, len, from, pattern, pattern_len);
	struct match m;
	begin(&m, L, subject, len, pattern + pattern_len);
	bool anchored = pattern_len > 0 && *pattern == '^';
	for (const char *s = subject + from; s <= m.end; s++) {
		const char *e = try_at(&m, s, pattern + anchored);
		if (e && find)
			return push_found(L, subject, s, e) + (m.count ? match_push_captures(&m, s, e) : 0);
		if (e)
			return match_push_captures(&m, s, e);
		if (anchored)
			break;
	}
	luaL_pushfail(L);
	return 1;
}

static int pattern_find(lua_State *L)
{
	return find_or_match(L, true);
}

static int pattern_match(lua_State *L)
{
	return find_or_match(L, false);
}

/* Upvalues: subject, pattern, offset to go on from, end of the last match (an empty one may not stand there). */
static int gmatch_next(lua_State *L)
{
	size_t len, pattern_len;
	const char *subject = lua_tolstring(L, lua_upvalueindex(1), &len);
	const char *pattern = lua_tolstring(L, lua_upvalueindex(2), &pattern_len);
	lua_Integer from = lua_tointeger(L, lua_upvalueindex(3)), last = lua_tointeger(L, lua_upvalueindex(4));
	struct match m;
	begin(&m, L, subject, len, pattern + pattern_len);
	for (const char *s = subject + from; s <= m.end; s++) {
		const char *e = try_at(&m, s, pattern);
		if (!e || e - subject == last)
			continue;
		lua_pushinteger(L, e - subject);
		lua_copy(L, -1, lua_upvalueindex(3));
		lua_replace(L, lua_upvalueindex(4));
		return match_push_captures(&m, s, e);
	}
	lua_pushinteger(L, (lua_Integer)len + 1);
	lua_replace(L, lua_upvalueindex(3));
	return 0;
}

static int pattern_gmatch(lua_State *L)
{
	size_t len;
	luaL_checklstring(L, 1, &len);
	luaL_checkstring(L, 2);
	size_t from = start_offset(luaL_optinteger(L, 3, 1), len);
	lua_settop(L, 2);
	lua_pushinteger(L, (lua_Integer)(from > len ? len + 1 : from));
	lua_pushinteger(L, -1);
	lua_pushcclosure(L, gmatch_next, 4);
	return 1;
}

/* "%1" and the like in a replacement text; argument 3 on the stack. */
static void add_text(struct match *m, luaL_Buffer *b, const char *s, const char *e)
{
	lua_State *L = m->L;
	size_t len;
	const char *text = lua_tolstring(L, 3, &len);
	for (const char *p = text; p < text + len; p++) {
		if (*p != '%') {
			luaL_addchar(b, *p);
			continue;
		}
		p++;
		if (p < text + len && *p == '%') {
			luaL_addchar(b, '%');
		} else if (p < text + len && *p == '0') {
			luaL_addlstring(b, s, (size_t)(e - s));
		} else if (p < text + len && *p >= '1' && *p <= '9') {
			match_push_capture(m, *p - '1', s, e);
			luaL_addvalue(b);
		} else {
			luaL_error(L, "invalid use of '%%' in replacement string");
		}
	}
}

/* What the match from s to e is replaced by. */
static void add_replacement(struct match *m, luaL_Buffer *b, const char *s, const char *e)
{
	lua_State *L = m->L;
	switch (lua_type(L, 3)) {
	case LUA_TFUNCTION:
		lua_pushvalue(L, 3);
		lua_call(L, match_push_captures(m, s, e), 1);
		break;
	case LUA_TTABLE:
		match_push_capture(m, 0, s, e);
		lua_gettable(L, 3);
		break;
	default:
		add_text(m, b, s, e);
		return;
	}
	if (!lua_toboolean(L, -1)) {
		lua_pop(L, 1);
		luaL_addlstring(b, s, (size_t)(e - s));
	} else if (!lua_isstring(L, -1)) {
		luaL_error(L, "invalid replacement value (a %s)", luaL_typename(L, -1));
	} else {
		luaL_addvalue(b);
	}
}

static int pattern_gsub(lua_State *L)
{
	size_t len, pattern_len;
	const char *subject = luaL_checklstring(L, 1, &len);
	const char *pattern = luaL_checklstring(L, 2, &pattern_len);
	int type = lua_type(L, 3);
	luaL_argexpected(L, type == LUA_TNUMBER || type == LUA_TSTRING || type == LUA_TFUNCTION ||
		type == LUA_TTABLE, 3, "string/function/table");
	lua_Integer most = luaL_optinteger(L, 4, (lua_Integer)len + 1), done = 0;
	bool anchored = pattern_len > 0 && *pattern == '^';
	struct match m;
	luaL_Buffer b;
	begin(&m, L, subject, len, pattern + pattern_len);
	luaL_buffinit(L, &b);
	const char *s = subject, *last = NULL;
	while (done < most) {
		const char *e = try_at(&m, s, pattern + anchored);
		if (e && e != last) {
			done++;
			add_replacement(&m, &b, s, e);
			s = last = e;
		} else if (s < m.end) {
			luaL_addchar(&b, *s++);
		} else {
			break;
		}
		if (anchored)
			break;
	}
	luaL_addlstring(&b, s, (size_t)(m.end - s));
	luaL_pushresult(&b);
	lua_pushinteger(L, done);
	return 2;
}

void pattern_open(lua_State *L)
{
	static const luaL_Reg functions[] = { { "find", pattern_find }, { "match", pattern_match },
		{ "gmatch", pattern_gmatch }, { "gsub", pattern_gsub }, { NULL, NULL } };
	luaL_setfuncs(L, functions, 0);
}
