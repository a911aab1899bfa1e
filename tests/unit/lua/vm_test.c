/* The walls: memory, steps, and that nothing inside swallows their stop. */
#include "fixture.h"

static void fails(const char *text, uint64_t memory, uint64_t instructions, const char *part)
{
	struct recipe r;
	recipe_begin(&r);
	r.options.memory = memory;
	r.options.instructions = instructions;
	recipe_fails(&r, text, part);
	recipe_end(&r);
}

static void test_endless_loop(void **state)
{
	fails("while true do end", 0, 1000000, "recipe.lua:1: the recipe does not end: stopped after 1000000 instructions");
	fails("local function f() return f() end\nf()", 0, 1000000, "does not end");
	fails("::a:: goto a", 0, 1000000, "does not end");
	fails("local t = setmetatable({}, {__index = function(t, k) return t[k + 1] end})\nreturn t[1]", 0, 1000000,
		"stack overflow");
}

static void test_default_budget_ends(void **state)
{
	/* The default ends a loop within seconds. */
	fails("for i = 1, 1e18 do end", 0, 0, "stopped after 500000000 instructions");
}

static void test_nothing_swallows_the_stop(void **state)
{
	static const char *const tricks[] = {
		"while true do pcall(function() while true do end end) end",
		"while true do xpcall(function() while true do end end, function() while true do end end) end",
		"local function again() local x <close> = setmetatable({}, {__close = again_ or function() end})\n"
			"  pcall(again) while true do end end\npcall(again)",
		"local h\nh = function() local x <close> = setmetatable({}, {__close = h}) while true do end end\nh()",
		"local t = setmetatable({}, {__tostring = function() while true do end end})\n"
			"while true do pcall(tostring, t) end",
		"table.sort({3, 2, 1}, function() while true do end end)",
		"string.gsub('aaa', 'a', function() while true do end end)",
		"require 'forge.primitives'.derivation(setmetatable({}, {__index = function() while true do end end}))\n"
			"while true do end",
		"error(setmetatable({}, {__tostring = function() while true do end end}))",
	};
	for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++) {
		struct recipe r;
		recipe_begin(&r);
		r.options.instructions = 2000000;
		if (recipe_open(&r, tricks[i]))
			fail_msg("no error for: %s", tricks[i]);
		recipe_end(&r);
	}
}

static void test_memory(void **state)
{
	const uint64_t cap = 32 << 20;
	fails("local s = ('x'):rep(10 * 1024 * 1024 * 1024)", cap, 0, "recipe.lua:1: resulting string too large");
	fails("local s = ('x'):rep(1024 * 1024 * 1024)", cap, 0, "recipe.lua:1: the recipe uses more than 32 MiB");
	fails("local s = 'x'\nwhile true do s = s .. s end", cap, 0, "recipe.lua:2: the recipe uses more than 32 MiB");
	fails("local t = {}\nwhile true do t[#t + 1] = {} end", cap, 0, "more than 32 MiB");
	fails("local t = {}\nfor i = 1, 1e9 do t[i] = ('x'):rep(1e6) .. i end", cap, 0, "more than 32 MiB");
	fails("while true do pcall(function() return ('x'):rep(1 << 28) end) end", cap, 0, "more than 32 MiB");
	fails("local t = {}\nfor i = 1, 1e7 do t[i] = 'xxxxxxxxxxxxxxxx' end\nreturn table.concat(t)", cap, 0, "more than 32 MiB");
	fails("return string.format('%99.99f', 1):rep(1e7)", cap, 0, "more than 32 MiB");
	fails("return require 'forge.primitives'.text('x', ('x'):rep(1 << 26))", cap, 0, "more than 32 MiB");
}

static void test_tiny_memory(void **state)
{
	struct recipe r;
	/* Whatever step the memory ends at: an error, never a crash. */
	for (uint64_t cap = 1; cap < 600000; cap += cap / 7 + 1) {
		recipe_begin(&r);
		r.options.memory = cap;
		if (!recipe_open(&r, "local forge = require 'forge'\n" RECIPE_BARE))
			assert_non_null(r.err.msg);
		recipe_end(&r);
	}
}

static void test_c_functions_spend(void **state)
{
	/* Each of these would run for years inside one C call. */
	fails("return ('a'):rep(1000):find(('a*'):rep(30) .. 'b')", 0, 10000000, "does not end");
	fails("return ('a'):rep(40):match(('a-'):rep(40) .. 'b')", 0, 10000000, "does not end");
	fails("return ('a'):rep(50000):gsub('.-b', '')", 0, 10000000, "does not end");
	fails("return ('('):rep(100000):find('%b()%b()x')", 0, 100000000, "does not end");
	fails("for w in ('a'):rep(100000):gmatch('.-b') do end", 0, 10000000, "does not end");
	fails("table.move({}, 1, 1 << 50, 2)", 0, 10000000, "does not end");
	fails("table.concat({}, '', 1, 1 << 50)", 0, 10000000, "invalid value");
	fails("while true do table.unpack({}, 1, 999000) end", 0, 10000000, "does not end");
	fails("table.insert(setmetatable({}, {__len = function() return 1 << 50 end}), 1, 'x')", 0, 10000000,
		"don't take a table with __len");
	fails("table.remove(setmetatable({}, {__len = function() return 1 << 50 end}), 1)", 0, 10000000,
		"don't take a table with __len");
	fails("local s = ('x'):rep(1000000)\nwhile true do s:upper() end", 0, 10000000, "");
	fails("local t = {}\nfor i = 1, 1e5 do t[i] = i end\nwhile true do for _ in pairs(t) do break end end", 0, 10000000, "");
}

static void test_empty_repeat(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_holds(&r, "(''):rep(1 << 60) == '' and ('x'):rep(0) == '' and ('x'):rep(-1) == '' and ('x'):rep(3, ',') == 'x,x,x'");
	recipe_end(&r);
}

static void test_no_finalizers(void **state)
{
	fails("setmetatable({}, {__gc = function() end})", 0, 0, "__gc");
}

static void test_dead_after_stop(void **state)
{
	struct recipe r;
	const struct eval_result *results;
	size_t count;
	recipe_begin(&r);
	r.options.instructions = 3000000;
	struct eval *e = recipe_open(&r, "local d = require 'forge.primitives'.derivation\nreturn { targets = { {\n"
		"name = 'x', recipe = 'x', version = '1', label = '1', axes = {}, derive = function() while true do end end } } }");
	assert_non_null(e);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(eval_derive(e, 0, &results, &count, &r.err), -1);
		if (!strstr(r.err.msg, "recipe.lua:3: the recipe does not end"))
			fail_msg("%s", r.err.msg);
	}
	recipe_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_endless_loop), cmocka_unit_test(test_default_budget_ends),
		cmocka_unit_test(test_nothing_swallows_the_stop), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_tiny_memory), cmocka_unit_test(test_c_functions_spend),
		cmocka_unit_test(test_empty_repeat), cmocka_unit_test(test_no_finalizers),
		cmocka_unit_test(test_dead_after_stop),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
