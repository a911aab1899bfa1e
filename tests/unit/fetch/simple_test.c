#include "support/vectors.h"

#include "core/json.h"
#include "core/mem.h"
#include "fetch/simple.h"

static struct json *load(const char *file)
{
	size_t len;
	char *text = vectors_slurp(vectors_path(file), &len);
	struct err err = { 0 };
	struct json *j = json_parse((struct slice){ text, len }, 64u << 20, &err);
	free(text);
	if (!j)
		fail_msg("%s: %s", file, err.msg);
	return j;
}

/* Where a value may be null: equal or both none. */
static void same(const char *got, const char *want, const char *what, const char *which)
{
	if (!str_eq(got, want))
		fail_msg("%s of %s: got %s, wanted %s", what, which, got ? got : "none", want ? want : "none");
}

/* "+" may be written "%2B" (the vectors' README). */
static void same_url(const char *got, const char *want, const char *which)
{
	const char *g = got, *w = want;
	while (*g && *w) {
		bool gp = strncmp(g, "%2B", 3) == 0 || *g == '+', wp = strncmp(w, "%2B", 3) == 0 || *w == '+';
		if (gp != wp || (!gp && *g != *w))
			break;
		g += *g == '%' && gp ? 3 : 1;
		w += *w == '%' && wp ? 3 : 1;
	}
	if (*g || *w)
		fail_msg("url of %s: got %s, wanted %s", which, got, want);
}

static void check_file(const struct simple_file *got, const struct json *want)
{
	const char *name = json_get_str(want, "filename"), *hash = json_get_str(json_get(want, "hashes"), "sha256");
	const struct json *metadata = json_get(want, "core_metadata");
	same(got->filename, name, "filename", name);
	same_url(got->url, json_get_str(want, "url"), name);
	/* What is no SHA-256 is not handed on as one. */
	same(got->sha256, hash && strlen(hash) == 64 ? hash : NULL, "sha256", name);
	same(got->requires_python, json_get_str(want, "requires_python"), "requires_python", name);
	same(got->yanked, json_get_str(want, "yanked"), "yanked", name);
	same(got->upload_time, json_get_str(want, "upload_time"), "upload_time", name);
	assert_int_equal(got->size, json_get_int(want, "size", -1));
	assert_int_equal(got->core_metadata, json_kind(metadata) == JSON_OBJ || json_bool(metadata, false));
}

static void check_page(struct slice body, const char *type, const char *url, const struct json *want,
	const char *which)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	_cleanup_err_ struct err err = { 0 };
	struct simple_page page;
	/* An own copy of exactly that size, so that a read past the end is seen by the sanitizer. */
	_cleanup_free_ char *copy = mem_alloc(body.n ? body.n : 1);
	memcpy(copy, body.p, body.n);
	int rc = simple_parse((struct slice){ copy, body.n }, type, url, &a, &page, &err);
	if (json_get_bool(want, "refuse", false)) {
		assert_int_equal(rc, -1);
		assert_int_equal(err.code, ERR_INPUT);
		return;
	}
	if (rc < 0)
		fail_msg("%s: %s", which, err.msg);
	const struct json *files = json_get(want, "files");
	if (page.count != json_count(files))
		fail_msg("%s: %zu files, wanted %zu", which, page.count, json_count(files));
	for (size_t i = 0; i < page.count; i++)
		check_file(&page.files[i], json_at(files, i));
	const char *status = json_get_str(want, "status");
	same(page.status, status ? status : "active", "status", which);
	same(page.status_reason, json_get_str(want, "status_reason"), "status reason", which);
}

static void html_links(void **state)
{
	vectors_or_skip("index/html-links.json");
	_cleanup_json_ struct json *cases = load("index/html-links.json");
	assert_true(json_count(cases) > 20);
	for (size_t i = 0; i < json_count(cases); i++) {
		const struct json *c = json_at(cases, i);
		check_page(slice_of(json_get_str(c, "html")), "text/html", json_get_str(c, "page_url"),
			json_get(c, "expected"), json_get_str(c, "case"));
	}
}

/* JSON is read as such whatever the Content-Type says. */
static void json_pages(void **state)
{
	vectors_or_skip("index/json-pages.json");
	_cleanup_json_ struct json *cases = load("index/json-pages.json");
	assert_true(json_count(cases) >= 8);
	for (size_t i = 0; i < json_count(cases); i++) {
		const struct json *c = json_at(cases, i);
		_cleanup_buf_ struct buf text = BUF_INIT;
		json_write(json_get(c, "json"), 2, &text);
		struct slice body = { text.data, text.len };
		check_page(body, json_get_str(c, "content_type"), json_get_str(c, "page_url"),
			json_get(c, "expected"), json_get_str(c, "case"));
		check_page(body, "text/html", json_get_str(c, "page_url"), json_get(c, "expected"),
			json_get_str(c, "case"));
	}
}

static void pages(void **state)
{
	vectors_or_skip("index/pages-expected.json");
	_cleanup_json_ struct json *expected = load("index/pages-expected.json");
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	json_keys(expected, &names);
	assert_true(names.count >= 8);
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_free_ char *file = mem_printf("index/pages/%s", names.items[i]);
		_cleanup_free_ char *url = mem_printf("https://example.com/%s", names.items[i]);
		size_t len;
		_cleanup_free_ char *text = vectors_slurp(vectors_path(file), &len);
		check_page((struct slice){ text, len }, NULL, url, json_get(expected, names.items[i]), names.items[i]);
	}
}

/* One anchor's file, NULL where it gives none. */
static const char *one(struct arena *a, const char *html, struct simple_file *f)
{
	struct simple_page page;
	struct err err = { 0 };
	assert_int_equal(simple_parse(slice_of(html), NULL, "https://h/simple/p/", a, &page, &err), 0);
	if (!page.count)
		return NULL;
	*f = page.files[0];
	return f->filename;
}

/* What the vectors don't have: the corners of HTML that hide or forge a link. */
static void corners(void **state)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	struct simple_file f;
	static const struct { const char *html, *name; } cases[] = {
		{ "<!-- <a href='x-1.whl'> --><a href='y-1.whl'>", "y-1.whl" },
		{ "<!--><a href='y-1.whl'>", "y-1.whl" },
		{ "<script>\"<a href='x-1.whl'>\"</script ><a href=y-1.whl>", "y-1.whl" },
		{ "<title><a href='x-1.whl'></title><a href=y-1.whl>", "y-1.whl" },
		{ "<style><a href='x-1.whl'>", NULL },
		{ "<p title=\"<a href='x-1.whl'>\"><a href = 'y-1.whl' >", "y-1.whl" },
		{ "<a data-x='href=x-1.whl' href=y-1.whl>", "y-1.whl" },
		{ "<a href=y-1.whl href=x-1.whl>", "y-1.whl" },
		{ "<abbr href=x-1.whl>", NULL },
		{ "</a href=x-1.whl>", NULL },
		{ "<a href=y-1.whl/>", "y-1.whl" },
		{ "<a\nHREF\n=\n\"y&#45;1.whl\"\n>", "y-1.whl" },
		{ "<a href=\"y&#x2d;1.whl\">", "y-1.whl" },
		{ "<a href='%2e%2e%2fx'>", NULL },
		{ "<a href='x%00.whl'>", NULL },
		{ "<a href='x.whl", "x.whl" },
		{ "<a", NULL }, { "<", NULL }, { "<a href", NULL }, { "<!", NULL }, { "<!--", NULL }, { "</", NULL },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_cleanup_free_ char *html = mem_printf("<html>%s", cases[i].html);
		const char *got = one(&a, html, &f);
		same(got, cases[i].name, "name", cases[i].html);
	}
	assert_string_equal(one(&a, "<a href='a-1.whl#egg=a&sha256="
		"0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef'>", &f), "a-1.whl");
	assert_string_equal(f.sha256, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef");
	assert_string_equal(f.url, "https://h/simple/p/a-1.whl");
}

static void refuses(void **state)
{
	static const struct { const char *text, *part; } cases[] = {
		{ "", "neither HTML nor JSON" }, { "plain words", "neither HTML nor JSON" },
		{ "\x1f\x8b\x08", "neither HTML nor JSON" }, { "{\"meta\": {}}", "without a list of files" },
		{ "{\"files\": {}}", "without a list of files" }, { "{\"files\": [", "line 1" },
		{ "<meta name='pypi:repository-version' content='2.0'>", "version 2.0" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_cleanup_arena_ struct arena a = ARENA_INIT;
		_cleanup_err_ struct err err = { 0 };
		struct simple_page page;
		assert_int_equal(simple_parse(slice_of(cases[i].text), NULL, "https://h/", &a, &page, &err), -1);
		assert_int_equal(err.code, ERR_INPUT);
		if (!strstr(err.msg, cases[i].part))
			fail_msg("%s: %s", cases[i].text, err.msg);
	}
}

static void page_urls(void **state)
{
	static const char *const cases[][3] = {
		{ "https://h/simple/", "Flash_Attn", "https://h/simple/flash-attn/" },
		{ "https://h/simple", "a.-_B", "https://h/simple/a-b/" },
		{ "https://h/simple", "../../x", "https://h/simple/-/-/x/" },
	};
	for (size_t i = 0; i < 3; i++) {
		_cleanup_free_ char *url = simple_page_url(cases[i][0], cases[i][1]);
		assert_string_equal(url, cases[i][2]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(html_links), cmocka_unit_test(json_pages), cmocka_unit_test(pages),
		cmocka_unit_test(corners), cmocka_unit_test(refuses), cmocka_unit_test(page_urls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
