/* Which proxy a URL goes by, as curl has it. */
#include "support/vectors.h"

#include "core/mem.h"
#include "fetch/git_proxy.h"

static int setup(void **state)
{
	static const char *const names[] = { "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy",
		"NO_PROXY", "HTTP_PROXY" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		unsetenv(names[i]);
	return 0;
}

static void check(const char *url, const char *want)
{
	_cleanup_free_ char *got = git_proxy_for(url);
	if (!want)
		assert_null(got);
	else
		assert_string_equal(got, want);
}

static void by_scheme(void **state)
{
	check("http://h/a", NULL);
	setenv("HTTP_PROXY", "http://no", 1);
	check("http://h/a", NULL);
	setenv("all_proxy", "http://all:1", 1);
	check("http://h/a", "http://all:1");
	check("https://h/a", "http://all:1");
	check("git://h/a", NULL);
	check("file:///a", NULL);
	setenv("http_proxy", "plain:3128", 1);
	setenv("HTTPS_PROXY", "http://u:p@secure", 1);
	check("http://h/a", "http://plain:3128");
	check("https://h/a", "http://u:p@secure");
	setenv("https_proxy", "http://lower", 1);
	check("https://h/a", "http://lower");
}

static void not_for_all_hosts(void **state)
{
	setenv("http_proxy", "http://p", 1);
	setenv("no_proxy", "a.example, .b.example,127.0.0.1", 1);
	check("http://a.example/x", NULL);
	check("http://u:p@c.A.example:80/x", NULL);
	check("http://b.example", NULL);
	check("http://x.b.example", NULL);
	check("http://127.0.0.1:9/x", NULL);
	check("http://ba.example/x", "http://p");
	check("http://h/a.example", "http://p");
	check("http://[::1]:80/x", "http://p");
	setenv("no_proxy", "*", 1);
	check("http://h", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(by_scheme, setup), cmocka_unit_test_setup(not_for_all_hosts, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
