#include "lua/bind.h"

#include <stdarg.h>
#include <string.h>
#include <lauxlib.h>

#include "core/str.h"
#include "lua/keys.h"
#include "lua/require.h"
#include "lua/state.h"
#include "lua/world.h"

#define FIELDS_MAX 32

static const struct { unsigned bit; const char *name; } type_names[] = {
	{ BIND_STRING, "a string" }, { BIND_NUMBER, "a number" }, { BIND_BOOL, "true or false" },
	{ BIND_TABLE, "a table" }, { BIND_DRV, "a derivation" }, { BIND_ANY, "any value" },
	{ BIND_WORLD, "a world" },
};

void bind_type_names(unsigned types, struct buf *out)
{
	const char *between = "";
	for (size_t i = 0; i < sizeof type_names / sizeof *type_names; i++)
		if (types & type_names[i].bit) {
			buf_printf(out, "%s%s", between, type_names[i].name);
			between = " or ";
		}
}

/* "flash-attn.lua:7: message"; "flash-attn.lua: message" where none of the recipe's lines is running. */
static int raise_placed(struct eval *e)
{
	lua_State *L = e->vm.L;
	int line;
	const char *file = require_caller(L, true, &line, NULL);
	if (file)
		lua_pushfstring(L, "%s:%d: %s", file, line, e->err.msg);
	else if (str_starts(e->err.msg, e->recipe)) /* the recipe itself can't be read */
		lua_pushstring(L, e->err.msg);
	else
		lua_pushfstring(L, "%s: %s", e->recipe, e->err.msg);
	e->vm.raised = lua_tostring(L, -1);
	e->vm.code = e->err.code;
	err_clear(&e->err);
	return lua_error(L);
}

int eval_raise(struct eval *e)
{
	return raise_placed(e);
}

int bind_error(lua_State *L, const char *fmt, ...)
{
	struct eval *e = eval_of(L);
	va_list ap;
	va_start(ap, fmt);
	buf_clear(&e->scratch);
	buf_vprintf(&e->scratch, fmt, ap);
	va_end(ap);
	err_set(&e->err, ERR_INPUT, "%s", e->scratch.data);
	return raise_placed(e);
}

static unsigned type_of(lua_State *L, int index)
{
	switch (lua_type(L, index)) {
	case LUA_TNONE:
	case LUA_TNIL: return BIND_NIL;
	case LUA_TSTRING: return BIND_STRING;
	case LUA_TNUMBER: return BIND_NUMBER;
	case LUA_TBOOLEAN: return BIND_BOOL;
	case LUA_TTABLE: return BIND_TABLE;
	case LUA_TUSERDATA: return graph_is_drv(L, index) ? BIND_DRV : world_at(L, index) ? BIND_WORLD : 0;
	default: return 0;
	}
}

static bool fits(lua_State *L, int index, unsigned types)
{
	unsigned type = type_of(L, index);
	return types & type || (types & BIND_ANY && type != BIND_NIL);
}

/* The value at index must be of one of the types; what names it in the message. */
static void check_type(lua_State *L, int index, const char *function, const struct bind_field *field)
{
	if (fits(L, index, field->types))
		return;
	unsigned type = type_of(L, index);
	struct eval *e = eval_of(L);
	buf_clear(&e->scratch);
	bind_type_names(field->types, &e->scratch);
	if (type == BIND_NIL)
		err_set(&e->err, ERR_INPUT, "%s: '%s' is missing (%s)", function, field->name, e->scratch.data);
	else
		err_set(&e->err, ERR_INPUT, "%s: '%s' must be %s, not a %s", function, field->name,
			e->scratch.data, luaL_typename(L, index));
	raise_placed(e);
}

static void unknown_field(lua_State *L, const char *what, const struct bind_field *fields)
{
	if (lua_type(L, -1) != LUA_TSTRING)
		bind_error(L, "%s: a %s as a field name", what, luaL_typename(L, -1));
	const char *name = lua_tostring(L, -1), *known[FIELDS_MAX];
	size_t n = 0;
	for (; n < FIELDS_MAX && fields[n].name; n++)
		known[n] = fields[n].name;
	const char *near = str_nearest(name, known, n);
	if (near)
		bind_error(L, "%s: there is no field '%s' (did you mean '%s'?)", what, name, near);
	bind_error(L, "%s: there is no field '%s'", what, name);
}

/* Raise for the first field, in a stable order, that is not known. */
static void check_known(lua_State *L, int index, const char *what, const struct bind_field *fields)
{
	const struct lua_keys *keys = keys_push(L, index);
	for (size_t i = 0; i < keys->count; i++) {
		const struct bind_field *f = fields;
		while (f->name && !(keys->items[i].text && str_eq(f->name, keys->items[i].text)))
			f++;
		if (f->name)
			continue;
		keys_push_one(L, &keys->items[i]);
		unknown_field(L, what, fields);
	}
	lua_pop(L, 1);
}

/* Raise for what is wrong with the table, the same in every run. */
static void report_fields(lua_State *L, int index, const char *what, const struct bind_field *fields)
{
	for (const struct bind_field *f = fields; f->name; f++) {
		lua_pushstring(L, f->name);
		if (lua_rawget(L, index) == LUA_TNIL && !(f->types & BIND_NIL))
			check_known(L, index, what, fields); /* a name that is misspelt says more than one that is missing */
		check_type(L, lua_gettop(L), what, f);
		lua_pop(L, 1);
	}
	check_known(L, index, what, fields);
}

/* The field's place in fields, or -1. */
static int place_of_field(const char *name, const struct bind_field *fields)
{
	for (int i = 0; fields[i].name; i++)
		if (strcmp(fields[i].name, name) == 0)
			return i;
	return -1;
}

uint32_t bind_check_fields(lua_State *L, int index, const char *what, const struct bind_field *fields)
{
	uint32_t there = 0;
	bool well = true;
	/* In one pass, in whatever order; an error is then looked for in an order that is always the same. */
	for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
		int i = lua_type(L, -2) == LUA_TSTRING ? place_of_field(lua_tostring(L, -2), fields) : -1;
		well = well && i >= 0 && fits(L, lua_gettop(L), fields[i].types);
		there |= i >= 0 ? (uint32_t)1 << i : 0;
	}
	for (int i = 0; fields[i].name; i++)
		well = well && (there >> i & 1 || fields[i].types & BIND_NIL);
	if (!well)
		report_fields(L, index, what, fields);
	return there;
}

/* What Lua calls; the upvalue is the declaration. */
static int checked_call(lua_State *L)
{
	const struct bind *b = lua_touserdata(L, lua_upvalueindex(1));
	int n = 0;
	for (; n < 4 && b->args[n].name; n++) {
		check_type(L, n + 1, b->name, &b->args[n]);
		if (b->fields && b->args[n].types == BIND_TABLE)
			eval_of(L)->fields = bind_check_fields(L, n + 1, b->name, b->fields);
	}
	if (lua_gettop(L) > n)
		bind_error(L, "%s takes %d argument%s, not %d", b->name, n, n == 1 ? "" : "s", lua_gettop(L));
	lua_settop(L, n);
	return b->fn(L);
}

void bind_functions(lua_State *L, const struct bind *list)
{
	for (const struct bind *b = list; b->name; b++) {
		lua_pushlightuserdata(L, (void *)(uintptr_t)b);
		lua_pushcclosure(L, checked_call, 1);
		lua_setfield(L, -2, b->name);
	}
}

static void manual_field(const struct bind_field *f, struct buf *out)
{
	buf_printf(out, "| `%s` | ", f->name);
	bind_type_names(f->types, out);
	buf_printf(out, "%s | %s |\n", f->types & BIND_NIL ? ", or nothing" : "", f->doc);
}

void bind_manual(const struct bind *list, struct buf *out)
{
	for (const struct bind *b = list; b->name; b++) {
		buf_printf(out, "## %s\n%s. Gives %s.\n\n| argument | type | meaning |\n|---|---|---|\n", b->name,
			b->doc, b->result);
		for (int i = 0; i < 4 && b->args[i].name; i++)
			manual_field(&b->args[i], out);
		if (b->fields)
			buf_str(out, "\n| field | type | meaning |\n|---|---|---|\n");
		for (const struct bind_field *f = b->fields; f && f->name; f++)
			manual_field(f, out);
		buf_byte(out, '\n');
	}
}
