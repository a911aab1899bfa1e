#include "lua/lint.h"

#include <lauxlib.h>

#include "lua/state.h"
#include "lua/target.h"
#include "lua/value.h"

void eval_lint_free(struct eval_lint *l)
{
	json_free(l->told);
	list_free(&l->drvs);
	str_list_free(&l->paths);
	*l = (struct eval_lint){ 0 };
}

/* Take the list `sources` out of the table on top of the stack: derivations and store paths. */
static void take_sources(lua_State *L, struct eval_lint *out)
{
	lua_getfield(L, -1, "sources");
	luaL_checktype(L, -1, LUA_TTABLE);
	size_t n = lua_rawlen(L, -1);
	for (size_t i = 0; i < n; i++) {
		lua_rawgeti(L, -1, (lua_Integer)i + 1);
		if (graph_is_drv(L, -1))
			*list_push(&out->drvs) = graph_to_drv(L, -1);
		else
			str_list_add(&out->paths, luaL_checkstring(L, -1));
		lua_pop(L, 1);
	}
	lua_pop(L, 1);
	lua_pushnil(L);
	lua_setfield(L, -2, "sources");
}

int lint_read(lua_State *L)
{
	struct eval_lint *out = lua_touserdata(L, 1);
	struct eval *e = eval_of(L);
	if (!target_lint(L))
		return 0;
	take_sources(L, out);
	buf_clear(&e->scratch2);
	value_write(L, lua_gettop(L), &e->scratch2);
	out->told = json_parse((struct slice){ e->scratch2.data, e->scratch2.len }, SIZE_MAX, &e->err);
	return out->told ? 0 : eval_raise(e);
}
