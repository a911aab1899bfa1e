/* The primitives that make derivations: forge.derivation and forge.fetch. */
#ifndef FORGE_LUA_DERIVATION_H
#define FORGE_LUA_DERIVATION_H

#include <lua.h>
#include "lua/bind.h"

extern const struct bind_field derivation_fields[];
int derivation_call(lua_State *L); /* forge.derivation{…} */
int fetch_call(lua_State *L);      /* forge.fetch(entry) */

#endif
