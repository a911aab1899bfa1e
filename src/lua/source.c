#include "lua/source.h"

#include <string.h>
#include <lauxlib.h>

#include "core/fs.h"
#include "core/mem.h"
#include "lua/bind.h"
#include "lua/nar_of.h"
#include "lua/require.h"
#include "lua/state.h"

/* Relative, beneath its folder, each part a name: the kernel checks again when it is opened. */
static bool name_ok(const char *name, size_t len)
{
	if (len == 0 || len > 1024 || strlen(name) != len || name[0] == '/')
		return false;
	struct slice rest = { name, len }, part;
	while (rest.n > 0) {
		bool more = slice_cut(rest, '/', &part, &rest);
		if (part.n == 0 || slice_is(part, "..") || (more && rest.n == 0))
			return false;
	}
	return true;
}

/* The same file is asked for by each variant: hash it once an evaluation. */
static const char cache_key;

static bool push_cached(lua_State *L, enum place place, const char *name)
{
	lua_pushfstring(L, "%s:%s", place == PLACE_LIB ? "lib" : "recipe", name);
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &cache_key) == LUA_TNIL) {
		lua_pop(L, 1);
		lua_newtable(L);
		lua_pushvalue(L, -1);
		lua_rawsetp(L, LUA_REGISTRYINDEX, &cache_key);
	}
	lua_pushvalue(L, -2);
	if (lua_rawget(L, -2) != LUA_TNIL)
		return true;
	lua_pop(L, 1); /* the key and the cache stay for the caller */
	return false;
}

static int add_path(struct eval *e, enum place place, const char *name, const char **path)
{
	struct hash hash;
	int folder = place == PLACE_LIB ? e->lib_fd : e->folder_fd;
	if (nar_of_path(folder, name, &hash, &e->err) < 0)
		return -1;
	const char *slash = strrchr(name, '/');
	_cleanup_free_ char *from = fs_join(place == PLACE_LIB ? e->lib : e->folder, name);
	return graph_add_source(&e->graph, slash ? slash + 1 : name, &hash, from, (struct slice){0}, path,
		&e->err);
}

static int take_path(lua_State *L, enum place place)
{
	struct eval *e = eval_of(L);
	size_t len;
	const char *name = lua_tolstring(L, 1, &len), *path;
	if (!name_ok(name, len))
		return bind_error(L, "forge.path \"%s\": a name beneath the recipe's folder is wanted, "
			"without .. and not absolute", name);
	if (push_cached(L, place, name))
		return 1;
	if (add_path(e, place, name, &path) < 0) {
		err_add(&e->err, "forge.path \"%s\"", name);
		return eval_raise(e);
	}
	lua_insert(L, -2); /* cache, key */
	lua_pushstring(L, path);
	lua_pushvalue(L, -1);
	lua_insert(L, -4);
	lua_rawset(L, -3);
	lua_pop(L, 1);
	return 1;
}

int source_path_call(lua_State *L)
{
	enum place place = PLACE_RECIPE;
	require_caller(L, false, NULL, &place);
	return take_path(L, place);
}

int source_recipe_path_call(lua_State *L)
{
	return take_path(L, PLACE_RECIPE);
}

int source_text_call(lua_State *L)
{
	struct eval *e = eval_of(L);
	const char *name = lua_tostring(L, 1), *path;
	struct slice text;
	struct hash hash;
	text.p = lua_tolstring(L, 2, &text.n);
	/* The object's path would have to carry what it refers to; env and world can name these. */
	if (graph_names_any(&e->graph, text.p, text.n))
		return bind_error(L, "forge.text \"%s\": the text names an object of the store: "
			"hand that to the build through env instead", name);
	if (nar_of_text(text, &hash, &e->err) < 0 ||
	    graph_add_source(&e->graph, name, &hash, NULL, text, &path, &e->err) < 0) {
		err_add(&e->err, "forge.text \"%s\"", name);
		return eval_raise(e);
	}
	lua_pushstring(L, path);
	return 1;
}
