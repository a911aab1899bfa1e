/* All that one evaluation holds. Inside the room only. */
#ifndef FORGE_LUA_STATE_H
#define FORGE_LUA_STATE_H

#include "core/arena.h"
#include "core/buf.h"
#include "core/err.h"
#include "core/list.h"
#include "core/str.h"
#include "lua/eval.h"
#include "lua/graph.h"
#include "lua/vm.h"

/* Where a file of Lua stands: names its chunk and what forge.path is relative to. */
enum place { PLACE_RECIPE, PLACE_LIB };

struct eval {
	struct vm vm;             /* first: the state's extra space points here */
	struct eval_options options;
	char *lib;                /* physical folders, owned */
	char *folder;
	char *recipe;             /* the recipe's file name in its folder, owned */
	char *given;              /* the recipe as the person named it, owned */
	int lib_fd, folder_fd;
	struct graph graph;
	struct arena arena;       /* targets and results */
	struct eval_target *targets;
	size_t target_count;
	struct str_list profiles; /* names */
	struct str_list modules;  /* files of the recipe's folder that it loaded and that are no recipes */
	/* Bindings keep what they hold here, not on their stack: a raised error jumps over cleanups. */
	uint32_t fields;          /* which fields the checked table of this call has: see bind_check_fields */
	struct buf scratch;
	struct buf scratch2;
	struct err err;
	LIST(struct json *) answers; /* of the lock, owned */
};

struct eval *eval_of(lua_State *L);

/* Raise e->err as a Lua error, with the place in the recipe before it. */
int eval_raise(struct eval *e);

#endif
