/* `shim` of forge.primitives: the C sources of the program that stands in for a world's compilers. */
#ifndef FORGE_LUA_SHIM_H
#define FORGE_LUA_SHIM_H

#include <lua.h>

/* Push a table: file name to text, all of src/shim. forge carries them, so that the shim in a world speaks the
 * protocol of the forge that evaluated it, and the derivation names source, which any world's compiler takes. */
void shim_push(lua_State *L);

#endif
