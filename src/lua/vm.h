/*
 * The machine recipes run in: one Lua 5.4 state with walls around it.  Inside
 * the room only.
 *
 * Walls.  Memory: every byte the state holds is counted in its allocator, and
 * the collector is off: an evaluation is short, what it makes it keeps, and
 * nothing about a collection (weak tables, finalizers) can be seen.  Steps: a
 * count hook adds up VM instructions, and C functions that loop add their own
 * work (vm_spend).  CPU time: looked at by the same hook, against the rare
 * instruction that is dear (comparing two strings of 100 MB).
 * Once a wall is hit the state is `stopped`: the allocator gives nothing more,
 * the hook fires at every instruction, and pcall hands the stop on, so nothing
 * a recipe does swallows it.
 */
#ifndef FORGE_LUA_VM_H
#define FORGE_LUA_VM_H

#include <stdbool.h>
#include <stdint.h>
#include <lauxlib.h>
#include <lua.h>
#include "core/err.h"
#include "lua/pool.h"

enum vm_stop { VM_RUNS, VM_NO_MEMORY, VM_NO_STEPS, VM_NO_TIME };

struct vm {
	lua_State *L;
	struct pool pool;
	uint64_t memory, memory_max; /* bytes */
	uint64_t steps, steps_max;
	int64_t cpu_ms_max;          /* of this thread, from its first instruction on */
	int64_t cpu_start;
	enum vm_stop stop;
	char where[256];             /* "lib/wheel.lua:12" where it stopped, "" if unknown */
	/* The last error of ours that was raised: its text, the state's, and its code, which a text can't carry. */
	const char *raised;
	enum err_code code;
};

#define VM_MEMORY_DEFAULT (256u << 20)
#define VM_STEPS_DEFAULT 500000000u /* some seconds; the largest recipes take a few million */
#define VM_CPU_MS_DEFAULT 60000

/* Zero limits mean the defaults.  *vm must stay where it is until vm_close. */
int vm_open(struct vm *vm, uint64_t memory, uint64_t steps, struct err *err);
void vm_close(struct vm *vm);

/* Call fn(L) with ctx as its only argument, a light userdata; whatever it raises comes back as an error
 * of one line: ERR_INPUT, or ERR_HASH where that was its cause.  fn's results are dropped. */
int vm_run(struct vm *vm, lua_CFunction fn, void *ctx, struct err *err);

/* The machine of a state. */
struct vm *vm_of(lua_State *L);

/* Count work that a C function is about to do; raises when the budget is spent. */
void vm_spend(lua_State *L, uint64_t steps);

/* Raise the stop again, without allocating.  Only when vm->stop is set. */
int vm_raise_stop(lua_State *L);

#endif
