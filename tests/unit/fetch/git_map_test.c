/* The mirror map, which URLs are taken, and the URLs of submodules. */
#include "support/vectors.h"

#include "core/mem.h"
#include "fetch/git_map.h"

static struct err err;

static void check(char *got, const char *want)
{
	if (want && !got)
		fail_msg("%s, not %s", err.msg, want);
	if (!want)
		assert_null(got);
	else
		assert_string_equal(got, want);
	free(got);
	err_clear(&err);
}

static void longest_prefix(void **state)
{
	_cleanup_mirror_map_ struct mirror_map m = MIRROR_MAP_INIT(MIRROR_GIT);
	assert_int_equal(mirror_map_words(&m, slice_of(" https://h/=file:///all/\n\thttps://h/a=file:///a https://h/a=file:///second "
		"git@h:=https://ssh.example/ x=http://q/?a=b"), &err), 0);
	assert_int_equal(mirror_map_conf(&m, slice_of("# a comment\n\n git-mirror\t=  https://h/a/b   git://c/d \r\noci-mirror = https://h/x q\n"), "f", &err), 0);
	assert_int_equal(m.list.count, 6);
	check(git_map_apply(&m, "https://h/x/y", &err), "file:///all/x/y");
	check(git_map_apply(&m, "https://h/a", &err), "file:///a");
	check(git_map_apply(&m, "https://h/a/x", &err), "file:///a/x");
	check(git_map_apply(&m, "https://h/ab", &err), "file:///all/ab");
	check(git_map_apply(&m, "https://h/a/b/c", &err), "git://c/d/c");
	check(git_map_apply(&m, "git@h:a/b", &err), "https://ssh.example/a/b");
	check(git_map_apply(&m, "https://hh/x", &err), "https://hh/x");
}

static void malformed(void **state)
{
	static const char *const words[] = { "x", "=x", "x=", "a=b c" };
	static const char *const confs[][2] = {
		{ "git-mirror", "f:1: write key = value" }, { "\n\ngit-mirror = a", "f:3: write git-mirror = PREFIX URL" },
		{ "git-mirror = a b c", "f:1: write git-mirror" }, { "x = y", "f:1: there is no key \"x\"" },
	};
	_cleanup_mirror_map_ struct mirror_map m = MIRROR_MAP_INIT(MIRROR_GIT);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		assert_int_equal(mirror_map_words(&m, slice_of(words[i]), &err), -1);
		assert_non_null(strstr(err.msg, "$FORGE_GIT_MIRROR: write PREFIX=URL"));
	}
	for (size_t i = 0; i < sizeof confs / sizeof *confs; i++) {
		assert_int_equal(mirror_map_conf(&m, slice_of(confs[i][0]), "f", &err), -1);
		if (!strstr(err.msg, confs[i][1]))
			fail_msg("%s", err.msg);
	}
	assert_int_equal(mirror_map_conf(&m, (struct slice){ "#\0", 2 }, "f", &err), -1);
	err_clear(&err);
}

static void taken(void **state)
{
	static const char *const good[] = { "http://h/a", "https://u:p@h/a", "git://h/a", "file:///a" };
	static const char *const bad[] = {
		"", "ssh://h/a", "git@h:a", "ext::sh", "/a", "a", "-a", "--upload-pack=x", "http:/h", "HTTP://h", "https://h/a b",
		"https://h/a\nb", "file:/a", "git+ssh://h/a", "httpsx://h",
	};
	const struct mirror_map m = MIRROR_MAP_INIT(MIRROR_GIT);
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		check(git_map_apply(&m, good[i], &err), good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		check(git_map_apply(&m, bad[i], &err), NULL);
	assert_null(git_map_apply(&m, "ssh://u:secret@h/a", &err));
	assert_null(strstr(err.msg, "secret"));
	err_clear(&err);
}

static void submodules(void **state)
{
	static const char *const cases[][3] = {
		{ "https://h/a/b.git", "../c.git", "https://h/a/c.git" }, { "https://h/a/b/", "../c", "https://h/a/c" },
		{ "https://h/a/b", "./c", "https://h/a/b/c" }, { "https://h/a/b", "../../c/d", "https://h/c/d" },
		{ "https://h/a/b", "../.././../c", NULL }, { "https://h/a/b", "../../../c", NULL }, { "https://h", "../c", NULL },
		{ "file:///a/b", "../../../c", NULL }, { "file:///a/b", "../c", "file:///a/c" }, { "git@h:a/b", "../c", "git@h:a/c" },
		{ "file:///a", "file:///b", "file:///b" }, { "https://h/a", "file:///b", NULL },
		{ "https://h/a", "https://i/b", "https://i/b" }, { "https://h/a", "-x", NULL }, { "https://h/a", "", NULL },
		{ "https://h/a", "../b c", NULL }, { "https://h/a", "ext::sh", "ext::sh" /* git_map_apply refuses it */ },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(git_module_url(cases[i][0], cases[i][1], &err), cases[i][2]);
}

static void names(void **state)
{
	check(git_url_name("https://h/a/cutlass.git/"), "cutlass");
	check(git_url_name("git@h:cutlass"), "cutlass");
	check(git_url_name("https://h/a.b"), "a.b");
	check(git_url_name("/"), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_prefix), cmocka_unit_test(malformed), cmocka_unit_test(taken),
		cmocka_unit_test(submodules), cmocka_unit_test(names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
