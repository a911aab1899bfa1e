#include "lua/value.h"

#include <math.h>
#include <string.h>
#include <lauxlib.h>

#include "lua/bind.h"
#include "lua/keys.h"
#include "lua/state.h"

#define DEPTH_MAX 64
#define VALUES_MAX 1000000

struct writer {
	lua_State *L;
	struct buf *out;
	int depth;
	size_t count;
};

static void write_value(struct writer *w, int index);

/* UTF-8 as RFC 3629 has it, which is what JSON takes. */
static bool utf8_ok(const unsigned char *p, size_t n)
{
	for (size_t i = 0; i < n; ) {
		unsigned char c = p[i];
		size_t more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : (c & 0xf0) == 0xe0 ? 2 :
			c >= 0xf0 && c < 0xf5 ? 3 : 4;
		if (more == 4 || n - i <= more)
			return false;
		for (size_t k = 1; k <= more; k++)
			if ((p[i + k] & 0xc0) != 0x80)
				return false;
		unsigned char second = more ? p[i + 1] : 0;
		if ((c == 0xe0 && second < 0xa0) || (c == 0xed && second > 0x9f) ||
		    (c == 0xf0 && second < 0x90) || (c == 0xf4 && second > 0x8f))
			return false;
		i += more + 1;
	}
	return true;
}

/* How much of a text stands in JSON as it is: most are paths and names, and are so to their end. */
static size_t plain_length(const char *text, size_t len)
{
	size_t n = 0;
	while (n < len && text[n] >= 0x20 && text[n] < 0x7f && text[n] != '"' && text[n] != '\\')
		n++;
	return n;
}

static void write_string(struct writer *w, const char *text, size_t len)
{
	if (plain_length(text, len) < len) {
		if (!utf8_ok((const unsigned char *)text, len))
			bind_error(w->L, "a text that is not UTF-8 can't be written as JSON");
		json_quote((struct slice){ text, len }, w->out);
		return;
	}
	char *at = buf_grow(w->out, len + 2);
	at[0] = at[len + 1] = '"';
	memcpy(at + 1, text, len);
	at[len + 2] = '\0';
	w->out->len += len + 2;
}

static void write_number(struct writer *w, int index)
{
	if (lua_isinteger(w->L, index)) {
		buf_printf(w->out, "%lld", (long long)lua_tointeger(w->L, index));
		return;
	}
	double n = lua_tonumber(w->L, index);
	if (!isfinite(n))
		bind_error(w->L, "a number that is not finite can't be written as JSON");
	buf_printf(w->out, "%.17g", n);
}

static void write_array(struct writer *w, int index, size_t n)
{
	buf_byte(w->out, '[');
	for (size_t i = 1; i <= n; i++) {
		if (i > 1)
			buf_byte(w->out, ',');
		lua_rawgeti(w->L, index, (lua_Integer)i);
		write_value(w, lua_gettop(w->L));
		lua_pop(w->L, 1);
	}
	buf_byte(w->out, ']');
}

static void write_object(struct writer *w, int index, const struct lua_keys *keys)
{
	buf_byte(w->out, '{');
	for (size_t i = 0; i < keys->count; i++) {
		if (i > 0)
			buf_byte(w->out, ',');
		write_string(w, keys->items[i].text, keys->items[i].len);
		buf_byte(w->out, ':');
		keys_push_one(w->L, &keys->items[i]);
		lua_rawget(w->L, index);
		write_value(w, lua_gettop(w->L));
		lua_pop(w->L, 1);
	}
	buf_byte(w->out, '}');
}

static void write_table(struct writer *w, int index)
{
	if (++w->depth > DEPTH_MAX)
		bind_error(w->L, "a table nested more than %d deep can't be written as JSON", DEPTH_MAX);
	const struct lua_keys *keys = keys_push(w->L, index);
	size_t n = keys->count, items = lua_rawlen(w->L, index);
	bool array = n == 0 || !keys->items[0].text;
	if (array && (items != n || (n > 0 && keys->items[n - 1].text)))
		bind_error(w->L, "a table with holes, or with both items and named fields, can't be written as JSON");
	if (array)
		write_array(w, index, n);
	else
		write_object(w, index, keys);
	lua_pop(w->L, 1);
	w->depth--;
}

static void write_value(struct writer *w, int index)
{
	lua_State *L = w->L;
	luaL_checkstack(L, 8, NULL);
	if (++w->count > VALUES_MAX)
		bind_error(L, "more than %d values can't be written as JSON", VALUES_MAX);
	size_t len;
	const char *text;
	switch (lua_type(L, index)) {
	case LUA_TSTRING:
		text = lua_tolstring(L, index, &len);
		write_string(w, text, len);
		break;
	case LUA_TNUMBER:
		write_number(w, index);
		break;
	case LUA_TBOOLEAN:
		buf_str(w->out, lua_toboolean(L, index) ? "true" : "false");
		break;
	case LUA_TTABLE:
		write_table(w, index);
		break;
	default:
		if (!graph_is_drv(L, index))
			bind_error(L, "a %s can't be written as JSON", luaL_typename(L, index));
		text = graph_drv_text(&eval_of(L)->graph, graph_to_drv(L, index));
		write_string(w, text, strlen(text));
	}
}

void value_write(lua_State *L, int index, struct buf *out)
{
	struct writer w = { .L = L, .out = out };
	write_value(&w, lua_absindex(L, index));
}

static void push_object(lua_State *L, const struct json *j)
{
	lua_createtable(L, 0, (int)json_count(j));
	void *at = NULL;
	struct json *value;
	for (const char *key; (key = json_next(j, &at, &value)); ) {
		lua_pushstring(L, key);
		value_push(L, value);
		lua_rawset(L, -3);
	}
}

void value_push(lua_State *L, const struct json *j)
{
	luaL_checkstack(L, 4, "JSON is nested too deep");
	const char *text;
	switch (json_kind(j)) {
	case JSON_OBJ:
		push_object(L, j);
		break;
	case JSON_ARR:
		lua_createtable(L, (int)json_count(j), 0);
		for (size_t i = 0; i < json_count(j); i++) {
			value_push(L, json_at(j, i));
			lua_rawseti(L, -2, (lua_Integer)i + 1);
		}
		break;
	case JSON_STR:
		text = json_str(j);
		lua_pushstring(L, text ? text : "");
		break;
	case JSON_INT:
		lua_pushinteger(L, json_int(j, 0));
		break;
	case JSON_BOOL:
		lua_pushboolean(L, json_bool(j, false));
		break;
	case JSON_FLOAT:
		lua_pushnumber(L, json_float(j, 0));
		break;
	default:
		lua_pushnil(L);
	}
}
