#include "lua/vm.h"

#include <string.h>
#include <time.h>

/* Instructions between two looks at the limits: a few microseconds of work. */
#define HOOK_EVERY 1000

/* What a stop raises: its address says all, and pushing it needs no memory. */
static const char stop_mark;

static int64_t cpu_now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

struct vm *vm_of(lua_State *L)
{
	return *(struct vm **)lua_getextraspace(L);
}

/* Only reads call records, so it is safe even from inside the allocator. */
static void note_where(struct vm *vm)
{
	lua_Debug ar;
	for (int level = 0; vm->L && lua_getstack(vm->L, level, &ar); level++)
		if (lua_getinfo(vm->L, "Sl", &ar) && ar.currentline > 0) {
			snprintf(vm->where, sizeof vm->where, "%.200s:%d", ar.short_src, ar.currentline);
			return;
		}
}

static void stop(struct vm *vm, enum vm_stop why)
{
	if (vm->stop != VM_RUNS)
		return;
	vm->stop = why;
	note_where(vm);
}

/* lua_Alloc.  After a stop nothing grows any more, not even to report: raising needs no memory. */
static void *vm_alloc(void *ctx, void *ptr, size_t old, size_t size)
{
	struct vm *vm = ctx;
	if (!ptr)
		old = 0; /* then it tells the kind of object */
	if (size == 0) {
		pool_give_back(&vm->pool, ptr, old);
		vm->memory -= old;
		return NULL;
	}
	if (size > old) {
		if (size - old > vm->memory_max - vm->memory)
			stop(vm, VM_NO_MEMORY);
		if (vm->stop != VM_RUNS)
			return NULL;
	}
	vm->memory += size - old;
	return ptr ? pool_resize(&vm->pool, ptr, old, size) : pool_alloc(&vm->pool, size);
}

int vm_raise_stop(lua_State *L)
{
	lua_pushlightuserdata(L, (void *)(uintptr_t)&stop_mark);
	return lua_error(L);
}

static void look_at_limits(lua_State *L, lua_Debug *ar)
{
	struct vm *vm = vm_of(L);
	if (vm->stop == VM_RUNS) {
		vm->steps += HOOK_EVERY;
		if (vm->steps > vm->steps_max)
			stop(vm, VM_NO_STEPS);
		else if (cpu_now() - vm->cpu_start > vm->cpu_ms_max)
			stop(vm, VM_NO_TIME);
		else
			return;
	}
	/* From now on at every instruction: a handler that runs while the stack unwinds (a variable
	 * with <close>, xpcall's) gets no further than its first one. */
	lua_sethook(L, look_at_limits, LUA_MASKCOUNT, 1);
	vm_raise_stop(L);
}

void vm_spend(lua_State *L, uint64_t steps)
{
	struct vm *vm = vm_of(L);
	vm->steps = steps > UINT64_MAX - vm->steps ? UINT64_MAX : vm->steps + steps;
	if (vm->steps <= vm->steps_max)
		return;
	stop(vm, VM_NO_STEPS);
	lua_sethook(L, look_at_limits, LUA_MASKCOUNT, 1);
	vm_raise_stop(L);
}

int vm_open(struct vm *vm, uint64_t memory, uint64_t steps, struct err *err)
{
	*vm = (struct vm){
		.memory_max = memory ? memory : VM_MEMORY_DEFAULT,
		.steps_max = steps ? steps : VM_STEPS_DEFAULT,
		.cpu_ms_max = VM_CPU_MS_DEFAULT,
		.cpu_start = cpu_now(),
	};
	lua_State *L = lua_newstate(vm_alloc, vm);
	if (!L)
		return err_set(err, ERR_FAIL, "no memory for a Lua state (limit: %llu bytes)",
			(unsigned long long)vm->memory_max);
	vm->L = L;
	*(struct vm **)lua_getextraspace(L) = vm;
	lua_gc(L, LUA_GCSTOP);
	lua_sethook(L, look_at_limits, LUA_MASKCOUNT, HOOK_EVERY);
	return 0;
}

void vm_close(struct vm *vm)
{
	pool_free(&vm->pool); /* the state with all it holds */
	vm->L = NULL;
}

static int report_stop(const struct vm *vm, struct err *err)
{
	switch (vm->stop) {
	case VM_NO_MEMORY:
		err_set(err, ERR_INPUT, "the recipe uses more than %llu MiB of memory",
			(unsigned long long)(vm->memory_max >> 20));
		break;
	case VM_NO_STEPS:
		err_set(err, ERR_INPUT, "the recipe does not end: stopped after %llu instructions",
			(unsigned long long)vm->steps_max);
		break;
	default:
		err_set(err, ERR_INPUT, "the recipe does not end: stopped after %lld seconds of CPU time",
			(long long)(vm->cpu_ms_max / 1000));
	}
	return vm->where[0] ? err_add(err, "%s", vm->where) : -1;
}

/* A message for people is one line, whatever a recipe raised. */
static int report_raised(const struct vm *vm, struct err *err)
{
	lua_State *L = vm->L;
	if (lua_type(L, -1) != LUA_TSTRING)
		return err_set(err, ERR_INPUT, "the recipe raised an error that is a %s, not a text",
			luaL_typename(L, -1));
	/* A recipe may have caught it and raised another. */
	bool ours = lua_tostring(L, -1) == vm->raised && err_exit_status(vm->code) != err_exit_status(ERR_INPUT);
	err_set(err, ours ? vm->code : ERR_INPUT, "%s", lua_tostring(L, -1));
	for (char *p = err ? err->msg : NULL; p && *p; p++)
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	return -1;
}

int vm_run(struct vm *vm, lua_CFunction fn, void *ctx, struct err *err)
{
	lua_State *L = vm->L;
	if (vm->stop != VM_RUNS)
		return report_stop(vm, err);
	lua_settop(L, 0); /* an empty stack has its LUA_MINSTACK slots: these pushes can't fail */
	lua_pushcfunction(L, fn);
	lua_pushlightuserdata(L, ctx);
	int status = lua_pcall(L, 1, 0, 0);
	int rc = 0;
	if (vm->stop != VM_RUNS)
		rc = report_stop(vm, err);
	else if (status == LUA_ERRMEM)
		rc = err_set(err, ERR_FAIL, "out of memory");
	else if (status != LUA_OK)
		rc = report_raised(vm, err);
	lua_settop(L, 0);
	return rc;
}
