/* One transfer against a server that behaves, misbehaves, and comes round. */
#include "fixture.h"

#define BIG (3 << 20)

static const char script[] =
	"{\"/twice500\": [{\"status\": 500}, {\"status\": 500}, {}],"
	" \"/always500\": [{\"status\": 503}],"
	" \"/busy\": [{\"status\": 429, \"headers\": {\"Retry-After\": \"1\"}}, {}],"
	" \"/half\": [{\"close_after\": 1000000}, {}],"
	" \"/reset\": [{\"reset_after\": 1000000}, {\"reset_after\": 500000}, {}],"
	" \"/half-etag\": [{\"close_after\": 1000000}, {}],"
	" \"/changed\": [{\"close_after\": 1000000, \"etag\": \"\\\"old\\\"\"}, {}],"
	" \"/norange\": [{\"close_after\": 1000000}, {\"ignore_range\": true}],"
	" \"/shifted\": [{\"close_after\": 1000000}, {\"shift_range\": 7}, {}],"
	" \"/no-etag\": [{\"close_after\": 1000000, \"no_etag\": true}, {\"no_etag\": true}],"
	" \"/mixed\": [{\"close_after\": 10, \"no_etag\": true, \"body\": \"other bytes\", \"repeat\": 9},"
	"   {\"no_etag\": true}],"
	" \"/416\": [{\"close_after\": 1000000, \"no_etag\": true}, {\"status\": 416}, {}],"
	" \"/unmarked\": [{\"close_after\": 1000000, \"length\": \"none\"}, {\"length\": \"none\"}],"
	" \"/chunked\": [{\"chunked\": true}],"
	" \"/stall\": [{\"stall_after\": 1000}, {}],"
	" \"/mute\": [{\"delay\": 30}],"
	" \"/short\": [{\"body\": \"short\"}],"
	" \"/long\": [{\"body\": \"0123456789\", \"repeat\": 400000}],"
	" \"/flood\": [{\"body\": \"0123456789\", \"repeat\": 4000000, \"chunked\": true}],"
	" \"/other\": [{\"body\": \"other bytes\"}],"
	" \"/errorflood\": [{\"status\": 404, \"body\": \"0123456789\", \"repeat\": 1000000}],"
	" \"/lie\": [{\"length\": 5000000}],"
	" \"/garbage\": [{\"garbage\": \"this is no http at all\\r\\n\\r\\n\"}],"
	" \"/loop\": [{\"status\": 302, \"headers\": {\"Location\": \"/loop\"}}],"
	" \"/moved\": [{\"status\": 302, \"headers\": {\"Location\": \"/big\"}}],"
	" \"/to-file\": [{\"status\": 302, \"headers\": {\"Location\": \"file:///etc/passwd\"}}],"
	" \"/nohead\": [{\"status\": 405}],"
	" \"/slow\": [{\"rate\": 200000}]}";

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
	static const char *const names[] = {
		"big", "twice500", "always500", "busy", "half", "reset", "half-etag", "changed", "norange", "shifted",
		"no-etag", "mixed", "416", "unmarked", "chunked", "stall", "mute", "lie", "nohead", "slow",
	};
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

/* Fetch a URL into a file and wait; want may be NULL, size -1. */
static struct result fetch_url(const char *url, const struct hash *want, int64_t size)
{
	struct result r = { .fd = fixture_output(&fx) };
	struct err err = { 0 };
	struct fetch_request q = {
		.urls = &url, .url_count = 1, .fd = r.fd, .sha256 = want, .size = size, .label = "thing",
		.progress = fixture_progress, .done = fixture_done, .ctx = &r,
	};
	if (!fetch_start(fx.fetcher, &q, &err))
		fail_msg("%s", err.msg);
	fixture_wait(&fx, &r);
	r.done = true;
	return r;
}

static struct result fetch_path(const char *path, const struct hash *want, int64_t size)
{
	return fetch_url(fixture_url(&fx, path), want, size);
}

/* What must end with all of big, after so many requests. */
static void comes_after(const char *path, int requests)
{
	struct result r = fetch_path(path, &big_hash, BIG);
	assert_came(&r, big, BIG);
	assert_int_equal(r.told, BIG);
	assert_int_equal(httpd_asked(&fx.server, path), requests);
	result_free(&r);
}

static void plain(void **state)
{
	comes_after("/big", 1);
	struct result r = fetch_path("/big", NULL, -1);
	assert_came(&r, big, BIG);
	result_free(&r);
}

static void comes_round(void **state)
{
	comes_after("/twice500", 3);
	comes_after("/reset", 3);
	comes_after("/chunked", 1);
}

static void gives_up(void **state)
{
	struct result r = fetch_path("/always500", &big_hash, BIG);
	assert_failed(&r, ERR_FAIL, "thing: the server answered 503 (/always500)");
	assert_int_equal(httpd_asked(&fx.server, "/always500"), 3);
	result_free(&r);
	r = fetch_path("/nothing-here", NULL, -1);
	assert_failed(&r, ERR_FAIL, "answered 404");
	assert_int_equal(httpd_asked(&fx.server, "/nothing-here"), 1);
	result_free(&r);
	r = fetch_url("http://127.0.0.1:1/x", NULL, -1);
	assert_failed(&r, ERR_FAIL, "thing: ");
	result_free(&r);
}

static void retry_after(void **state)
{
	int64_t start = loop_now();
	comes_after("/busy", 2);
	assert_true(loop_now() - start >= 1000);
}

/* Each second request asks for the rest only, guarded by the first answer's ETag. */
static void resumes(void **state)
{
	comes_after("/half", 2);
	const char *second = httpd_line(&fx.server, "/half", 1);
	assert_non_null(strstr(second, "\"range\": \"bytes=1000000-\""));
	assert_non_null(strstr(second, "\"if-range\": \"\\\""));
	struct result r = fetch_path("/half-etag", NULL, -1); /* no hash known: the ETag alone vouches */
	assert_came(&r, big, BIG);
	assert_non_null(strstr(httpd_line(&fx.server, "/half-etag", 1), "bytes=1000000-"));
	result_free(&r);
	comes_after("/no-etag", 2);
	assert_non_null(strstr(httpd_line(&fx.server, "/no-etag", 1), "bytes=1000000-"));
	comes_after("/unmarked", 2);
}

static void begins_again(void **state)
{
	comes_after("/changed", 2);
	comes_after("/norange", 2);
	comes_after("/shifted", 3);
	assert_null(strstr(httpd_line(&fx.server, "/shifted", 2), "\"range\""));
	comes_after("/416", 3);
	comes_after("/mixed", 3); /* the put-together bytes have another hash: once more from 0 */
}

static void never_joins_without_proof(void **state)
{
	struct result r = fetch_path("/no-etag", NULL, -1);
	assert_came(&r, big, BIG);
	result_free(&r);
}

static void wrong_content(void **state)
{
	_cleanup_free_ char *want = hash_hex(&big_hash);
	struct hash other;
	hash_of("other bytes", 11, &other);
	_cleanup_free_ char *got = hash_hex(&other);
	struct result r = fetch_path("/other", &big_hash, BIG);
	assert_failed(&r, ERR_HASH, want);
	assert_failed(&r, ERR_HASH, got);
	assert_failed(&r, ERR_HASH, "thing: ");
	assert_int_equal(httpd_asked(&fx.server, "/other"), 1);
	result_free(&r);
	r = fetch_path("/long", &other, 11); /* far more: ended, no byte too many is stored */
	assert_failed(&r, ERR_HASH, "far more");
	struct stat st;
	assert_int_equal(fstat(r.fd, &st), 0);
	assert_true(st.st_size <= 11);
	result_free(&r);
	r = fetch_path("/other", &big_hash, 5); /* a little more: hashed to the end, to name the hash */
	assert_failed(&r, ERR_HASH, got);
	result_free(&r);
	r = fetch_path("/short", NULL, 7);
	assert_failed(&r, ERR_INPUT, "5 bytes came where 7");
	result_free(&r);
}

static void limits(void **state)
{
	const char *urls[] = { fixture_url(&fx, "/flood") };
	struct result r = { .fd = -1 };
	struct err err = { 0 };
	struct fetch_request q = {
		.urls = urls, .url_count = 1, .fd = -1, .size = -1, .limit = 100000, .label = "page",
		.done = fixture_done, .ctx = &r,
	};
	assert_non_null(fetch_start(fx.fetcher, &q, &err));
	fixture_wait(&fx, &r);
	assert_failed(&r, ERR_INPUT, "page: more than the 100000 bytes");
	result_free(&r);
	r = fetch_path("/errorflood", NULL, -1);
	assert_failed(&r, ERR_FAIL, "answered 404");
	result_free(&r);
	r = fetch_path("/lie", NULL, -1);
	assert_failed(&r, ERR_FAIL, "thing: ");
	result_free(&r);
	r = fetch_path("/garbage", NULL, -1);
	assert_failed(&r, ERR_FAIL, "thing: ");
	result_free(&r);
}

static void stalls(void **state)
{
	fixture_no_fetcher(&fx);
	fixture_fetcher(&fx, &(struct fetch_config){ .tries = 2, .stall_ms = 300, .backoff_ms = 5 });
	comes_after("/stall", 2);
	struct result r = fetch_path("/mute", NULL, -1);
	assert_failed(&r, ERR_FAIL, "nothing came for");
	result_free(&r);
}

static void redirects(void **state)
{
	struct result r = fetch_path("/moved", &big_hash, BIG);
	assert_came(&r, big, BIG);
	assert_string_equal(r.url, fixture_url(&fx, "/big"));
	result_free(&r);
	r = fetch_path("/loop", NULL, -1);
	assert_failed(&r, ERR_FAIL, "redirect");
	assert_true(httpd_asked(&fx.server, "/loop") <= 12);
	result_free(&r);
	r = fetch_path("/to-file", NULL, -1);
	assert_failed(&r, ERR_FAIL, "redirects to a protocol that may not be used");
	result_free(&r);
}

static void asks_size(void **state)
{
	static const struct { const char *path; int64_t size; } cases[] = { { "/big", BIG }, { "/nohead", -1 } };
	for (size_t i = 0; i < 2; i++) {
		const char *urls[] = { fixture_url(&fx, cases[i].path) };
		struct result r = { .fd = -1 };
		struct err err = { 0 };
		struct fetch_request q = {
			.urls = urls, .url_count = 1, .fd = -1, .size = -1, .head = true, .done = fixture_done, .ctx = &r,
		};
		assert_non_null(fetch_start(fx.fetcher, &q, &err));
		fixture_wait(&fx, &r);
		assert_int_equal(r.rc, 0);
		assert_int_equal(r.size, cases[i].size);
		result_free(&r);
	}
}

/* One connection serves request after request. */
static void reuses_connections(void **state)
{
	int before = httpd_asked(&fx.server, "/big");
	for (int i = 0; i < 3; i++) {
		struct result r = fetch_path("/big", NULL, -1);
		assert_came(&r, big, BIG);
		result_free(&r);
	}
	_cleanup_free_ char *first = mem_dup(httpd_line(&fx.server, "/big", before));
	const char *third = httpd_line(&fx.server, "/big", before + 2);
	size_t length = (size_t)(strchr(first, ',') - first);
	assert_memory_equal(first, third, length); /* {"connection": N */
}

static void disk_full(void **state)
{
	struct result r = { .fd = open("/dev/full", O_RDWR | O_CLOEXEC) };
	struct err err = { 0 };
	const char *urls[] = { fixture_url(&fx, "/big"), fixture_url(&fx, "/moved") };
	struct fetch_request q = {
		.urls = urls, .url_count = 2, .fd = r.fd, .size = -1, .label = "thing", .done = fixture_done, .ctx = &r,
	};
	assert_true(r.fd >= 0);
	assert_non_null(fetch_start(fx.fetcher, &q, &err));
	fixture_wait(&fx, &r);
	assert_failed(&r, ERR_SYS, "No space left on device");
	assert_int_equal(r.err.sys, 28);
	assert_null(strstr(r.err.msg, "/moved")); /* another mirror would not help */
	result_free(&r);
}

struct canceller {
	struct fetch_job *job;
	int calls, ended;
};

static void cancel_in_progress(void *ctx, int64_t done, int64_t total)
{
	struct canceller *c = ctx;
	c->calls++;
	fetch_cancel(c->job);
}

static void count_done(void *ctx, int rc, const struct hash *sha256, int64_t size, struct buf *body,
	const char *content_type, const char *url, struct err *err)
{
	struct canceller *c = ctx;
	c->ended++;
}

/* Cancelling from inside a callback of curl, and while waiting: no callback, nothing left behind. */
static void cancels(void **state)
{
	struct canceller c = { 0 }, other = { 0 };
	struct err err = { 0 };
	const char *urls[] = { fixture_url(&fx, "/slow") };
	struct fetch_request q = {
		.urls = urls, .url_count = 1, .fd = -1, .size = -1, .progress = cancel_in_progress,
		.done = count_done, .ctx = &c,
	};
	c.job = fetch_start(fx.fetcher, &q, &err);
	assert_non_null(c.job);
	q.progress = NULL;
	q.ctx = &other;
	other.job = fetch_start(fx.fetcher, &q, &err);
	assert_non_null(other.job);
	while (!c.calls)
		assert_int_equal(loop_once(fx.loop, 1000, &err), 0);
	assert_int_equal(c.calls, 1);
	fetch_cancel(other.job);
	struct result r = fetch_path("/big", NULL, -1);
	assert_came(&r, big, BIG);
	result_free(&r);
	assert_int_equal(c.ended + other.ended, 0);
	assert_int_equal(c.calls, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(plain), T(comes_round), T(gives_up), T(retry_after), T(resumes), T(begins_again),
		T(never_joins_without_proof), T(wrong_content), T(limits), T(stalls), T(redirects), T(asks_size),
		T(reuses_connections), T(disk_full), T(cancels),
	};
	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
