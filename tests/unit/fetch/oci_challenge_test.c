/* WWW-Authenticate headers, the URLs that come of them, and tokens. */
#include "support/vectors.h"

#include "core/mem.h"
#include "fetch/oci_challenge.h"

#define NONE "-"

static void test_taken(void **state)
{
	static const struct { const char *text, *realm, *service, *scope; } rows[] = {
		{ "Bearer realm=\"https://a/t\",service=\"s\",scope=\"repository:a/b:pull\"", "https://a/t", "s", "repository:a/b:pull" },
		{ "bearer\tRealm = https, SERVICE=s", "https", "s", NULL },
		{ "Bearer realm=\"a,b\\\"c\\\\\" , error=\"invalid_token\"", "a,b\"c\\", NULL, NULL },
		{ "Basic realm=\"x\", charset=\"UTF-8\", Bearer scope=\"\",realm=\"r\"", "r", NULL, "" },
		{ "Bearer realm=r,Basic realm=x,service=y", "r", NULL, NULL },
		{ "Bearer realm=r,Bearer realm=q", "r", NULL, NULL },
		{ "Negotiate, NTLM, Bearer realm=r", "r", NULL, NULL },
		{ "Negotiate YII+/==, Bearer realm=r", "r", NULL, NULL },
		{ " , ,Bearer realm=r,, ,", "r", NULL, NULL },
		{ "Bearer", NULL, NULL, NULL },
		{ "Bearer abc==", NULL, NULL, NULL },
		{ "Bearer realm=", NULL, NULL, NULL }, /* such a word, as the grammar has it */
		{ "Basic realm=x", NONE, NULL, NULL },
		{ "Bearers realm=x", NONE, NULL, NULL },
		{ "", NONE, NULL, NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_oci_challenge_ struct oci_challenge c = { 0 };
		_cleanup_err_ struct err err = { 0 };
		if (oci_challenge_parse(slice_of(rows[i].text), &c, &err) < 0)
			fail_msg("%s: %s", rows[i].text, err.msg);
		bool none = str_eq(rows[i].realm, NONE);
		if (c.bearer == none || (!none && !str_eq(c.realm, rows[i].realm)) || !str_eq(c.service, rows[i].service) ||
		    !str_eq(c.scope, rows[i].scope))
			fail_msg("%s: %s %s %s", rows[i].text, c.realm, c.service, c.scope);
		assert_int_equal(c.basic, strstr(rows[i].text, "Basic") != NULL);
	}
}

static void test_refused(void **state)
{
	static const char *const rows[] = {
		"=", "Bearer realm=\"x", "Bearer realm=\"x\\", "Bearer realm=r,realm=q", "Bearer realm=\"a\nb\"",
		"\"", "Bearer realm=r;x", "Bearer scope=a,scope=a", "B\x80", "(",
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_oci_challenge_ struct oci_challenge c = { 0 };
		_cleanup_err_ struct err err = { 0 };
		if (oci_challenge_parse(slice_of(rows[i]), &c, &err) == 0)
			fail_msg("%s was taken", rows[i]);
		assert_int_equal(err.code, ERR_INPUT);
	}
}

static void url_is(const char *realm, const char *service, const char *scope, bool tls, const char *want)
{
	const struct oci_challenge c = { true, false, (char *)realm, (char *)service, (char *)scope };
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *got = oci_challenge_url(&c, tls, &err);
	if (!str_eq(got, want))
		fail_msg("%s: %s, not %s", realm, got ? got : err.msg, want ? want : "an error");
}

static void test_urls(void **state)
{
	url_is("https://a/t", NULL, NULL, true, "https://a/t");
	url_is("https://a/t", "a b&c=d", "repository:x/y:pull,push", true,
		"https://a/t?service=a%20b%26c%3Dd&scope=repository%3Ax%2Fy%3Apull%2Cpush");
	url_is("https://a/t?account=x", NULL, "\xc3\xa4", true, "https://a/t?account=x&scope=%C3%A4");
	url_is("http://a/t", NULL, NULL, false, "http://a/t");
	url_is("https://a/t", NULL, NULL, false, "https://a/t");
	url_is("http://a/t", NULL, NULL, true, NULL); /* what comes by https sends nobody to http */
	url_is("file:///etc/passwd", NULL, NULL, false, NULL);
	url_is("ftp://a/t", NULL, NULL, false, NULL);
	url_is("/t", NULL, NULL, false, NULL);
	url_is("https://a/t#x", NULL, NULL, true, NULL);
	url_is("https://a/t x", NULL, NULL, true, NULL);
	url_is(NULL, "s", NULL, false, NULL);
}

static void test_tokens(void **state)
{
	static const char *const rows[][2] = {
		{ "{\"token\":\"a.b-c\"}", "a.b-c" }, { "{\"access_token\":\"x\",\"expires_in\":3}", "x" },
		{ "{\"token\":\"a\",\"access_token\":\"b\"}", "a" }, { "{\"token\":null,\"access_token\":\"b\"}", "b" },
		{ "{\"token\":\"\"}", NULL }, { "{\"token\":\"a b\"}", NULL }, { "{\"token\":\"a\\r\\nHost: x\"}", NULL },
		{ "{\"token\":\"\\u00e4\"}", NULL }, { "{\"token\":\"a\\u0000b\"}", NULL }, { "{\"token\":[\"a\"]}", NULL },
		{ "{}", NULL }, { "[]", NULL }, { "token", NULL }, { "", NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_free_ char *got = oci_token_parse(slice_of(rows[i][0]), &err);
		if (!str_eq(got, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], got ? got : err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken), cmocka_unit_test(test_refused), cmocka_unit_test(test_urls),
		cmocka_unit_test(test_tokens),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
