/* What a recipe's tables tell `forge lint`, from Lua to C. Inside the room only. */
#ifndef FORGE_LUA_LINT_H
#define FORGE_LUA_LINT_H

#include <lua.h>

/* For vm_run: its one argument is a struct eval_lint, which it fills. Raises. */
int lint_read(lua_State *L);

#endif
