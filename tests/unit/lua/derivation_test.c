/* forge.derivation and forge.fetch: what reaches the derivation, and what is refused. */
#include "fixture.h"

#define P "local p = require 'forge.primitives'\n"

static struct recipe r;

static int begin(void **state)
{
	recipe_begin(&r);
	return 0;
}

static int end(void **state)
{
	recipe_end(&r);
	return 0;
}

static const char *env_of(const struct eval_drv *d, const char *key)
{
	const char *value = drv_env_get(d->drv, key);
	return value ? value : "(none)";
}

static void test_all_fields(void **state)
{
	const struct eval_drv *d = recipe_derives(&r, P "return p.derivation { name = 'x-1.0', builder = '/bin/sh',\n"
		"args = {'-c', 1}, env = {A = 'a', N = 3, F = 1.5, L = {'x', 2, 'y'}, E = '', Z = {}}, what = 'test',\n"
		"world = {mounts = {{at = '/', layers = {}}}, links = {['/a'] = 'b'}}, inert = {MAX_JOBS = {cores = 1}},\n"
		"timeout = '90min', memory = '6GiB' }");
	assert_string_equal(d->drv->name, "x-1.0");
	assert_string_equal(d->drv->system, "x86_64-linux");
	assert_int_equal(d->drv->arg_count, 2);
	assert_string_equal(d->drv->args[1], "1");
	assert_string_equal(env_of(d, "A"), "a");
	assert_string_equal(env_of(d, "N"), "3");
	assert_string_equal(env_of(d, "F"), "1.5");
	assert_string_equal(env_of(d, "L"), "x 2 y");
	assert_string_equal(env_of(d, "E"), "");
	assert_string_equal(env_of(d, "Z"), "");
	assert_string_equal(env_of(d, "world"), "{\"links\":{\"/a\":\"b\"},\"mounts\":[{\"at\":\"/\",\"layers\":[]}]}");
	assert_string_equal(env_of(d, "inert"), "{\"MAX_JOBS\":{\"cores\":1}}");
	/* Nix's placeholder of an own output "out". */
	assert_string_equal(env_of(d, "out"), "/1rz4g4znpzjwh1xymhjpm42vipw92pr73vdgl6xs1hycac8kf2n9");
	assert_string_equal(d->what, "test");
	assert_int_equal(d->timeout_ms, 90 * 60000);
	assert_int_equal(d->memory, (uint64_t)6 << 30);
}

static void test_ceilings_are_not_hashed(void **state)
{
	recipe_derives(&r, P "local a = p.derivation {name = 'x', builder = '/b', timeout = 10, memory = '1GiB', what = 'unpack'}\n"
		"local b = p.derivation {name = 'x', builder = '/b', timeout = '20s', memory = 0, what = 'test'}\n"
		"assert(a == b and tostring(a) == tostring(b)) return a");
	assert_int_equal(eval_drv_count(r.eval), 1);
	assert_int_equal(eval_drv(r.eval, 0)->timeout_ms, 20000);
	assert_int_equal(eval_drv(r.eval, 0)->memory, 0); /* none is the larger */
}

static void test_inputs_by_text(void **state)
{
	const struct eval_drv *d = recipe_derives(&r, P
		"local function make(n) return p.derivation {name = n, builder = '/bin/sh'} end\n"
		"local a, b, c, e, w, x = make 'a', make 'b', make 'c', make 'e', make 'w', make 'x'\n"
		"local s, t = p.text('s', 'content'), p.text('t', 'other')\n"
		"return p.derivation {name = 'user', builder = a .. '/bin/x', args = {'--from=' .. b .. '/lib:' .. c},\n"
		"env = {E = {e, s}}, world = {mounts = {{at = '/', layers = {w, w .. '/sub'}}}}, inputs = {x, t, a}}");
	assert_int_equal(d->drv->input_count, 6);
	assert_int_equal(d->drv->src_count, 2);
	for (size_t i = 0; i < d->drv->input_count; i++) {
		assert_string_equal(d->drv->inputs[i].path, eval_drv(r.eval, d->inputs[i])->path);
		assert_int_equal(d->drv->inputs[i].output_count, 1);
		assert_string_equal(d->drv->inputs[i].outputs[0], "out");
	}
	assert_int_equal(eval_source_count(r.eval), 2);
	assert_int_equal(eval_source(r.eval, 0)->text.n, strlen("content"));
}

static void test_several_outputs(void **state)
{
	const struct eval_drv *d = recipe_derives(&r, P
		"local a = p.derivation {name = 'a', builder = '/b', outputs = {'out', 'dev'}}\n"
		"assert(a.name == 'a' and a.dev ~= a.out and tostring(a) == a.out)\n"
		"return p.derivation {name = 'u', builder = '/b', env = {D = a.dev, O = a.out .. '/x', D2 = a.dev}}");
	assert_int_equal(d->drv->input_count, 1);
	assert_int_equal(d->drv->inputs[0].output_count, 2);
	assert_string_equal(d->drv->inputs[0].outputs[0], "dev");
	assert_string_equal(d->drv->inputs[0].outputs[1], "out");
	recipe_fails(&r, P "return p.derivation {name = 'a', builder = '/b', outputs = {'lib'}}.dev", "has no output 'dev'");
	recipe_fails(&r, P "return p.derivation {name = 'a', builder = '/b', outputs = {}}", "outputs is empty");
	recipe_fails(&r, P "return p.derivation {name = 'a', builder = '/b', outputs = {'a', 'a'}}", "a");
}

static void test_fetch(void **state)
{
	const struct eval_drv *d = recipe_derives(&r, P "return p.fetch {from = 'pypi', name = 'torch', version = '2.11.0',\n"
		"file = 'torch-2.11.0+x-cp313~1.whl', size = 5, requires = {'a'}, build_requires = {},\n"
		"sha256 = '0000000000000000000000000000000000000000000000000000000000000001'}");
	assert_string_equal(d->drv->name, "torch-2.11.0+x-cp313-1.whl");
	assert_string_equal(d->drv->system, "builtin");
	assert_string_equal(d->drv->builder, "builtin:fetch");
	assert_string_equal(env_of(d, "entry"), "{\"file\":\"torch-2.11.0+x-cp313~1.whl\",\"from\":\"pypi\",\"name\":\"torch\","
		"\"sha256\":\"0000000000000000000000000000000000000000000000000000000000000001\",\"size\":5,\"version\":\"2.11.0\"}");
	assert_string_equal(d->drv->outputs[0].path, env_of(d, "out"));
	assert_true(str_starts(env_of(d, "out"), "/forge/store/"));
	recipe_fails(&r, P "return p.fetch {from = 'pypi', file = 'x', sha256 = 'short'}", "fetch x");
	recipe_fails(&r, P "return p.fetch {file = 'x'}", "not a lock entry");
	recipe_derives(&r, P "return p.fetch {from = 'debian', path = 'pool/main/a/.hidden', sha256 = ('a'):rep(64)}");
	assert_string_equal(eval_drv(r.eval, 0)->drv->name, "file.hidden");
	/* Two fetches of the same bytes under one name have one output path. */
	recipe_derives(&r, P "local function f(v) return p.fetch {from = 'url', name = 'x', version = v, sha256 = ('a'):rep(64)} end\n"
		"local a, b = f '1', f '2'\nassert(tostring(a) == tostring(b) and a ~= b)\n"
		"return p.derivation {name = 'u', builder = '/b', env = {A = a, B = b}}");
}

static void test_refused(void **state)
{
	static const struct { const char *fields, *part; } cases[] = {
		{ "name = 'x', buildr = '/b'", "recipe.lua:2: derivation: there is no field 'buildr' (did you mean 'builder'?)" },
		{ "name = 'x'", "recipe.lua:2: derivation: 'builder' is missing (a string or a derivation)" },
		{ "name = 'x', builder = '/b', ouputs = {}", "recipe.lua:2: derivation: there is no field 'ouputs' (did you mean 'outputs'?)" },
		{ "name = 'x', builder = '/b', zzz = 1", "there is no field 'zzz'" },
		{ "name = 'x', builder = '/b', 'extra'", "a number as a field name" },
		{ "name = 1, builder = '/b'", "derivation: 'name' must be a string, not a number" },
		{ "name = 'x', builder = '/b', args = '-c'", "'args' must be a table, not a string" },
		{ "name = 'x', builder = '/b', args = {'-c', {}}", "args[2] must be a string, not a table" },
		{ "name = 'x', builder = '/b', env = {A = true}", "env.A is true or false" },
		{ "name = 'x', builder = '/b', env = {A = pairs}", "env.A must be a string, not a function" },
		{ "name = 'x', builder = '/b', env = {A = {{}}}", "env.A[1] must be a string, not a table" },
		{ "name = 'x', builder = '/b', env = {'A=1'}", "env is a table of names, not a list" },
		{ "name = 'x', builder = '/b', env = {['A B'] = '1'}", "'A B' is not a name for an environment variable" },
		{ "name = 'x', builder = '/b', env = {['1A'] = '1'}", "'1A' is not a name" },
		{ "name = 'x', builder = '/b', env = {out = '1'}", "forge sets env.out itself" },
		{ "name = 'x', builder = '/b', env = {world = '1'}", "forge sets env.world itself" },
		{ "name = 'x', builder = '/b', env = {A = 'a\\0b'}", "holds a NUL byte" },
		{ "name = 'x', builder = '/b', inert = {['A B'] = {}}", "'A B' is not a name for an environment variable" },
		{ "name = 'x', builder = '/b', inert = {out = {}}", "forge sets env.out itself" },
		{ "name = 'x', builder = '/b', inert = {{}}", "inert is a table of names, not a list" },
		{ "name = 'x', builder = '/b', inert = {A = {}}, env = {A = '1'}", "inert.A: env has it already" },
		{ "name = 'x y', builder = '/b'", "x y" },
		{ "name = '', builder = '/b'", "derivation" },
		{ "name = ('x'):rep(300), builder = '/b'", "derivation" },
		{ "name = 'x', builder = '/b', world = {a = {pairs}}", "a function can't be written as JSON" },
		{ "name = 'x', builder = '/b', world = {1, 2, x = 3}", "both items and named fields" },
		{ "name = 'x', builder = '/b', world = {[1] = 1, [3] = 3}", "holes" },
		{ "name = 'x', builder = '/b', world = {a = '\\xff'}", "not UTF-8" },
		{ "name = 'x', builder = '/b', world = {a = 0/0}", "not finite" },
		{ "name = 'x', builder = '/b', inputs = {'/nowhere'}", "inputs[1] is no derivation and no source" },
		{ "name = 'x', builder = '/b', timeout = '5 parsecs'", "timeout: '5 parsecs' has no unit forge knows" },
		{ "name = 'x', builder = '/b', memory = 'lots'", "memory: 'lots' is no amount" },
		{ "name = 'x', builder = '/b', memory = '99999999999TiB'", "too large" },
		{ "name = 'x', builder = '/b', memory = '-1'", "'-1' is no amount" },
		{ "name = 'x', builder = '/forge/store/00000000000000000000000000000000-x/bin'", "is no object of this evaluation" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = mem_printf(P "return p.derivation { %s }", cases[i].fields);
		recipe_fails(&r, text, cases[i].part);
		free(text);
	}
	recipe_fails(&r, P "p.derivation('x')", "derivation: 'fields' must be a table, not a string");
	recipe_fails(&r, P "p.derivation({name = 'x', builder = '/b'}, 2)", "derivation takes 1 argument, not 2");
	recipe_fails(&r, P "p.text 'x'", "text: 'content' is missing");
	recipe_fails(&r, P "local t = {} t.t = t p.json(t)", "nested more than 64 deep");
	recipe_fails(&r, P "local t = {1} for i = 1, 60 do t = {t, t} end p.json(t)", "more than 1000000 values");
}

static void test_text_is_not_what_is_scanned_twice(void **state)
{
	recipe_fails(&r, P "local d = p.derivation {name = 'x', builder = '/b'}\nreturn p.text('t', 'see ' .. d)",
		"recipe.lua:3: forge.text \"t\": the text names an object of the store");
	/* 52 such characters that stand for nothing, and half a store path, are only text. */
	recipe_derives(&r, P "return p.derivation {name = 'x', builder = '/b', env = {A = '/' .. ('0'):rep(52),\n"
		"B = '/forge/store/abc', C = '/forge/store/' .. ('e'):rep(32) .. '-x', D = '/forge/store'}}");
	assert_int_equal(eval_drv(r.eval, 0)->drv->input_count, 0);
}

static void test_json(void **state)
{
	recipe_holds(&r, "require('forge.primitives').json {b = {1, 2.5, 'x\\n\"'}, a = true, c = {}} =="
		" '{\"a\":true,\"b\":[1,2.5,\"x\\\\n\\\\\"\"],\"c\":[]}'");
	recipe_holds(&r, "require('forge.primitives').json('é€😀') == '\"é€😀\"'");
	static const char *const bad[] = { "\\x80", "\\xc0\\x80", "\\xe0\\x80\\x80", "\\xed\\xa0\\x80", "\\xf4\\x90\\x80\\x80",
		"\\xf5\\x80\\x80\\x80", "\\xe2\\x82", "a\\xc3" };
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char *text = mem_printf(P "p.json('%s')", bad[i]);
		recipe_fails(&r, text, "not UTF-8");
		free(text);
	}
}

static void test_locked_is_asked_once(void **state)
{
	size_t asked = 0;
	r.options.ctx = &asked;
	recipe_derives(&r, P "local q = {kind = 'sdist', name = 'a', version = '1'}\n"
		"local a, b = p.locked(q), p.locked {version = '1', name = 'a', kind = 'sdist'}\n"
		"assert(a ~= b and a.file == b.file and a.requires[1] == 'packaging')\na.file = 'changed'\n"
		"assert(p.locked(q).file == 'a-1.tar.gz')\nreturn p.fetch(b)");
	assert_int_equal(asked, 1);
	recipe_fails(&r, P "p.locked {kind = 'moon'}", "recipe.lua:2: the lock has no such thing");
	r.options.ctx = NULL;
}

static int wrong_hash(void *ctx, const struct json *request, struct json **answer, struct err *err)
{
	return err_set(err, ERR_HASH, "wanted one, got two");
}

/* A wrong hash is told as such through the recipe; what a recipe raises itself is the recipe's fault. */
static void test_a_wrong_hash(void **state)
{
	r.options.locked = wrong_hash;
	recipe_fails(&r, P "p.locked {}", "recipe.lua:2: wanted one, got two");
	assert_int_equal(r.err.code, ERR_HASH);
	recipe_fails(&r, P "local ok, text = pcall(p.locked, {})\nassert(not ok)\nerror(text .. '!')", "wanted one, got two!");
	assert_int_equal(r.err.code, ERR_INPUT);
	r.options.locked = fake_lock_answer;
	recipe_fails(&r, P "p.locked {kind = 'moon'}", "the lock has no such thing");
	assert_int_equal(r.err.code, ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_fields), cmocka_unit_test(test_ceilings_are_not_hashed),
		cmocka_unit_test(test_inputs_by_text), cmocka_unit_test(test_several_outputs),
		cmocka_unit_test(test_fetch), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_text_is_not_what_is_scanned_twice), cmocka_unit_test(test_json),
		cmocka_unit_test(test_locked_is_asked_once), cmocka_unit_test(test_a_wrong_hash),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
