#include "support/vectors.h"

#include "core/buf.h"
#include "core/mem.h"
#include "lock/pyproject.h"

static char *joined(const struct str_list *l)
{
	struct buf out = BUF_INIT;
	for (size_t i = 0; i < l->count; i++)
		buf_printf(&out, "%s%s", i ? "|" : "", l->items[i]);
	return buf_steal(&out);
}

static void test_requires(void **state)
{
	static const char *const rows[][2] = { /* the file, its requires joined by | */
		{ "[build-system]\nrequires = [\"a\", 'b>=1']\n", "a|b>=1" },
		{ "[build-system]\nrequires = []", "" },
		{ "", "setuptools>=40.8.0" },
		{ "[build-system]\nbuild-backend = \"x\"\n", "setuptools>=40.8.0" },
		{ "[tool.x]\nrequires = [\"no\"]\n", "setuptools>=40.8.0" },
		{ "\xef\xbb\xbf# c\r\n[ build-system ] # c\r\nrequires=[ # c ]\r\n  \"a\", # \"no\"\r\n  \"b\",\r\n]\r\n[x]\r\n",
		  "a|b" },
		{ "build-system.requires = ['a']\n", "a" },
		{ "[\"build-system\"]\n'requires' = ['a']\n", "a" },
		{ "[project]\nd = '''\n[build-system]\nrequires = [\"no\"]\n'''\n[build-system]\nrequires = ['yes']\n", "yes" },
		{ "[project]\nd = \"\"\"\\\"\"\"\n[build-system] \"\"\"\n[build-system]\nrequires = ['yes']\n", "yes" },
		{ "[a]\nx = [\n  [1, 2], {k = \"]\"},\n]\n[[b]]\ny = 1979-05-27T07:32:00Z\n[build-system]\nrequires = ['a']\n", "a" },
		{ "[build-system]\nrequires = [\"a; os_name == \\\"posix\\\"\"]\n", "a; os_name == \"posix\"" },
		{ "[build-system]\nrequires = [\"\"\"a\"\"\", '''b''']\n", "a|b" },
		{ "[build-system.x]\nrequires = [1]\n[build-system]\nrequires = ['a']", "a" },
		{ "[x]\ny = \"\"\"He said \"hi\"\"\"\"\nz = ''''a'''''\n[build-system]\nrequires = [\"\"\"\na\"\"\"]", "a" },
		{ "[tool.\"a\\u0062\"]\n\"\\n\" = 1\n[build-system]\nrequires = ['a']", "a" },
		{ "\"build-system.requires\" = ['no']\n[[build-system]]\nrequires = ['no']\n[build-system]\nrequires = ['a']", "a" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_str_list_ struct str_list list = STR_LIST_INIT;
		_cleanup_err_ struct err err = { 0 };
		if (pyproject_requires(slice_of(rows[i][0]), &list, &err) < 0)
			fail_msg("row %zu: %s", i, err.msg);
		_cleanup_free_ char *got = joined(&list);
		assert_string_equal(got, rows[i][1]);
	}
}

static void test_malformed(void **state)
{
	static const char *const rows[][2] = {
		{ "[build-system]\nrequires = \"a\"\n", "line 2: requires is not a list" },
		{ "[build-system]\nrequires = [1]\n", "line 2: requires holds" },
		{ "[build-system]\nrequires = [\n'a'\n'b']\n", "line 4: requires lacks a comma" },
		{ "[build-system]\nrequires = ['a'", "line 2: requires lacks a comma or its end" },
		{ "[build-system]\nrequires = ['a]\n", "line 2: a string is not closed" },
		{ "[build-system]\nrequires = [\"\"\"a\n]", "line 3: a string is not closed" },
		{ "[build-system]\nrequires = [\"\\u0041\"]", "line 2: a string holds an escape" },
		{ "[build-system]\nrequires = ['a']\nrequires = ['b']\n", "line 3: build-system.requires stands there twice" },
		{ "[build-system\nrequires = ['a']\n", "line 1: a table's name lacks" },
		{ "build-system = { requires = ['a'] }\n", "line 1: build-system is not written as a table" },
		{ "[build-system]\nrequires ['a']\n", "line 2: \"=\" is missing" },
		{ "= 1\n", "line 1: a key is missing" },
		{ "[build-system]\nrequires = ['a'] x\n", "line 2: something stands behind" },
		{ "<html>", "line 1: a key is missing" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_str_list_ struct str_list list = STR_LIST_INIT;
		_cleanup_err_ struct err err = { 0 };
		assert_int_equal(pyproject_requires(slice_of(rows[i][0]), &list, &err), -1);
		assert_int_equal(err.code, ERR_INPUT);
		if (!strstr(err.msg, rows[i][1]))
			fail_msg("row %zu: %s", i, err.msg);
	}
}

static void test_bytes_that_are_refused(void **state)
{
	static const char nul[] = "[build-system]\nrequires = ['a\0b']\n";
	static char deep[8000];
	_cleanup_str_list_ struct str_list list = STR_LIST_INIT;
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(pyproject_requires(SLICE(nul), &list, &err), -1);
	assert_string_equal(err.msg, "pyproject.toml: a NUL byte: this is no TOML");
	memset(deep, 'a', sizeof deep - 1);
	deep[0] = '[';
	assert_int_equal(pyproject_requires(slice_of(deep), &list, &err), -1);
	assert_non_null(strstr(err.msg, "line 1: a key is longer than 2000 bytes"));
}

static void test_dependencies(void **state)
{
	static const char *const rows[][2] = { /* the file; its dependencies joined by |, "-" where it does not tell */
		{ "[project]\nname = 'x'\ndependencies = [\"B_c>=1\", 'a', 'a']\n", "a|b-c>=1" },
		{ "[project]\nname = 'x'\n", "" },
		{ "[project]\nname = 'x'\ndynamic = ['version']\noptional-dependencies.y = ['no']\ndependencies = ['a']", "a" },
		{ "[project]\nname = 'x'\ndynamic = ['version', 'dependencies']\n", "-" },
		{ "[project]\nname = 'x'\ndependencies = ['a', \"b; extra == 'y'\"]\n", "a" },
		{ "[project.optional-dependencies]\ndependencies = ['no']\n", "-" },
		{ "[build-system]\nrequires = ['no']\n", "-" },
		{ "", "-" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_str_list_ struct str_list list = STR_LIST_INIT;
		_cleanup_err_ struct err err = { 0 };
		bool stated = false;
		if (pyproject_dependencies(slice_of(rows[i][0]), &list, &stated, &err) < 0)
			fail_msg("row %zu: %s", i, err.msg);
		_cleanup_free_ char *got = joined(&list);
		assert_string_equal(stated ? got ? got : "" : "-", rows[i][1]);
		assert_true(stated || !list.count);
	}
}

static void test_malformed_dependencies(void **state)
{
	static const char *const rows[][2] = {
		{ "[project]\nname = 'x'\ndependencies = 'a'\n", "line 3: dependencies is not a list" },
		{ "[project]\nname = 'x'\ndependencies = ['a b']\n", "pyproject.toml, project.dependencies: requirement \"a b\"" },
		{ "project = { name = 'x' }\n", "line 1: project is not written as a table [project]" },
		{ "[project]\nname = 'x'\nname = 'y'\n", "line 3: project.name stands there twice" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_str_list_ struct str_list list = STR_LIST_INIT;
		_cleanup_err_ struct err err = { 0 };
		bool stated;
		assert_int_equal(pyproject_dependencies(slice_of(rows[i][0]), &list, &stated, &err), -1);
		if (!strstr(err.msg, rows[i][1]))
			fail_msg("row %zu: %s", i, err.msg);
	}
}

static void test_pkginfo(void **state)
{
	static const char text[] =
		"Metadata-Version: 2.1\nName: a\nVersion: 1\nRequires-Dist: torch\n"
		"Requires-Dist: Einops>=0.3 ; python_version>='3.8'\nRequires-Dist: pytest; extra == 'test'\n"
		"requires-dist: torch\n\nRequires-Dist: body\n";
	_cleanup_str_list_ struct str_list list = STR_LIST_INIT;
	_cleanup_err_ struct err err = { 0 };
	if (pkginfo_requires(SLICE(text), &list, &err) < 0)
		fail_msg("%s", err.msg);
	_cleanup_free_ char *got = joined(&list);
	assert_string_equal(got, "einops>=0.3; python_version >= \"3.8\"|torch");
	assert_int_equal(pkginfo_requires(SLICE("Requires-Dist: a b\n"), &list, &err), -1);
	assert_non_null(strstr(err.msg, "PKG-INFO, Requires-Dist: requirement \"a b\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requires),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_bytes_that_are_refused),
		cmocka_unit_test(test_dependencies),
		cmocka_unit_test(test_malformed_dependencies),
		cmocka_unit_test(test_pkginfo),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
