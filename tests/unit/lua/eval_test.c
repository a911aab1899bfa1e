/* Recipes to derivations: golden texts, the same in every place, targets, and the recipes of the project. */
#include "fixture.h"

#include <glob.h>
#include <locale.h>

#include "core/proc.h"

static void add_drv(const struct eval_drv *d, struct buf *out)
{
	_cleanup_buf_ struct buf hex = BUF_INIT;
	hash_base16(&d->modulo, &hex);
	buf_printf(out, "%s\n%s %s\n", d->path, d->what, hex.data);
	drv_write(d->drv, out);
	buf_byte(out, '\n');
}

/* All of an evaluation as text. */
static char *dump(struct eval *e)
{
	struct buf out = BUF_INIT;
	const struct eval_result *results;
	size_t count;
	struct err err = {0};
	for (size_t i = 0; i < eval_target_count(e); i++) {
		if (eval_derive(e, i, &results, &count, &err) < 0)
			fail_msg("%s", err.msg);
		for (size_t k = 0; k < count; k++)
			buf_printf(&out, "%s %s %s\n", eval_target(e, i)->name, results[k].role,
				eval_drv(e, results[k].drv)->path);
	}
	for (size_t i = 0; i < eval_drv_count(e); i++)
		add_drv(eval_drv(e, i), &out);
	for (size_t i = 0; i < eval_source_count(e); i++)
		buf_printf(&out, "%s\n", eval_source(e, i)->path);
	return buf_steal(&out);
}

static char *dump_file(const char *path)
{
	struct eval_options o = { .lib = "lib", .locked = fake_lock_answer };
	struct err err = {0};
	struct eval *e = eval_open(path, &o, &err);
	if (!e)
		fail_msg("%s", err.msg);
	char *text = dump(e);
	eval_close(e);
	return text;
}

/* tests/golden/lua/<name>.txt is what came out; FORGE_GOLDEN_WRITE=1 writes it anew. */
static void test_golden(void **state)
{
	char *got = dump_file("tests/golden/lua/primitives.lua");
	const char *file = "tests/golden/lua/primitives.txt";
	if (getenv("FORGE_GOLDEN_WRITE"))
		assert_int_equal(fs_write_file(AT_FDCWD, file, got, strlen(got), 0644, NULL), 0);
	_cleanup_buf_ struct buf want = BUF_INIT;
	assert_int_equal(fs_read_file(AT_FDCWD, file, 1 << 20, &want, NULL), 0);
	assert_string_equal(got, want.data);
	free(got);
}

/* Every recipe that the project ships: "recipes/<name>.lua". */
static glob_t shipped(void)
{
	glob_t found;
	assert_int_equal(glob("recipes/*.lua", 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 3);
	return found;
}

/* Another folder, time zone and locale; the hash seed is another in each state by itself. */
static void test_the_same_everywhere(void **state)
{
	struct tempdir dir = tempdir_make();
	char *copy = mem_printf("%s/recipes of mine", dir.path);
	const char *const argv[] = { "cp", "-R", "recipes", copy, NULL };
	struct proc_spec cp = PROC_SPEC_INIT;
	struct proc_result done;
	cp.argv = argv;
	assert_int_equal(proc_run(&cp, NULL, NULL, 0, &done, NULL), 0);
	assert_int_equal(done.status, 0);
	glob_t recipes = shipped();
	for (size_t i = 0; i < recipes.gl_pathc; i++) {
		const char *here = recipes.gl_pathv[i];
		char *there = mem_printf("%s%s", copy, here + strlen("recipes"));
		setenv("TZ", "UTC", 1);
		char *first = dump_file(here);
		setenv("TZ", "Asia/Tokyo", 1);
		/* The one with a decimal comma is not on every machine. */
		if (!setlocale(LC_ALL, "de_DE.UTF-8"))
			setlocale(LC_ALL, "C.UTF-8");
		char *second = dump_file(there);
		assert_string_equal(first, second);
		assert_true(strlen(first) > 10000);
		setlocale(LC_ALL, "C");
		free(there);
		free(first);
		free(second);
	}
	globfree(&recipes);
	free(copy);
	tempdir_remove(&dir);
}

static void test_inputs_come_first(void **state)
{
	struct eval_options o = { .lib = "lib", .locked = fake_lock_answer };
	struct eval *e = eval_open("recipes/flash-attn.lua", &o, NULL);
	assert_non_null(e);
	free(dump(e));
	for (size_t i = 0; i < eval_drv_count(e); i++)
		for (size_t k = 0; k < eval_drv(e, i)->drv->input_count; k++)
			assert_true(eval_drv(e, i)->inputs[k] < i);
	eval_close(e);
}

/* No recipe's derivation names a place of this machine. */
static void test_no_host_path(void **state)
{
	char here[4096];
	assert_non_null(getcwd(here, sizeof here));
	glob_t recipes = shipped();
	for (size_t i = 0; i < recipes.gl_pathc; i++) {
		char *text = dump_file(recipes.gl_pathv[i]);
		assert_null(strstr(text, here));
		free(text);
	}
	globfree(&recipes);
}

static void test_variants_are_lazy(void **state)
{
	struct recipe r;
	size_t asked = 0, count;
	const struct eval_result *results;
	recipe_begin(&r);
	r.options.ctx = &asked;
	assert_non_null(recipe_open(&r, "local forge_label = require('forge').label.local_version(function(v)"
		" if v.flavour == 'b' then error('no label') end return '{sm}{flavour}' end)"
		" return require('forge').wheel { name = 'x', version = '1',\n"
		"matrix = { python = {'3.13'}, archs = {{'80'}, {'90'}}, flavour = {'a', 'b'} },"
		"label = forge_label,\n"
		"env = function(v) if v.flavour == 'b' then error('not me') end return {A = v.archs:join ';'} end }"));
	assert_int_equal(asked, 0);
	assert_int_equal(eval_drv_count(r.eval), 0);
	assert_int_equal(eval_target_count(r.eval), 4);
	assert_string_equal(eval_target(r.eval, 0)->name, "cp313-sm80-flavoura");
	assert_string_equal(eval_target(r.eval, 3)->name, "cp313-sm90-flavourb");
	size_t first;
	assert_int_equal(eval_default(r.eval, &first, &r.err), 0);
	assert_int_equal(first, 0);
	assert_string_equal(eval_target(r.eval, 0)->label, "1+sm80a");
	assert_int_equal(eval_tell(r.eval, 1, &r.err), -1);
	assert_non_null(strstr(r.err.msg, "no label (variant cp313-sm80-flavourb)"));
	err_clear(&r.err);
	assert_int_equal(eval_derive(r.eval, 1, &results, &count, &r.err), -1);
	assert_non_null(strstr(r.err.msg, "recipe.lua:3: not me (variant cp313-sm80-flavourb)"));
	err_clear(&r.err);
	/* One that fails leaves the others as they are. */
	assert_int_equal(eval_derive(r.eval, 0, &results, &count, &r.err), 0);
	assert_int_equal(count, 2);
	assert_string_equal(results[0].role, "wheel");
	assert_string_equal(results[1].role, "test");
	size_t after_one = eval_drv_count(r.eval);
	assert_int_equal(eval_derive(r.eval, 2, &results, &count, &r.err), 0);
	/* Only build, finish and test are new: all else is shared. */
	assert_int_equal(eval_drv_count(r.eval), after_one + 3);
	recipe_end(&r);
}

static void test_bare(void **state)
{
	struct recipe r;
	const struct eval_result *results;
	size_t count;
	recipe_begin(&r);
	assert_non_null(recipe_open(&r, RECIPE_BARE));
	assert_int_equal(eval_target_count(r.eval), 1);
	const struct eval_target *t = eval_target(r.eval, 0);
	assert_string_equal(t->name, "");
	assert_string_equal(t->recipe, "x");
	assert_true(!t->version && !t->label && t->told && json_kind(t->axes) == JSON_OBJ);
	assert_int_equal(eval_derive(r.eval, 0, &results, &count, &r.err), 0);
	assert_string_equal(results[0].role, "out");
	recipe_end(&r);
}

static void test_wrong_results(void **state)
{
	struct recipe r;
	recipe_begin(&r);
	recipe_fails(&r, "", "a recipe returns a derivation or what forge.wheel gives, not nothing");
	recipe_fails(&r, "return 3", "not a number");
	recipe_fails(&r, "return {}", "not such a table");
	recipe_fails(&r, "return {targets = {}}", "0 variants");
	recipe_fails(&r, "return {targets = {3}}", "table expected");
	recipe_fails(&r, "return {targets = {{name = 'x'}}}", "target: 'recipe' is missing");
	recipe_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden), cmocka_unit_test(test_the_same_everywhere),
		cmocka_unit_test(test_inputs_come_first), cmocka_unit_test(test_no_host_path),
		cmocka_unit_test(test_variants_are_lazy), cmocka_unit_test(test_bare),
		cmocka_unit_test(test_wrong_results),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
