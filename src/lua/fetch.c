/* forge.fetch(entry): the derivation that fetches what an entry of the lock names. */
#include <string.h>
#include <lauxlib.h>

#include "lua/derivation.h"
#include "lua/making.h"
#include "lua/value.h"

/* A file name as a store name: what a name may not hold becomes "-". */
static const char *store_name(struct making *m, const char *file)
{
	const char *slash = strrchr(file, '/');
	char *name = arena_dup(&m->e->graph.arena, slash ? slash + 1 : file);
	for (char *p = name; *p; p++)
		if (store_name_check((struct slice){ p, 1 }, NULL) < 0 && *p != '.')
			*p = '-';
	return name[0] == '.' ? arena_printf(&m->e->graph.arena, "file%s", name) : name;
}

/* Of an entry, what the fetcher does not need: the lists that `forge lock` read from an sdist. */
static bool is_needless(lua_State *L, int key, int value)
{
	return lua_type(L, value) == LUA_TTABLE && lua_type(L, key) == LUA_TSTRING &&
		!str_eq(lua_tostring(L, key), "urls") && !str_eq(lua_tostring(L, key), "submodules");
}

/* Push the entry without it; most have none. */
static void push_needed(lua_State *L)
{
	bool needless = false;
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
		needless = needless || is_needless(L, -2, -1);
	if (!needless) {
		lua_pushvalue(L, 1);
		return;
	}
	lua_newtable(L);
	for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1))
		if (!is_needless(L, -2, -1)) {
			lua_pushvalue(L, -2);
			lua_pushvalue(L, -2);
			lua_rawset(L, -5);
		}
}

static void write_entry(struct making *m)
{
	push_needed(m->L);
	buf_clear(&m->e->scratch2);
	value_write(m->L, lua_gettop(m->L), &m->e->scratch2);
	lua_pop(m->L, 1);
}

static const char *entry_text(struct making *m, const char *field)
{
	lua_getfield(m->L, 1, field);
	const char *text = lua_type(m->L, -1) == LUA_TSTRING ? lua_tostring(m->L, -1) : NULL;
	lua_pop(m->L, 1); /* the entry keeps it alive */
	return text;
}

/* The one output, of a fixed hash: the file's bytes, or a folder's NAR form. */
static void fix_output(struct making *m, enum drv_method method, const char *hash)
{
	m->d->outputs = arena_alloc(&m->e->graph.arena, sizeof *m->d->outputs);
	m->d->output_count = 1;
	m->d->outputs[0] = (struct drv_output){ .name = "out", .kind = DRV_OUT_FIXED, .method = method };
	if (hash_parse(slice_of(hash), &m->d->outputs[0].hash, &m->e->err) < 0) {
		err_add(&m->e->err, "fetch %s", m->name);
		eval_raise(m->e);
	}
}

static int finish_fetch(struct making *m, const char *builder)
{
	m->d->system = "builtin";
	m->d->builder = builder;
	m->d->env = arena_alloc(&m->e->graph.arena, 3 * sizeof *m->d->env);
	write_entry(m);
	making_env(m, "entry", making_keep(m, m->e->scratch2.data, m->e->scratch2.len, "entry"));
	making_env(m, "name", m->name);
	making_env(m, "out", "");
	const struct eval_drv ceilings = { .what = "fetch" };
	return making_end(m, &ceilings);
}

/* "https://h/a/cutlass.git" and a commit are "cutlass-<12 digits of it>". */
static const char *git_name(struct making *m, const char *url, const char *rev)
{
	size_t n = strlen(url);
	while (n > 0 && url[n - 1] == '/')
		n--;
	if (n > 4 && strncmp(url + n - 4, ".git", 4) == 0)
		n -= 4;
	return store_name(m, arena_printf(&m->e->graph.arena, "%.*s-%.12s", (int)n, url, rev));
}

static int fetch_git(struct making *m)
{
	const char *url = entry_text(m, "url"), *rev = entry_text(m, "rev"), *hash = entry_text(m, "narHash");
	if (!url || !rev || !hash)
		return bind_error(m->L, "fetch: not a lock entry from git: it needs url, rev and narHash");
	m->d->name = m->name = git_name(m, url, rev);
	fix_output(m, DRV_NAR, hash);
	return finish_fetch(m, "builtin:fetch-git");
}

int fetch_call(lua_State *L)
{
	struct making m;
	making_begin(&m, L);
	const char *file = entry_text(&m, "file"), *sha256 = entry_text(&m, "sha256");
	if (str_eq(entry_text(&m, "from"), "git"))
		return fetch_git(&m);
	if (!file)
		file = entry_text(&m, "path");
	if (!file)
		file = entry_text(&m, "name");
	if (!file || !sha256 || !entry_text(&m, "from"))
		return bind_error(L, "fetch: not a lock entry: it needs from, sha256 and file, path or name");
	m.d->name = m.name = store_name(&m, file);
	fix_output(&m, DRV_FLAT, sha256);
	return finish_fetch(&m, "builtin:fetch");
}
