#include "lua/primitives.h"

#include <lauxlib.h>

#include "lua/derivation.h"
#include "lua/require.h"
#include "lua/shim.h"
#include "lua/source.h"
#include "lua/state.h"
#include "lua/units.h"
#include "lua/value.h"
#include "lua/world.h"

static const char answers_key, entries_key;

/* Ask the lock; the answer's place in e->answers, or -1 with e->err. */
static lua_Integer ask(struct eval *e, struct slice text)
{
	struct json *answer = NULL;
	_cleanup_json_ struct json *request = json_parse(text, SIZE_MAX, &e->err);
	if (!request)
		return -1;
	if (!e->options.locked)
		return err_set(&e->err, ERR_INPUT, "nothing is locked in this evaluation");
	if (e->options.locked(e->options.ctx, request, &answer, &e->err) < 0)
		return -1;
	*list_push(&e->answers) = answer;
	return (lua_Integer)e->answers.count - 1;
}

/* Push the table of that registry key; made when it is first needed. */
static void push_cache(lua_State *L, const void *key)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, key) != LUA_TNIL)
		return;
	lua_pop(L, 1);
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, key);
}

/* The answer to the request at index 1, which is asked once an evaluation. */
static const struct json *answer_of(lua_State *L)
{
	struct eval *e = eval_of(L);
	struct buf *text = &e->scratch2;
	buf_clear(text);
	value_write(L, 1, text);
	push_cache(L, &answers_key);
	lua_pushlstring(L, text->data, text->len);
	lua_pushvalue(L, -1);
	if (lua_rawget(L, -3) == LUA_TNIL) {
		lua_Integer at = ask(e, buf_slice(text));
		if (at < 0)
			eval_raise(e);
		lua_pop(L, 1);
		lua_pushinteger(L, at);
		lua_pushvalue(L, -2);
		lua_pushvalue(L, -2);
		lua_rawset(L, -5);
	}
	lua_Integer at = lua_tointeger(L, -1);
	lua_settop(L, 1);
	return e->answers.items[at];
}

/* Each caller gets tables of its own. */
static int locked_call(lua_State *L)
{
	value_push(L, answer_of(L));
	return 1;
}

/* An entry that several answers hold is one table. */
static int entries_call(lua_State *L)
{
	const struct json *answer = answer_of(L);
	size_t n = json_count(answer);
	push_cache(L, &entries_key);
	lua_createtable(L, (int)n, 0);
	for (size_t i = 0; i < n; i++) {
		const struct json *entry = json_at(answer, i);
		if (lua_rawgetp(L, 2, entry) == LUA_TNIL) {
			lua_pop(L, 1);
			value_push(L, entry);
			lua_pushvalue(L, -1);
			lua_rawsetp(L, 2, entry);
		}
		lua_rawseti(L, 3, (lua_Integer)i + 1);
	}
	return 1;
}

static int json_call(lua_State *L)
{
	struct eval *e = eval_of(L);
	buf_clear(&e->scratch2);
	value_write(L, 1, &e->scratch2);
	lua_pushlstring(L, e->scratch2.data, e->scratch2.len);
	return 1;
}

static int bytes_call(lua_State *L)
{
	struct eval *e = eval_of(L);
	uint64_t bytes;
	if (units_bytes(lua_tostring(L, 1), &bytes, &e->err) < 0)
		return eval_raise(e);
	lua_pushinteger(L, (lua_Integer)bytes);
	return 1;
}

static int fail_call(lua_State *L)
{
	return bind_error(L, "%s", lua_tostring(L, 1));
}

/* With the place where a function of the recipe begins, since nothing of it is running any more. */
static int fail_at_call(lua_State *L)
{
	lua_Debug ar = { 0 };
	if (lua_isfunction(L, 1)) {
		lua_pushvalue(L, 1);
		lua_getinfo(L, ">S", &ar);
	}
	if (!ar.source || ar.linedefined <= 0)
		return bind_error(L, "%s", lua_tostring(L, 2));
	lua_pushfstring(L, "%s:%d: %s", ar.source + 1, ar.linedefined, lua_tostring(L, 2));
	return lua_error(L);
}

#define NEAREST_MAX 256

static int nearest_call(lua_State *L)
{
	const char *known[NEAREST_MAX];
	size_t n = 0, all = lua_rawlen(L, 2);
	for (size_t i = 0; i < all && n < NEAREST_MAX; i++) {
		if (lua_rawgeti(L, 2, (lua_Integer)i + 1) == LUA_TSTRING)
			known[n++] = lua_tostring(L, -1); /* the list keeps it alive */
		lua_pop(L, 1);
	}
	lua_pushstring(L, str_nearest(lua_tostring(L, 1), known, n)); /* NULL: nil */
	return 1;
}

const struct bind primitives[] = {
	{ "derivation", derivation_call, { { "fields", BIND_TABLE, "see below" } }, derivation_fields,
	  "a derivation; in a text it stands for the path of its output",
	  "Describes one build" },
	{ "fetch", fetch_call, { { "entry", BIND_TABLE, "a lock entry: from, sha256, and file, path or name; from git: url, rev, narHash" } }, NULL,
	  "a derivation whose output is the file, or the folder", "Describes the download of one file, or the files of "
	  "one commit, whose hash is known" },
	{ "path", source_path_call, { { "name", BIND_STRING, "beneath the folder of the file that calls it" } }, NULL,
	  "its store path", "Takes a file or folder into the store by content" },
	{ "recipe_path", source_recipe_path_call, { { "name", BIND_STRING, "beneath the recipe's folder" } }, NULL,
	  "its store path", "As path, for the library, when a recipe gave the name" },
	{ "text", source_text_call, { { "name", BIND_STRING, "name of the file" },
	  { "content", BIND_STRING, "all of it" } }, NULL, "its store path", "Puts a small file into the store" },
	{ "locked", locked_call, { { "request", BIND_TABLE, "kind and what that kind needs" } }, NULL,
	  "the lock's answer, as a table", "Looks up what forge.lock pins" },
	{ "entries", entries_call, { { "request", BIND_TABLE, "as for locked, of a kind that is answered by a list" } }, NULL,
	  "the list; not to be changed, for the same entry is the same table in all of them", "Looks up lists, for the library" },
	{ "world", world_call, { { "world", BIND_TABLE, "as a derivation's field `world`" } }, NULL,
	  "a world that many derivations can have", "Writes a world once" },
	{ "json", json_call, { { "value", BIND_ANY, "what JSON can say" } }, NULL,
	  "compact JSON with sorted keys", "Writes a value as JSON" },
	{ "bytes", bytes_call, { { "amount", BIND_STRING | BIND_NUMBER, "\"6GiB\"" } }, NULL,
	  "the number of bytes", "Reads an amount of memory" },
	{ "fail", fail_call, { { "message", BIND_STRING, "one line" } }, NULL,
	  "nothing", "Ends the evaluation with a message that names the recipe's line" },
	{ "fail_at", fail_at_call, { { "function", BIND_ANY, "what gave a wrong value" }, { "message", BIND_STRING, "one line" } },
	  NULL, "nothing", "As fail, and names the line where the function begins" },
	{ "nearest", nearest_call, { { "name", BIND_STRING, "what was written" },
	  { "known", BIND_TABLE, "names there are" } }, NULL,
	  "the nearest of them, or nil", "Finds the name that was likely meant" },
	{ NULL, NULL, { { NULL, 0, NULL } }, NULL, NULL, NULL },
};

/* What the command line gave, as a field of the table on top of the stack. */
static void set_given(lua_State *L, const char *field, const struct json *given)
{
	if (given)
		value_push(L, given);
	else
		lua_newtable(L);
	lua_setfield(L, -2, field);
}

void primitives_push(lua_State *L)
{
	const struct eval_options *o = &eval_of(L)->options;
	world_open_lua(L);
	lua_newtable(L);
	bind_functions(L, primitives);
	set_given(L, "set", o->set);
	set_given(L, "env", o->env);
	shim_push(L);
	lua_setfield(L, -2, "shim");
}
