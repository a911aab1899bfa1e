/* The making of one derivation by a primitive. Everything it holds is in the graph's arena. Inside the room only. */
#ifndef FORGE_LUA_MAKING_H
#define FORGE_LUA_MAKING_H

#include "lua/state.h"

struct making {
	lua_State *L;
	struct eval *e;
	struct drv *d;
	const char *name; /* for messages */
	uint32_t fields;  /* that were given, as bits */
};

void making_begin(struct making *m, lua_State *L);
/* A copy of the text; `what` it is, for the error where it holds a NUL byte. */
const char *making_keep(struct making *m, const char *text, size_t len, const char *what);
/* Add to env, for which there is room; key and value live in the arena. */
void making_env(struct making *m, const char *key, const char *value);
/* Into the graph; pushes the derivation.  The number of results, for Lua. */
int making_end(struct making *m, const struct eval_drv *ceilings);

#endif
