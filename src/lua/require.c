#include "lua/require.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <lauxlib.h>
#include <sys/stat.h>

#include "core/fs.h"
#include "lua/target.h"

#define FILE_MAX (4u << 20)
#define NAME_MAX_LEN 128

static const char loaded_key, loading_mark;

/* Chunks of lib/ are named "lib/x.lua", those of the recipe's folder "./x.lua" or, for the recipe
 * itself, its file name: no host folder can be seen from inside, not even in a caught error. */
static enum place place_of(const char *source)
{
	return str_starts(source, "@lib/") ? PLACE_LIB : PLACE_RECIPE;
}

const char *require_caller(lua_State *L, bool outside_lib, int *line, enum place *place)
{
	lua_Debug ar;
	for (int level = 0; lua_getstack(L, level, &ar); level++) {
		lua_getinfo(L, "Sl", &ar);
		if (ar.currentline <= 0 || (outside_lib && place_of(ar.source) == PLACE_LIB))
			continue;
		if (line)
			*line = ar.currentline;
		if (place)
			*place = place_of(ar.source);
		return ar.source + 1; /* lent by the function's prototype */
	}
	return NULL;
}

/* Letters, digits, "_" and "-" in parts with dots between them. */
static bool name_ok(const char *name, size_t len)
{
	if (len == 0 || len > NAME_MAX_LEN || strlen(name) != len)
		return false;
	for (size_t i = 0; i < len; i++) {
		char c = name[i];
		bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
			c == '_' || c == '-';
		if (!word && (c != '.' || i == 0 || i == len - 1 || name[i - 1] == '.'))
			return false;
	}
	return true;
}

/*
 * A variable with <close> in scope makes Lua keep the frame of `return forge.wheel {…}`, a tail call
 * otherwise; so an error from inside the call still finds the recipe's line.  nil is closed by doing nothing.
 */
#define KEEP_FRAME "local __frame <close> = nil; "

/* Into e->scratch: 1 if it was read, 0 if there is no such file, -1 with e->err. */
static int slurp(struct eval *e, enum place place, const char *file)
{
	int folder = place == PLACE_LIB ? e->lib_fd : e->folder_fd;
	_cleanup_close_ int fd = fs_open_beneath(folder, file, O_RDONLY | O_NONBLOCK, 0, &e->err);
	if (fd < 0) {
		if (e->err.sys != ENOENT && e->err.sys != ENOTDIR)
			return -1;
		err_clear(&e->err);
		return 0;
	}
	struct stat st;
	if (fstat(fd, &st) < 0)
		return err_sys(&e->err, "%s", file);
	if (!S_ISREG(st.st_mode))
		return err_set(&e->err, ERR_INPUT, "%s: it is not a file", file);
	buf_clear(&e->scratch);
	if (place == PLACE_RECIPE)
		buf_str(&e->scratch, KEEP_FRAME);
	size_t before = e->scratch.len;
	if (fs_slurp(fd, FILE_MAX, &e->scratch, &e->err) < 0)
		return err_add(&e->err, "%s", file);
	if (e->scratch.len > before && e->scratch.data[before] == LUA_SIGNATURE[0])
		return err_set(&e->err, ERR_INPUT, "%s: this is compiled Lua; only its text is read", file);
	return 1;
}

static void compile(lua_State *L, struct eval *e, enum place place, const char *file)
{
	const char *chunk = place == PLACE_LIB ? lua_pushfstring(L, "@lib/%s", file)
		: str_eq(file, e->recipe) ? lua_pushfstring(L, "@%s", file)
		: lua_pushfstring(L, "@./%s", file);
	if (luaL_loadbufferx(L, e->scratch.data ? e->scratch.data : "", e->scratch.len, chunk, "t") != LUA_OK)
		lua_error(L);
	lua_remove(L, -2);
}

void require_load(lua_State *L, enum place place, const char *file)
{
	struct eval *e = eval_of(L);
	int rc = slurp(e, place, file);
	if (rc == 0)
		err_set(&e->err, ERR_INPUT, "%s: no such file", file);
	if (rc <= 0)
		eval_raise(e);
	compile(L, e, place, file);
}

/* Push the chunk of a module, from the first place that has it; the file, if that is the recipe's folder, else NULL: lent
 * by the stack. */
static const char *find(lua_State *L, const char *name)
{
	struct eval *e = eval_of(L);
	luaL_gsub(L, name, ".", "/");
	const char *file = lua_pushfstring(L, "%s.lua", lua_tostring(L, -1));
	static const enum place order[] = { PLACE_LIB, PLACE_RECIPE };
	for (size_t i = 0; i < 2; i++) {
		int rc = slurp(e, order[i], file);
		if (rc < 0)
			eval_raise(e);
		if (rc > 0) {
			compile(L, e, order[i], file);
			return order[i] == PLACE_RECIPE ? file : NULL;
		}
	}
	luaL_error(L, "require: there is no '%s': neither lib/%s nor %s beside the recipe", name, file, file);
	return NULL;
}

/* Push the table of what was loaded. */
static void push_loaded(lua_State *L)
{
	if (lua_rawgetp(L, LUA_REGISTRYINDEX, &loaded_key) != LUA_TNIL)
		return;
	lua_pop(L, 1);
	lua_newtable(L);
	lua_pushvalue(L, -1);
	lua_rawsetp(L, LUA_REGISTRYINDEX, &loaded_key);
}

void require_preload(lua_State *L, const char *name, void (*push)(lua_State *L))
{
	push_loaded(L);
	push(L);
	lua_setfield(L, -2, name);
	lua_pop(L, 1);
}

int require_call(lua_State *L)
{
	size_t len;
	const char *name = luaL_checklstring(L, 1, &len);
	lua_settop(L, 1);
	if (!name_ok(name, len))
		return luaL_error(L, "require: '%s' is not a module name (letters, digits, _ and -, with dots between)",
			name);
	push_loaded(L);
	if (lua_getfield(L, 2, name) == LUA_TLIGHTUSERDATA) /* the mark below */
		return luaL_error(L, "require: '%s' is required while it is being loaded (a circle)", name);
	if (!lua_isnil(L, -1))
		return 1;
	const char *file = find(L, name);
	lua_pushlightuserdata(L, (void *)(uintptr_t)&loading_mark);
	lua_setfield(L, 2, name);
	lua_pushvalue(L, 1);
	lua_call(L, 1, 1);
	if (file && !target_is_recipe(L, -1))
		str_list_add(&eval_of(L)->modules, file);
	if (lua_isnil(L, -1)) {
		lua_pop(L, 1);
		lua_pushboolean(L, 1);
	}
	lua_pushvalue(L, -1);
	lua_setfield(L, 2, name);
	return 1;
}
