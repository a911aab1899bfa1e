/* require and forge.path see lib/ and the recipe's folder, and nothing else. */
#include "fixture.h"

#define P "local p = require 'forge.primitives'\n"

static void test_modules(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_file(&r, "helper.lua", "return {name = ..., n = 1}");
	recipe_file(&r, "sub/deep-er_1.lua", "return (...)");
	recipe_file(&r, "nothing.lua", "");
	recipe_holds(&r, "require 'helper'.name == 'helper' and require 'helper' == require 'helper'");
	recipe_holds(&r, "require 'sub.deep-er_1' == 'sub.deep-er_1' and require 'nothing' == true");
	/* lib/ is first: what stands beside a recipe can't take the library's place. */
	recipe_file(&r, "forge.lua", "return 'not this one'");
	recipe_holds(&r, "type(require 'forge') == 'table'");
	recipe_end(&r);
}

static void test_refused(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	static const char *const names[] = { "", ".", "..", "a..b", ".a", "a.", "/etc/passwd", "a/b", "../x", "a b", "a\\0b",
		"~", "a:b", "a\\\\b" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *text = mem_printf("require '%s'", names[i]);
		recipe_fails(&r, text, "is not a module name");
		free(text);
	}
	recipe_fails(&r, "\nrequire 'no.such'", "recipe.lua:2: require: there is no 'no.such': neither lib/no/such.lua nor no/such.lua");
	recipe_file(&r, "one.lua", "require 'two'");
	recipe_file(&r, "two.lua", "require 'one'");
	recipe_fails(&r, "require 'one'", "(a circle)");
	recipe_file(&r, "broken.lua", "return +");
	recipe_fails(&r, "require 'broken'", "/broken.lua:1:");
	recipe_file(&r, "raises.lua", "\nerror 'here'");
	recipe_fails(&r, "require 'raises'", "/raises.lua:2: here");
	assert_int_equal(mkdirat(r.dir.fd, "folder.lua", 0755), 0);
	recipe_fails(&r, "require 'folder'", "folder.lua: it is not a file");
	recipe_end(&r);
}

static void test_links_are_not_followed(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_file(&r, "real.lua", "return 1");
	assert_int_equal(symlinkat("/etc", r.dir.fd, "out"), 0);
	assert_int_equal(symlinkat("real.lua", r.dir.fd, "link.lua"), 0);
	assert_int_equal(symlinkat("/etc/passwd", r.dir.fd, "passwd.lua"), 0);
	recipe_fails(&r, "require 'link'", "link.lua");
	recipe_fails(&r, "require 'passwd'", "passwd.lua");
	recipe_fails(&r, P "p.path 'out/passwd'", "recipe.lua:2: forge.path \"out/passwd\"");
	recipe_fails(&r, P "p.path 'passwd.lua'", "it is a link");
	recipe_end(&r);
}

static void test_path_confined(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	static const char *const names[] = { "", "..", "../x", "/etc/passwd", "a/../../x", "a//b", "a/", "a/..", "x\\0y" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *text = mem_printf(P "p.path '%s'", names[i]);
		recipe_fails(&r, text, "beneath the recipe's folder");
		free(text);
	}
	recipe_fails(&r, P "p.path 'no-such-file'", "recipe.lua:2: forge.path \"no-such-file\"");
	recipe_fails(&r, P "p.path {}", "path: 'name' must be a string, not a table");
	assert_int_equal(mkfifoat(r.dir.fd, "pipe", 0644), 0);
	recipe_fails(&r, P "p.path 'pipe'", "forge.path \"pipe\"");
	recipe_end(&r);
}

static void test_path_takes_content(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_file(&r, "data/a.txt", "one");
	recipe_derives(&r, P "local d, f = p.path 'data', p.path 'data/a.txt'\n"
		"assert(d == p.path 'data' and d ~= f)\n"
		"return p.derivation {name = 'x', builder = '/b', args = {d, f}}");
	assert_int_equal(eval_source_count(r.eval), 2);
	const struct eval_source *s = eval_source(r.eval, 0);
	assert_true(str_ends(s->path, "-data") && str_ends(s->from, "/data"));
	char *before = mem_dup(s->path);
	recipe_file(&r, "data/a.txt", "two");
	recipe_derives(&r, P "return p.derivation {name = 'x', builder = '/b', args = {p.path 'data'}}");
	assert_string_not_equal(before, eval_source(r.eval, 0)->path);
	/* Too much: a file of holes is enough to show it. */
	int fd = openat(r.dir.fd, "big", O_CREAT | O_WRONLY, 0644);
	assert_true(fd >= 0 && ftruncate(fd, (off_t)300 << 20) == 0);
	close(fd);
	recipe_fails(&r, P "p.path 'big'", "more than 256 MiB");
	free(before);
	recipe_end(&r);
}

static void test_path_is_relative_to_its_file(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_file(&r, "toolchain/make.sh", "the recipe's own");
	recipe_derives(&r, P "return p.derivation {name = 'x', builder = '/b', "
		"args = {require 'forge.shim'(12) .. '', p.path 'toolchain/make.sh'}}");
	size_t from_lib = 0, from_recipe = 0;
	for (size_t i = 0; i < eval_source_count(r.eval); i++) {
		const char *from = eval_source(r.eval, i)->from;
		if (from && str_ends(from, "/toolchain/make.sh"))
			++*(str_starts(from, r.dir.path) ? &from_recipe : &from_lib);
	}
	assert_int_equal(from_lib, 1);
	assert_int_equal(from_recipe, 1);
	recipe_end(&r);
}

static void test_no_recipe(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	char *path = mem_printf("%s/absent.lua", r.dir.path), *folder = mem_printf("%s/", r.dir.path);
	assert_null(eval_open(path, &r.options, &r.err));
	assert_non_null(strstr(r.err.msg, "absent.lua"));
	err_clear(&r.err);
	assert_null(eval_open(folder, &r.options, &r.err));
	assert_non_null(strstr(r.err.msg, "is a folder"));
	err_clear(&r.err);
	r.options.lib = "/no/such/lib";
	assert_null(recipe_open(&r, RECIPE_BARE));
	assert_non_null(strstr(r.err.msg, "/no/such/lib"));
	free(path);
	free(folder);
	recipe_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modules), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_links_are_not_followed), cmocka_unit_test(test_path_confined),
		cmocka_unit_test(test_path_takes_content), cmocka_unit_test(test_path_is_relative_to_its_file),
		cmocka_unit_test(test_no_recipe),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
