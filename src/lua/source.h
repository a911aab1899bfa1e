/* forge.path and forge.text: files and folders a recipe takes in by content. */
#ifndef FORGE_LUA_SOURCE_H
#define FORGE_LUA_SOURCE_H

#include <lua.h>

int source_path_call(lua_State *L);        /* path(name): relative to the file that calls it */
int source_recipe_path_call(lua_State *L); /* recipe_path(name): relative to the recipe, for lib/ */
int source_text_call(lua_State *L);        /* text(name, content) */

#endif
