/* Several places for one thing, several jobs at once, being offline, and files of this machine. */
#include "fixture.h"

#define BIG (2 << 20)

static const char script[] =
	"{\"/down\": [{\"status\": 503}],"
	" \"/down-once\": [{\"status\": 503}, {}],"
	" \"/wrong\": [{\"body\": \"other bytes\"}],"
	" \"/half\": [{\"close_after\": 1500000}],"
	" \"/half-small\": [{\"close_after\": 1000}],"
	" \"/slow\": [{\"delay\": 0.2, \"body\": \"slow\"}]}";

static struct fixture fx;
static char *big;
static struct hash big_hash;

static int setup_all(void **state)
{
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	fixture_open(&fx);
	big = fixture_bytes(BIG);
	hash_of(big, BIG, &big_hash);
	static const char *const names[] = { "big", "down-once", "half", "half-small", "pages/p/index.html" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		fixture_file(&fx, names[i], big, BIG);
	fixture_serve(&fx, script);
	return 0;
}

static int teardown_all(void **state)
{
	fixture_close(&fx);
	free(big);
	return 0;
}

static int setup(void **state)
{
	fixture_fetcher(&fx, NULL);
	return 0;
}

static int teardown(void **state)
{
	fixture_no_fetcher(&fx);
	return 0;
}

static struct result fetch_from(const char *const *urls, size_t count)
{
	struct result r = { .fd = fixture_output(&fx) };
	struct err err = { 0 };
	struct fetch_request q = {
		.urls = urls, .url_count = count, .fd = r.fd, .sha256 = &big_hash, .size = BIG, .label = "thing",
		.done = fixture_done, .ctx = &r,
	};
	if (!fetch_start(fx.fetcher, &q, &err))
		fail_msg("%s", err.msg);
	fixture_wait(&fx, &r);
	return r;
}

static void other_places(void **state)
{
	const char *urls[] = {
		fixture_url(&fx, "/none"), fixture_url(&fx, "/wrong"), fixture_url(&fx, "/half-small"),
		"file:///no/such/file", fixture_url(&fx, "/big"),
	};
	struct result r = fetch_from(urls, 5);
	assert_came(&r, big, BIG);
	assert_string_equal(r.url, urls[4]);
	assert_int_equal(httpd_asked(&fx.server, "/half-small"), 1); /* no second try while others are untried */
	assert_null(strstr(httpd_line(&fx.server, "/big", 0), "\"range\"")); /* another place's bytes are not built on */
	result_free(&r);
}

/* What is ruled out is not asked again; what may come round is, after all others. */
static void rounds(void **state)
{
	int none = httpd_asked(&fx.server, "/none2");
	const char *urls[] = { fixture_url(&fx, "/none2"), fixture_url(&fx, "/down-once") };
	struct result r = fetch_from(urls, 2);
	assert_came(&r, big, BIG);
	assert_int_equal(httpd_asked(&fx.server, "/none2") - none, 1);
	result_free(&r);
}

/* Each place's reason in one line; a wrong hash decides the status. */
static void all_fail(void **state)
{
	const char *urls[] = { fixture_url(&fx, "/wrong"), fixture_url(&fx, "/down"), fixture_url(&fx, "/none") };
	struct result r = fetch_from(urls, 3);
	assert_failed(&r, ERR_HASH, "thing: wanted sha256 ");
	assert_failed(&r, ERR_HASH, "(/wrong); the server answered 503 (/down); the server answered 404 (/none)");
	result_free(&r);
}

/* A server that always breaks off late still gives all of it in the end: progress is no failed try. */
static void goes_on(void **state)
{
	const char *urls[] = { fixture_url(&fx, "/half") };
	struct result r = fetch_from(urls, 1);
	assert_came(&r, big, BIG);
	assert_int_equal(httpd_asked(&fx.server, "/half"), 2);
	result_free(&r);
}

static void waits_grow(void **state)
{
	fixture_no_fetcher(&fx);
	fixture_fetcher(&fx, &(struct fetch_config){ .tries = 4, .backoff_ms = 50 });
	const char *urls[] = { fixture_url(&fx, "/down") };
	int before = httpd_asked(&fx.server, "/down");
	int64_t start = loop_now();
	struct result r = fetch_from(urls, 1);
	assert_failed(&r, ERR_FAIL, "503");
	assert_int_equal(httpd_asked(&fx.server, "/down") - before, 4);
	assert_true(loop_now() - start >= 50 + 100 + 200);
	result_free(&r);
}

static void limit_of_parallel(void **state)
{
	fixture_no_fetcher(&fx);
	fixture_fetcher(&fx, &(struct fetch_config){ .parallel = 2 });
	struct result r[6] = { 0 };
	const char *urls[] = { fixture_url(&fx, "/slow") };
	int64_t start = loop_now();
	for (size_t i = 0; i < 6; i++) {
		r[i].fd = -1;
		struct err err = { 0 };
		struct fetch_request q = {
			.urls = urls, .url_count = 1, .fd = -1, .size = -1, .done = fixture_done, .ctx = &r[i],
		};
		assert_non_null(fetch_start(fx.fetcher, &q, &err));
	}
	for (size_t i = 0; i < 6; i++) {
		fixture_wait(&fx, &r[i]);
		assert_came(&r[i], "slow", 4);
		result_free(&r[i]);
	}
	assert_true(loop_now() - start >= 600); /* three pairs of 0.2 s */
}

static void refuses_at_once(void **state)
{
	static const struct { const char *url, *part; } cases[] = {
		{ "ftp://127.0.0.1/x", "only http, https and file" }, { "/etc/passwd", "only http, https and file" },
		{ "http://127.0.0.1/a b", "space or control" }, { "http://127.0.0.1/a\r\nHost: x", "space or control" },
		{ "gopher://user:secret@h/x", "not gopher://h/x" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct result r = { .fd = -1 };
		struct fetch_request q = {
			.urls = &cases[i].url, .url_count = 1, .fd = -1, .size = -1, .label = "thing", .done = fixture_done,
			.ctx = &r,
		};
		assert_null(fetch_start(fx.fetcher, &q, &err));
		if (!strstr(err.msg, cases[i].part) || !str_starts(err.msg, "thing: ") || strstr(err.msg, "secret"))
			fail_msg("%s", err.msg);
	}
}

static void offline(void **state)
{
	fixture_no_fetcher(&fx);
	fixture_fetcher(&fx, &(struct fetch_config){ .offline = true });
	_cleanup_free_ char *local = mem_printf("file://%s/root/big", fx.dir.path);
	const char *urls[] = { fixture_url(&fx, "/big"), local };
	int before = httpd_asked(&fx.server, "/big");
	struct result r = fetch_from(urls, 2);
	assert_came(&r, big, BIG);
	result_free(&r);
	_cleanup_err_ struct err err = { 0 };
	struct fetch_request q = {
		.urls = urls, .url_count = 1, .fd = -1, .size = -1, .label = "thing", .done = fixture_done, .ctx = &r,
	};
	assert_null(fetch_start(fx.fetcher, &q, &err));
	assert_string_equal(err.msg, "thing: offline, so nothing is fetched over the network (/big)");
	assert_int_equal(httpd_asked(&fx.server, "/big"), before);
}

static void local_files(void **state)
{
	_cleanup_free_ char *folder = mem_printf("file://%s/root/pages/p/", fx.dir.path);
	_cleanup_free_ char *empty = mem_printf("file://%s/root/pages/", fx.dir.path);
	const char *urls[] = { folder };
	struct result r = fetch_from(urls, 1); /* an index on disk: the folder's page */
	assert_came(&r, big, BIG);
	assert_string_equal(r.url, folder);
	result_free(&r);
	static const char *const parts[] = { "is not a file", "No such file", "is not a file", "has the form" };
	const char *bad[] = { empty, "file:///no/such", "file:///dev/zero", "file://elsewhere/x" };
	for (size_t i = 0; i < 4; i++) {
		r = fetch_from(&bad[i], 1);
		assert_int_equal(r.rc, -1);
		if (!strstr(r.err.msg, parts[i]))
			fail_msg("%s", r.err.msg);
		result_free(&r);
	}
}

/* Freed while one transfer runs, one waits for its turn, one waits to try again: nobody is called. */
static void freed_early(void **state)
{
	const char *urls[][1] = { { fixture_url(&fx, "/slow") }, { fixture_url(&fx, "/down") } };
	struct result r[20] = { 0 };
	struct err err = { 0 };
	for (size_t i = 0; i < 20; i++) {
		struct fetch_request q = {
			.urls = urls[i % 2], .url_count = 1, .fd = -1, .size = -1, .done = fixture_done, .ctx = &r[i],
		};
		assert_non_null(fetch_start(fx.fetcher, &q, &err));
	}
	for (int i = 0; i < 10; i++)
		assert_int_equal(loop_once(fx.loop, 10, &err), 0);
	fetcher_free(fx.fetcher);
	int told = 0;
	for (size_t i = 0; i < 20; i++)
		told += r[i].times;
	assert_int_equal(loop_once(fx.loop, 50, &err), 0);
	for (size_t i = 0; i < 20; i++) {
		told -= r[i].times;
		result_free(&r[i]);
	}
	assert_int_equal(told, 0);
	fx.fetcher = NULL;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(other_places), T(rounds), T(all_fail), T(goes_on), T(waits_grow), T(limit_of_parallel),
		T(refuses_at_once), T(offline), T(local_files), T(freed_early),
	};
	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
