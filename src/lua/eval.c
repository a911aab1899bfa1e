#include "lua/eval.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/fs.h"
#include "core/mem.h"
#include "lua/lint.h"
#include "lua/primitives.h"
#include "lua/pure.h"
#include "lua/require.h"
#include "lua/state.h"
#include "lua/target.h"

struct eval *eval_of(lua_State *L)
{
	return (struct eval *)vm_of(L);
}

static int set_up(lua_State *L)
{
	pure_open(L);
	lua_pushcfunction(L, require_call);
	lua_setglobal(L, "require");
	pure_seal_globals(L);
	graph_open_lua(L);
	require_preload(L, "forge.primitives", primitives_push);
	return 0;
}

static int run_recipe(lua_State *L)
{
	require_load(L, PLACE_RECIPE, eval_of(L)->recipe);
	lua_call(L, 0, 1);
	target_collect(L);
	return 0;
}

/* Does the message begin with a file in that folder: "lib/", "./"? */
static bool placed_in(const char *msg, const char *folder)
{
	return str_starts(msg, folder) && msg[strcspn(msg, ": ")] == ':';
}

/*
 * "x.lua:3: …" becomes "recipes/x.lua:3: …", as the person named it (inside, no folder can be seen), and
 * so does "./helper.lua:3: …"; what has no place of its own gets the recipe's name.
 */
static int add_folder(const struct eval *e, struct err *err)
{
	const char *msg = err ? err->msg : NULL;
	size_t n = strlen(e->recipe);
	int folder = (int)(strlen(e->given) - n);
	if (!msg || placed_in(msg, "lib/"))
		return -1;
	char *placed = NULL;
	if (strncmp(msg, e->recipe, n) == 0 && msg[n] == ':')
		placed = mem_printf("%.*s%s", folder, e->given, msg);
	else if (placed_in(msg, "./"))
		placed = mem_printf("%.*s%s", folder, e->given, folder ? msg + 2 : msg);
	else
		placed = mem_printf("%s: %s", e->given, msg);
	free(err->msg);
	err->msg = placed;
	return -1;
}

static int open_places(struct eval *e, const char *recipe, struct err *err)
{
	const char *slash = strrchr(recipe, '/');
	_cleanup_free_ char *folder = slash ? mem_dup_n(recipe, (size_t)(slash - recipe) + 1) : mem_dup(".");
	struct stat st;
	e->recipe = mem_dup(slash ? slash + 1 : recipe);
	e->given = mem_dup(recipe);
	if (stat(recipe, &st) < 0)
		return err_sys(err, "%s", recipe);
	if (S_ISDIR(st.st_mode))
		return err_set(err, ERR_USAGE, "%s is a folder, not a recipe", recipe);
	e->folder = fs_real(folder, err);
	if (!e->folder)
		return -1;
	e->folder_fd = fs_open_dir(e->folder, err);
	if (e->folder_fd < 0)
		return -1;
	e->lib = fs_real(e->options.lib, err);
	if (!e->lib || (e->lib_fd = fs_open_dir(e->lib, err)) < 0)
		return err_add(err, "forge's Lua library");
	return 0;
}

struct eval *eval_open(const char *recipe, const struct eval_options *o, struct err *err)
{
	struct eval *e = mem_alloc(sizeof *e);
	e->options = *o;
	e->lib_fd = e->folder_fd = -1;
	if (open_places(e, recipe, err) < 0 || vm_open(&e->vm, o->memory, o->instructions, err) < 0 ||
	    vm_run(&e->vm, set_up, NULL, err) < 0 ||
	    (vm_run(&e->vm, run_recipe, NULL, err) < 0 && add_folder(e, err) < 0)) {
		eval_close(e);
		return NULL;
	}
	return e;
}

void eval_close(struct eval *e)
{
	if (!e)
		return;
	vm_close(&e->vm);
	for (size_t i = 0; i < e->target_count; i++) {
		json_free(e->targets[i].axes);
		json_free(e->targets[i].stable_abi);
	}
	str_list_free(&e->profiles);
	str_list_free(&e->modules);
	for (size_t i = 0; i < e->answers.count; i++)
		json_free(e->answers.items[i]);
	list_free(&e->answers);
	graph_free(&e->graph);
	arena_free(&e->arena);
	buf_free(&e->scratch);
	buf_free(&e->scratch2);
	err_clear(&e->err);
	fs_close_ptr(&e->lib_fd);
	fs_close_ptr(&e->folder_fd);
	free(e->lib);
	free(e->folder);
	free(e->recipe);
	free(e->given);
	free(e);
}

size_t eval_target_count(const struct eval *e)
{
	return e->target_count;
}

const struct eval_target *eval_target(const struct eval *e, size_t i)
{
	return &e->targets[i];
}

/* Which of several variants it was that failed. */
static int add_variant(const struct eval *e, size_t target, struct err *err)
{
	const char *name = e->targets[target].name;
	if (err && err->msg && e->target_count > 1 && *name) {
		char *msg = mem_printf("%s (variant %s)", err->msg, name);
		free(err->msg);
		err->msg = msg;
	}
	return add_folder(e, err);
}

static int tell(lua_State *L)
{
	target_tell(L, *(const size_t *)lua_touserdata(L, 1));
	return 0;
}

int eval_tell(struct eval *e, size_t target, struct err *err)
{
	if (e->targets[target].told)
		return 0;
	return vm_run(&e->vm, tell, &target, err) < 0 ? add_variant(e, target, err) : 0;
}

int eval_default(struct eval *e, size_t *target, struct err *err)
{
	for (*target = 0; *target < e->target_count; ++*target) {
		if (eval_tell(e, *target, err) < 0)
			return -1;
		if (!e->targets[*target].excluded)
			break;
	}
	return 0;
}

void eval_profiles(const struct eval *e, struct str_list *names)
{
	for (size_t i = 0; i < e->profiles.count; i++)
		str_list_add(names, e->profiles.items[i]);
}

void eval_files(const struct eval *e, struct str_list *files)
{
	str_list_add(files, e->recipe);
	for (size_t i = 0; i < e->modules.count; i++)
		str_list_add(files, e->modules.items[i]);
}

struct marking {
	const char *name;
	bool *marked;
};

static int mark_profile(lua_State *L)
{
	const struct marking *m = lua_touserdata(L, 1);
	target_profile(L, m->name, m->marked);
	return 0;
}

int eval_profile(struct eval *e, const char *name, bool *marked, struct err *err)
{
	struct marking m = { name, marked };
	return vm_run(&e->vm, mark_profile, &m, err) < 0 ? add_folder(e, err) : 0;
}

struct deriving {
	size_t target;
	struct eval_result *results;
	size_t count;
};

static int derive(lua_State *L)
{
	struct deriving *d = lua_touserdata(L, 1);
	struct eval *e = eval_of(L);
	if (!target_derive(L, d->target))
		return 0;
	size_t n = lua_rawlen(L, -1);
	d->results = arena_alloc(&e->arena, (n + 1) * sizeof *d->results);
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		if (!lua_istable(L, -1) || lua_getfield(L, -1, "role") != LUA_TSTRING)
			return luaL_error(L, "%s: derive gave no list of {role=, drv=}", e->recipe);
		const char *role = arena_dup(&e->arena, lua_tostring(L, -1));
		lua_pop(L, 1);
		lua_getfield(L, -1, "drv");
		if (!graph_is_drv(L, -1))
			return luaL_error(L, "%s: what derive gave as %s is no derivation", e->recipe, role);
		d->results[d->count++] = (struct eval_result){ role, graph_to_drv(L, -1) };
		lua_pop(L, 2);
	}
	return 0;
}

int eval_derive(struct eval *e, size_t target, const struct eval_result **results, size_t *count,
	struct err *err)
{
	struct deriving d = { .target = target };
	if (vm_run(&e->vm, derive, &d, err) < 0)
		return add_variant(e, target, err);
	*results = d.results;
	*count = d.count;
	return 0;
}

int eval_lint(struct eval *e, struct eval_lint *out, struct err *err)
{
	return vm_run(&e->vm, lint_read, out, err) < 0 ? add_folder(e, err) : 0;
}

size_t eval_drv_count(const struct eval *e)
{
	return e->graph.drvs.count;
}

const struct eval_drv *eval_drv(const struct eval *e, size_t i)
{
	return &e->graph.drvs.items[i]->drv;
}

size_t eval_source_count(const struct eval *e)
{
	return e->graph.sources.count;
}

const struct eval_source *eval_source(const struct eval *e, size_t i)
{
	return &e->graph.sources.items[i]->source;
}
