/* Our string functions against Lua's own, over every pair of these subjects and patterns. */
#include "fixture.h"

#include <lualib.h>

#include "lua/pattern.h"
#include "lua/vm.h"

static const char script[] =
	"local theirs, ours = ...\n"
	"local subjects = {'', 'a', 'aaa', 'abc', 'hello world', 'key = value', '  trim  ', 'a,b,,c', '[x](y(z)w)',\n"
	"  'THE (quick) fox', 'x\\0y\\0', 'a.b.c', '%d%', '2024-01-31', '\\xff\\x80abc', '^a$', 'f(a(b)c)d)', 'aXbXc', 'ab12_3',\n"
	"  'torch==2.11.0; extra == \"dev\"', 'a-b-c', ']', 'aab', 'abab'}\n"
	"local patterns = {'', 'a', '^a', 'a$', '^a$', '.', '.*', '.-', '.+', '.?', '(.)', '()', '(a*)b', 'a*', 'a-b', 'a+', 'a?',\n"
	"  '%a+', '%A', '%d+', '%D', '%s*', '%S+', '%w+', '%W', '%p', '%P', '%c', '%C', '%x+', '%X', '%u', '%U', '%l', '%L', '%g+', '%G',\n"
	"  '[abc]', '[^abc]', '[a-c]+', '[%a_]+', '[]]', '[^]]', '[a-]', '[-a]', '[%-]', '[a%]]', '%b()', '%bxy', '%f[%a]%a+', '%f[%z]',\n"
	"  '(a)(b)', '((a)b)', '(.)%1', '(.-)%s*=%s*(.*)', '^%s*(.-)%s*$', '([^,]*),?', '%.', '%%', '%$', '^', '$', '$a', 'a^', '()a()',\n"
	"  '(', ')', '%', '[', '[a', '[^', '[]', '%b', '%bx', '%f', '%fa', '%1', '(a)%2', '(()', 'a**', '*', '+a', '-', '(%1)', '[%', '\\0', '%z',\n"
	"  '[\\0]', '%f[%w]%w+%f[%W]', '[a-%d]', '[%a-z]', '[^%s]+', '(%w+)-(%w+)', 'b*$', '(.*)%.(.*)'}\n"
	"local function show(...)\n"
	"  local out = {}\n"
	"  for i = 1, select('#', ...) do\n"
	"    local v = select(i, ...)\n"
	"    out[i] = math.type(v) or type(v) == 'string' and v:gsub('^[^ ]+:%d+: ', '') or tostring(v)\n"
	"    if math.type(v) then out[i] = out[i] .. v end\n"
	"  end\n"
	"  return table.concat(out, '|')\n"
	"end\n"
	"local function all(f, s, p)\n"
	"  local out = {}\n"
	"  for a, b in f(s, p) do out[#out + 1] = show(a, b) if #out > 99 then break end end\n"
	"  return table.concat(out, ';')\n"
	"end\n"
	"local calls = {\n"
	"  function(l, s, p) return l.find(s, p) end,\n"
	"  function(l, s, p) return l.find(s, p, 2) end,\n"
	"  function(l, s, p) return l.find(s, p, -2) end,\n"
	"  function(l, s, p) return l.find(s, p, 1, true) end,\n"
	"  function(l, s, p) return l.find(s, p, 99) end,\n"
	"  function(l, s, p) return l.match(s, p) end,\n"
	"  function(l, s, p) return l.match(s, p, 3) end,\n"
	"  function(l, s, p) return all(l.gmatch, s, p) end,\n"
	"  function(l, s, p) return l.gsub(s, p, '<%0>') end,\n"
	"  function(l, s, p) return l.gsub(s, p, '<%1%%>', 2) end,\n"
	"  function(l, s, p) return l.gsub(s, p, '%2') end,\n"
	"  function(l, s, p) return l.gsub(s, p, '%') end,\n"
	"  function(l, s, p) return l.gsub(s, p, {a = 'A', abc = 1, b = false}) end,\n"
	"  function(l, s, p) return l.gsub(s, p, function(x) if x == 'a' then return 'Q' end end) end,\n"
	"  function(l, s, p) return l.gsub(s, p, function(x) return {} end) end,\n"
	"}\n"
	"local n = 0\n"
	"for _, s in ipairs(subjects) do for _, p in ipairs(patterns) do for i, call in ipairs(calls) do\n"
	"  local a, b = show(pcall(call, theirs, s, p)), show(pcall(call, ours, s, p))\n"
	"  n = n + 1\n"
	"  if a ~= b then error(('call %d of %q with %q: Lua gives %s, forge %s'):format(i, s, p, a, b)) end\n"
	"end end end\n"
	"return n\n";

static int compare(lua_State *L)
{
	int *count = lua_touserdata(L, 1);
	luaL_openlibs(L);
	if (luaL_loadstring(L, script) != LUA_OK)
		return lua_error(L);
	lua_getglobal(L, "string");
	lua_newtable(L);
	pattern_open(L);
	lua_call(L, 2, 1);
	*count = (int)lua_tointeger(L, -1);
	return 0;
}

static void test_as_lua(void **state)
{
	struct vm vm;
	struct err err = {0};
	int count = 0;
	assert_int_equal(vm_open(&vm, 0, 0, &err), 0);
	if (vm_run(&vm, compare, &count, &err) < 0)
		fail_msg("%s", err.msg);
	assert_true(count > 30000);
	vm_close(&vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_as_lua) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
