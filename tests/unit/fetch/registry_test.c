#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>

#include "core/fs.h"
#include "core/mem.h"
#include "fetch/registry.h"
#include "fetch/registry_files.h"
#include "support/tempdir.h"

static const char *const variables[] = {
	"FORGE_INDEX", "UV_DEFAULT_INDEX", "PIP_INDEX_URL", "PIP_CONFIG_FILE", "VIRTUAL_ENV", "XDG_CONFIG_HOME",
	"FORGE_DEBIAN_MIRROR", "FORGE_DEBIAN_CHECK_VALID_UNTIL",
};

static int clear(void **state)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	return 0;
}

static void is_index(const char *option, const char *url, const char *source)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *from = NULL, *got = registry_index_from(option, &from, &err);
	if (!got)
		fail_msg("%s", err.msg);
	assert_string_equal(got, url);
	assert_string_equal(from, source);
}

static void write_file(const struct tempdir *t, const char *path, const char *text)
{
	_cleanup_free_ char *folder = mem_dup(path);
	struct err err = { 0 };
	*strrchr(folder, '/') = '\0';
	assert_int_equal(fs_mkdirs_beneath(t->fd, folder, 0755, &err), 0);
	assert_int_equal(fs_write_file(t->fd, path, text, strlen(text), 0644, &err), 0);
}

/* Weakest first, each beats all before it (DESIGN 6). */
static void order_of_indexes(void **state)
{
	struct tempdir t = tempdir_make();
	_cleanup_free_ char *home = fs_join(t.path, "home"), *venv = fs_join(t.path, "venv");
	_cleanup_free_ char *own = fs_join(t.path, "own/pip.conf"), *old = fs_join(home, ".pip/pip.conf");
	_cleanup_free_ char *user = fs_join(home, ".config/pip/pip.conf"), *env = fs_join(venv, "pip.conf");
	setenv("HOME", home, 1);
	write_file(&t, "home/.pip/pip.conf", "[global]\nindex-url = http://old.example/simple\n");
	is_index(NULL, "http://old.example/simple/", old);
	write_file(&t, "home/.config/pip/pip.conf", "[global]\nindex-url = http://user.example/simple/\n");
	is_index(NULL, "http://user.example/simple/", user);
	write_file(&t, "venv/pip.conf", "[global]\ntimeout = 3\nindex_url=http://venv.example/\n");
	setenv("VIRTUAL_ENV", venv, 1);
	is_index(NULL, "http://venv.example/", env);
	write_file(&t, "own/pip.conf", "[install]\nindex-url: http://own.example/a\n");
	setenv("PIP_CONFIG_FILE", own, 1);
	is_index(NULL, "http://own.example/a/", own);
	setenv("PIP_INDEX_URL", " http://pip.example ", 1);
	is_index(NULL, "http://pip.example/", "$PIP_INDEX_URL");
	setenv("UV_DEFAULT_INDEX", "http://user:pw@uv.example/", 1);
	is_index(NULL, "http://user:pw@uv.example/", "$UV_DEFAULT_INDEX");
	setenv("FORGE_INDEX", "file:///srv/index", 1);
	is_index(NULL, "file:///srv/index/", "$FORGE_INDEX");
	is_index("http://option.example/x", "http://option.example/x/", "--index");
	setenv("FORGE_INDEX", "", 1); /* set to nothing is not set */
	is_index(NULL, "http://user:pw@uv.example/", "$UV_DEFAULT_INDEX");
	tempdir_remove(&t);
}

static void bad_index(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	setenv("FORGE_INDEX", "user:secret@index.example", 1);
	assert_null(registry_index(NULL, &err));
	assert_non_null(strstr(err.msg, "$FORGE_INDEX"));
	assert_null(strstr(err.msg, "secret"));
}

static void pip_text(void **state)
{
	static const char *const cases[][2] = {
		{ "[global]\nindex-url = http://a/\n", "http://a/" },
		{ "[global]\r\nindex-url=http://a/\r\n", "http://a/" },
		{ "[global]\nindex-url =\n    http://a/\n    \n", "http://a/" },
		{ "[install]\nindex-url = http://b/\n[global]\nindex-url = http://a/\n", "http://b/" },
		{ "# index-url = http://x/\n[global]\n; index-url = http://x/\nINDEX-URL = http://a/", "http://a/" },
		{ "[freeze]\nindex-url = http://x/\n", NULL },
		{ "[global]\nextra-index-url = http://x/\n", NULL },
		{ "[global]\nextra-index-url = http://x/\n    index-url = http://y/\n", NULL },
		{ "index-url = http://x/", NULL }, { "[global]\nindex-url =\n", NULL }, { "[", NULL }, { "", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_cleanup_free_ char *got = registry_pip_text((struct slice){ cases[i][0], strlen(cases[i][0]) });
		if (!str_eq(got, cases[i][1]))
			fail_msg("%s gave %s", cases[i][0], got ? got : "nothing");
	}
}

static const char one_line[] =
	"# a comment\n"
	"deb [signed-by=/usr/share/keyrings/x.gpg arch=amd64] http://a.example/debian trixie main contrib\n"
	"deb-src http://src.example/debian trixie main\n"
	"deb http://sec.example/debian-security trixie-security main\n"
	"deb http://flat.example/ ./\n"
	"deb http://other.example/apt stable stable # no main\n"
	"\tdeb\thttps://b.example/debian/  trixie\tmain # yes\n"
	"#deb http://c.example/debian trixie main\n";

static const char deb822[] =
	"# a comment\n"
	"Types: deb deb-src\nURIs: http://d.example/debian\n http://e.example/debian\nSuites: trixie trixie-updates\n"
	"# between\nComponents: main\nSigned-By: /x\n\n"
	"Types: deb\nURIs: http://sec.example/debian-security\nSuites: trixie-security\nComponents: main\n\n"
	"Enabled: no\nTypes: deb\nURIs: http://off.example/debian\nSuites: trixie\nComponents: main\n\n"
	"Types: deb-src\nURIs: http://src.example/debian\nSuites: trixie\nComponents: main\n\n"
	"types: deb\nuris: http://f.example/debian\nsuites: trixie\ncomponents: main";

static void apt_sources(void **state)
{
	struct tempdir t = tempdir_make();
	static const char *const want[] = {
		"http://a.example/debian", "https://b.example/debian/", "http://d.example/debian",
		"http://e.example/debian", "http://f.example/debian", "http://sec.example/debian-security",
		"http://sec.example/debian-security",
	};
	_cleanup_str_list_ struct str_list got = STR_LIST_INIT;
	write_file(&t, "apt/sources.list", one_line);
	write_file(&t, "apt/sources.list.d/debian.sources", deb822);
	write_file(&t, "apt/sources.list.d/off.sources.disabled", "Types: deb\nURIs: http://x\nSuites: s\nComponents: main\n");
	_cleanup_free_ char *etc = fs_join(t.path, "apt"), *none = fs_join(t.path, "none");
	registry_apt_sources(none, &got);
	assert_int_equal(got.count, 0);
	registry_apt_sources(etc, &got);
	assert_int_equal(got.count, sizeof want / sizeof *want);
	for (size_t i = 0; i < got.count; i++)
		assert_string_equal(got.items[i], want[i]);
	tempdir_remove(&t);
}

static void debian_variable(void **state)
{
	_cleanup_str_list_ struct str_list got = STR_LIST_INIT;
	_cleanup_err_ struct err err = { 0 };
	setenv("FORGE_DEBIAN_MIRROR", " http://a.example/debian\n file:///srv/debian/ http://a.example/debian/", 1);
	assert_int_equal(registry_debian(&got, &err), 0);
	assert_int_equal(got.count, 2);
	assert_string_equal(got.items[0], "http://a.example/debian/");
	assert_string_equal(got.items[1], "file:///srv/debian/");
	setenv("FORGE_DEBIAN_MIRROR", "a.example", 1);
	str_list_free(&got);
	got = (struct str_list)STR_LIST_INIT;
	assert_int_equal(registry_debian(&got, &err), -1);
	assert_non_null(strstr(err.msg, "FORGE_DEBIAN_MIRROR"));
}

static void apt_option(void **state)
{
	static const char *const rows[][2] = { /* text, and the value of A::B-c */
		{ "A::B-c \"x y\";", "x y" }, { "a::b-C x;", "x" }, { "A { B-c \"x\"; };", "x" },
		{ "A { D { B-c 1; }; B-c \"2\"; E 3; };", "2" }, { "A::B-c 1;\nA::B-c 2;\n", "2" },
		{ "// A::B-c 1;\n# A::B-c 1;\n/* A::B-c 1; */ #clear A;\nA /* b */ { B-c x; // 1\n};", "x" },
		{ "A::B-c \"// 1\"; /* open", "// 1" }, { "A::B-c \"\";", "\"\"" },
		{ "A::B-cd x; B-c y; A::B { c z; };", NULL }, { "A::B-c { x; };", NULL }, { "A::B-c x", NULL },
		{ "} A::B-c x;", NULL }, { "", NULL }, { "\"", NULL }, { "A { B-c \"x;\n", NULL },
		{ "{{{{{{{{{{{{{{{{{{ A::B-c x;", NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_free_ char *got = registry_apt_conf_text(slice_of(rows[i][0]), "A::B-c");
		if (!str_eq(got, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], got ? got : "(none)");
	}
}

/* apt.conf comes after its parts, and those in the order of their names; others don't count. */
static void apt_files(void **state)
{
	struct tempdir t = tempdir_make();
	assert_null(registry_apt_conf(t.path, "A"));
	write_file(&t, "apt.conf.d/10x", "A one;");
	write_file(&t, "apt.conf.d/20x.conf", "A two;");
	write_file(&t, "apt.conf.d/30x.old", "A three;");
	_cleanup_free_ char *parts = registry_apt_conf(t.path, "A");
	assert_string_equal(parts, "two");
	write_file(&t, "./apt.conf", "B 1; A four;");
	_cleanup_free_ char *all = registry_apt_conf(t.path, "A");
	assert_string_equal(all, "four");
	tempdir_remove(&t);
}

static void debian_dates(void **state)
{
	setenv("FORGE_DEBIAN_MIRROR", "http://127.0.0.1:9/", 1);
	assert_true(registry_debian_expires()); /* whatever apt is told of its own mirrors */
	setenv("FORGE_DEBIAN_CHECK_VALID_UNTIL", "No", 1);
	assert_false(registry_debian_expires());
	setenv("FORGE_DEBIAN_CHECK_VALID_UNTIL", "yes", 1);
	unsetenv("FORGE_DEBIAN_MIRROR");
	assert_true(registry_debian_expires());
}

int main(void)
{
#define T(f) cmocka_unit_test_setup(f, clear)
	const struct CMUnitTest tests[] = {
		T(order_of_indexes), T(bad_index), T(pip_text), T(apt_sources), T(debian_variable), T(apt_option),
		T(apt_files), T(debian_dates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
