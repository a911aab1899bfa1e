/* What recipes can't reach, and that what they can reach has no order or address of this run. */
#include "fixture.h"

#include "lua/pure.h"
#include "lua/vm.h"

/* The global table is handed to the script: recipes have no name for it. */
static int run_open(lua_State *L)
{
	pure_open(L);
	if (luaL_loadstring(L, lua_touserdata(L, 1)) != LUA_OK)
		return lua_error(L);
	lua_pushglobaltable(L);
	lua_call(L, 1, 0);
	return 0;
}

static void open_holds(const char *text)
{
	struct vm vm;
	struct err err = {0};
	assert_int_equal(vm_open(&vm, 0, 0, &err), 0);
	if (vm_run(&vm, run_open, (void *)(uintptr_t)text, &err) < 0)
		fail_msg("%s", err.msg);
	vm_close(&vm);
}

static void test_all_that_is_there(void **state)
{
	/* A newer Lua may bring more; none of it may come in unseen. */
	open_holds("local t = {} for k in pairs(...) do t[#t + 1] = k end\n"
		"local got = table.concat(t, ' ')\n"
		"assert(got == 'assert error getmetatable ipairs math pairs pcall rawequal rawget rawlen rawset select"
		" setmetatable string table tonumber tostring type utf8 xpcall', got)");
	open_holds("local t = {} for k in pairs(string) do t[#t + 1] = k end\n"
		"assert(table.concat(t, ' ') == 'byte char find format gmatch gsub len lower match rep reverse sub upper')");
	open_holds("local t = {} for k in pairs(math) do t[#t + 1] = k end\n"
		"assert(table.concat(t, ' ') == 'abs ceil floor fmod huge max maxinteger min mininteger modf pi sqrt tointeger"
		" type ult')");
	open_holds("local t = {} for k in pairs(table) do t[#t + 1] = k end\n"
		"assert(table.concat(t, ' ') == 'concat insert move pack remove sort unpack')");
}

static void test_absent(void **state)
{
	static const char *const names[] = { "io", "os", "debug", "package", "coroutine", "load", "loadstring",
		"loadfile", "dofile", "collectgarbage", "print", "warn", "next", "_G", "arg", "string.dump",
		"math.random", "math.randomseed", "math.sin" };
	struct recipe r;
	recipe_begin(&r);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *text = mem_printf("not select(2, pcall(function() return type(%s) == 'function' end)) or"
			" not pcall(function() return %s end)", names[i], names[i]);
		recipe_holds(&r, text);
		free(text);
	}
	recipe_holds(&r, "getmetatable('') == false");
	recipe_end(&r);
}

static void test_no_bytecode(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_fails(&r, "\x1bLua", "this is compiled Lua");
	recipe_end(&r);
}

static void test_no_addresses(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_holds(&r, "tostring({}) == 'table' and tostring(pairs) == 'function' and tostring(function() end) == 'function'");
	recipe_holds(&r, "string.format('%s %s %d', {}, pairs, 3) == 'table function 3'");
	recipe_holds(&r, "tostring(setmetatable({}, {__name = 'n'})) == 'table'");
	recipe_holds(&r, "tostring(setmetatable({}, {__tostring = function() return 'mine' end})) == 'mine'");
	recipe_holds(&r, "('%s'):format(setmetatable({}, {__tostring = function() return 'mine' end})) == 'mine'");
	recipe_fails(&r, "string.format('%p', {})", "%p is not for recipes");
	recipe_fails(&r, "string.format('%-20p', {})", "%p is not for recipes");
	recipe_holds(&r, "string.format('%%p') == '%p'");
	recipe_fails(&r, "error({})", "raised an error that is a table");
	recipe_holds(&r, "not select(2, pcall(error, {})) == false");
	recipe_end(&r);
}

static void test_sorted_pairs(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_file(&r, "keys.lua", "return function(t) local o = {} for k, v in pairs(t) do o[#o + 1] = tostring(k) .. '=' .. tostring(v) end"
		" return table.concat(o, ' ') end");
	recipe_holds(&r, "require 'keys' {b = 1, a = 2, [10] = 3, [9] = 4, [-1] = 5, [2.5] = 6, ['1'] = 7, B = 8, [''] = 9} =="
		"'-1=5 2.5=6 9=4 10=3 =9 1=7 B=8 a=2 b=1'");
	recipe_holds(&r, "require 'keys' {1, 2, 3, n = 3} == '1=1 2=2 3=3 n=3'");
	recipe_holds(&r, "require 'keys' {} == ''");
	recipe_holds(&r, "require 'keys' {['a\\0b'] = 1, ['a'] = 2, ['a\\0'] = 3} == 'a=2 a\\0=3 a\\0b=1'");
	/* Changing and clearing while walking. */
	recipe_holds(&r, "(function() local t = {a = 1, b = 2, c = 3} local n = 0\n"
		"for k in pairs(t) do n = n + 1 t[k] = nil t.b = nil t.new = 1 end return n end)() == 2");
	recipe_fails(&r, "for _ in pairs {[{}] = 1} do end", "a table with a table as a key has no order");
	recipe_fails(&r, "for _ in pairs {[true] = 1, a = 2} do end", "a table with a boolean as a key has no order");
	recipe_end(&r);
}

static void test_globals(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_fails(&r, "x = 1", "recipe.lua:1: 'x' would be a global variable: write local before it");
	recipe_fails(&r, "\nreturn asert(true)", "recipe.lua:2: there is no 'asert' in a recipe (did you mean 'assert'?)");
	recipe_fails(&r, "return os.time()", "there is no 'os' in a recipe");
	recipe_fails(&r, "return forge.wheel {}", "begin with  local forge = require \"forge\"");
	recipe_fails(&r, "string.format = nil\nreturn ('x'):foo()", "foo");
	recipe_end(&r);
}

static void test_pcall(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_holds(&r, "select('#', pcall(function() return 1, nil, 3 end)) == 4");
	recipe_holds(&r, "select(2, pcall(error, 'x')) == 'x' and select('#', pcall(error)) == 2");
	recipe_holds(&r, "select(2, xpcall(error, function(m) return m .. '!' end, 'x')) == 'x!'");
	recipe_holds(&r, "select(3, xpcall(function(a, b) return a, b end, error, 1, 2)) == 2");
	recipe_end(&r);
}

static void test_syntax_error(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_fails(&r, "local x = 1\nreturn }", "recipe.lua:2: unexpected symbol near '}'");
	assert_true(str_starts(r.err.msg, r.dir.path)); /* as the person named it */
	assert_int_equal(r.err.code, ERR_INPUT);
	recipe_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent), cmocka_unit_test(test_all_that_is_there),
		cmocka_unit_test(test_no_bytecode), cmocka_unit_test(test_no_addresses),
		cmocka_unit_test(test_sorted_pairs), cmocka_unit_test(test_globals), cmocka_unit_test(test_pcall),
		cmocka_unit_test(test_syntax_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
