#include "support/vectors.h"

#include "core/mem.h"
#include "fetch/url.h"

static void check(char *got, const char *want)
{
	if (!want)
		assert_null(got);
	else
		assert_string_equal(got, want);
	free(got);
}

/* RFC 3986, 5.4: the examples that a reader of index pages can meet, normal and abnormal. */
static void joins(void **state)
{
	static const char *const cases[][2] = {
		{ "g", "http://a/b/c/g" }, { "./g", "http://a/b/c/g" }, { "g/", "http://a/b/c/g/" },
		{ "/g", "http://a/g" }, { "//g", "http://g" }, { "?y", "http://a/b/c/d;p?y" },
		{ "g?y", "http://a/b/c/g?y" }, { "#s", "http://a/b/c/d;p?q#s" }, { "g#s", "http://a/b/c/g#s" },
		{ ";x", "http://a/b/c/;x" }, { "", "http://a/b/c/d;p?q" }, { ".", "http://a/b/c/" },
		{ "./", "http://a/b/c/" }, { "..", "http://a/b/" }, { "../", "http://a/b/" },
		{ "../g", "http://a/b/g" }, { "../..", "http://a/" }, { "../../", "http://a/" },
		{ "../../g", "http://a/g" }, { "../../../g", "http://a/g" }, { "../../../../g", "http://a/g" },
		{ "/./g", "http://a/g" }, { "/../g", "http://a/g" }, { "g.", "http://a/b/c/g." },
		{ "..g", "http://a/b/c/..g" }, { "./../g", "http://a/b/g" }, { "./g/.", "http://a/b/c/g/" },
		{ "g/./h", "http://a/b/c/g/h" }, { "g/../h", "http://a/b/c/h" },
		{ "g;x=1/../y", "http://a/b/c/y" }, { "g?y/../x", "http://a/b/c/g?y/../x" },
		{ "http://b/x", "http://b/x" }, { "  g \n", "http://a/b/c/g" }, { "a b", "http://a/b/c/a%20b" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check(url_join("http://a/b/c/d;p?q", cases[i][0]), cases[i][1]);
	check(url_join("https://user:pw@a/simple/x/", "../../f.whl"), "https://user:pw@a/f.whl");
	check(url_join("http://a", "g"), "http://a/g");
	check(url_join("file:///srv/simple/x/", "../../f.whl"), "file:///srv/f.whl");
}

static void redacts(void **state)
{
	check(url_redact("https://user:p@ss@h/x"), "https://h/x");
	check(url_redact("https://h/x?a@b"), "https://h/x?a@b");
	check(url_hint("https://user:pw@h/a/b.whl?token=1#f"), "/a/b.whl");
	check(url_hint("https://h"), "/");
}

static void lends_user(void **state)
{
	const char *index = "https://user:pw@h:8/simple/";
	check(url_lend_user("https://h:8/f.whl", index), "https://user:pw@h:8/f.whl");
	check(url_lend_user("https://me@h:8/f.whl", index), "https://me@h:8/f.whl");
	check(url_lend_user("https://h/f.whl", index), "https://h/f.whl");
	check(url_lend_user("http://h:8/f.whl", index), "http://h:8/f.whl");
	check(url_lend_user("https://files/f.whl", index), "https://files/f.whl");
	check(url_lend_user("https://h:8/f.whl", "https://h:8/simple/"), "https://h:8/f.whl");
}

static void local_paths(void **state)
{
	check(url_local_path("file:///a/b%20c"), "/a/b c");
	check(url_local_path("file://localhost/a"), "/a");
	check(url_local_path("FILE:/a"), "/a");
	check(url_local_path("file://elsewhere/a"), NULL);
	check(url_local_path("file:relative"), NULL);
	check(url_local_path("file:///a%00b"), NULL);
	assert_true(url_has_scheme("HTTPS://x", "https"));
	assert_false(url_has_scheme("httpsx://x", "https"));
	assert_false(url_has_scheme("/http:", "http"));
}

/* A file name is never a path; where pip makes one of it all the same, we refuse. */
static void file_names(void **state)
{
	vectors_or_skip("index/url-filenames.tsv");
	struct vectors v = vectors_load("index/url-filenames.tsv");
	for (size_t i = 0; i < v.count; i++) {
		const char *note = vectors_text(&v, i, "note");
		_cleanup_free_ char *got = url_file_name(vectors_text(&v, i, "url"));
		if (note && strstr(note, "forge may refuse"))
			assert_null(got);
		else
			assert_string_equal(got, vectors_text(&v, i, "filename"));
	}
	vectors_free(&v);
}

static void quoting(void **state)
{
	vectors_or_skip("index/url-quoting.tsv");
	struct vectors v = vectors_load("index/url-quoting.tsv");
	for (size_t i = 0; i < v.count; i++) {
		const char *input = vectors_text(&v, i, "input");
		bool path = strcmp(vectors_text(&v, i, "kind"), "path") == 0;
		check(path ? url_quote_path(input) : url_join("http://base/", input), vectors_text(&v, i, "quoted"));
	}
	vectors_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(joins), cmocka_unit_test(redacts), cmocka_unit_test(lends_user),
		cmocka_unit_test(local_paths), cmocka_unit_test(file_names), cmocka_unit_test(quoting),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
