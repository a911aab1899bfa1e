/* Tokens of a registry: got once for all, got anew when they are no longer taken, and given to nobody else. */
#include "fixture.h"

#include "core/json.h"

#define SIZE 100000
#define ASKS "{\"status\": 401, \"headers\": {\"WWW-Authenticate\": \"Bearer realm=\\\"http://127.0.0.1:PORT/REPO\\\"\"}}"

static struct fixture fx;
static struct httpd tokens; /* who gives them, each repository's at a path of its own */
static char *data;
static struct hash hash;

/* What the registry does, by repository and name. */
static const struct { const char *repository, *name, *steps; } rows[] = {
	{ "all", "one", ASKS ", {}" }, { "all", "two", ASKS ", {}" },
	{ "old", "one", ASKS ", {}" }, { "old", "again", ASKS ", {}" },
	{ "middle", "half", ASKS ", {\"close_after\": 50000}, " ASKS ", {}" },
	{ "never", "x", ASKS },
	{ "led", "one", ASKS ", {}" },
	{ "led", "away", "{\"status\": 307, \"headers\": {\"Location\": \"http://127.0.0.1:PORT/asks\"}}" },
	{ "slow", "kept", ASKS ", {}" }, { "slow", "gone", ASKS ", {}" }, { "late", "left", ASKS },
};
enum { ROWS = sizeof rows / sizeof *rows };

static void add_steps(struct buf *script, const char *steps, const char *repository)
{
	for (const char *p = steps; *p; p++) {
		if (strncmp(p, "PORT", 4) == 0)
			buf_printf(script, "%u", tokens.port);
		else if (strncmp(p, "REPO", 4) == 0)
			buf_str(script, repository);
		else
			buf_byte(script, *p);
		p += strncmp(p, "PORT", 4) == 0 || strncmp(p, "REPO", 4) == 0 ? 3 : 0;
	}
}

static int setup_all(void **state)
{
	_cleanup_buf_ struct buf script = BUF_INIT;
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	fixture_open(&fx);
	data = fixture_bytes(SIZE);
	hash_of(data, SIZE, &hash);
	tokens = httpd_start(fx.dir.path, fx.dir.path, "tokens",
		"{\"/all\": [{\"body\": \"{\\\"token\\\":\\\"first\\\"}\"}],"
		" \"/old\": [{\"body\": \"{\\\"token\\\":\\\"first\\\"}\"}, {\"body\": \"{\\\"token\\\":\\\"second\\\"}\"}],"
		" \"/middle\": [{\"body\": \"{\\\"token\\\":\\\"first\\\"}\"}, {\"body\": \"{\\\"token\\\":\\\"second\\\"}\"}],"
		" \"/never\": [{\"body\": \"{\\\"token\\\":\\\"first\\\"}\"}],"
		" \"/led\": [{\"body\": \"{\\\"token\\\":\\\"first\\\"}\"}],"
		" \"/slow\": [{\"delay\": 1, \"body\": \"{\\\"token\\\":\\\"late\\\"}\"}],"
		" \"/late\": [{\"delay\": 3, \"body\": \"{}\"}],"
		" \"/asks\": [{\"status\": 401, \"headers\": {\"WWW-Authenticate\": \"Bearer realm=\\\"http://127.0.0.1:1/\\\"\"}}]}",
		NULL, NULL);
	for (size_t i = 0; i < ROWS; i++) {
		_cleanup_free_ char *path = mem_printf("v2/%s/%s", rows[i].repository, rows[i].name);
		fixture_file(&fx, path, data, SIZE);
		buf_printf(&script, "%s\"/%s\": [", i ? ", " : "{", path);
		add_steps(&script, rows[i].steps, rows[i].repository);
		buf_str(&script, "]");
	}
	buf_str(&script, "}");
	fixture_serve(&fx, script.data);
	return 0;
}

static int teardown_all(void **state)
{
	httpd_stop(&tokens);
	fixture_close(&fx);
	free(data);
	return 0;
}

static int setup(void **state)
{
	static const struct fetch_config patient = { .tries = 3, .stall_ms = 60000, .backoff_ms = 5 };
	fixture_fetcher(&fx, &patient);
	return 0;
}

static int teardown(void **state)
{
	fixture_no_fetcher(&fx);
	return 0;
}

/* path: "repository/name" */
static struct fetch_job *start(struct result *r, const char *path)
{
	struct err err = { 0 };
	_cleanup_free_ char *place = mem_printf("/v2/%s", path);
	const char *url = fixture_url(&fx, place);
	_cleanup_free_ char *repository = mem_dup_n(url, (size_t)(strrchr(url, '/') - url));
	struct fetch_request q = { .urls = &url, .url_count = 1, .fd = -1, .sha256 = &hash, .size = SIZE, .label = path,
		.repository = repository, .done = fixture_done, .ctx = r };
	*r = (struct result){ .fd = -1 };
	struct fetch_job *job = fetch_start(fx.fetcher, &q, &err);
	assert_non_null(job);
	return job;
}

static void wait_for(struct result *r)
{
	fixture_wait(&fx, r);
	r->done = true;
}

/* The nth request of a path carried this token; NULL: none. */
static void sent(const char *path, int nth, const char *token)
{
	_cleanup_free_ char *place = mem_printf("/v2/%s", path), *header = mem_printf("\"Bearer %s\"", token ? token : "");
	const char *line = httpd_line(&fx.server, place, nth);
	assert_non_null(line);
	if (token ? !strstr(line, header) : strstr(line, "authorization") != NULL)
		fail_msg("%s", line);
}

static void one_for_all(void **state)
{
	struct result r[2];
	start(&r[0], "all/one");
	start(&r[1], "all/two");
	wait_for(&r[0]);
	wait_for(&r[1]);
	assert_came(&r[0], data, SIZE);
	assert_came(&r[1], data, SIZE);
	assert_int_equal(httpd_asked(&tokens, "/all"), 1);
	assert_null(strstr(httpd_line(&tokens, "/all", 0), "authorization"));
	sent("all/one", 1, "first");
	sent("all/two", 1, "first");
	result_free(&r[0]);
	result_free(&r[1]);
}

/* A token that was good before is refused: there is a new one. */
static void an_old_one(void **state)
{
	struct result r;
	start(&r, "old/one");
	wait_for(&r);
	result_free(&r);
	start(&r, "old/again");
	wait_for(&r);
	assert_came(&r, data, SIZE);
	sent("old/again", 0, "first");
	sent("old/again", 1, "second");
	assert_int_equal(httpd_asked(&tokens, "/old"), 2);
	result_free(&r);
}

/* It runs out in the middle of a file: what came is kept. */
static void in_the_middle(void **state)
{
	struct result r;
	start(&r, "middle/half");
	wait_for(&r);
	assert_came(&r, data, SIZE);
	sent("middle/half", 2, "first");
	sent("middle/half", 3, "second");
	assert_non_null(strstr(httpd_line(&fx.server, "/v2/middle/half", 3), "bytes=50000-"));
	result_free(&r);
}

static void refused(void **state)
{
	struct result r;
	start(&r, "never/x");
	wait_for(&r);
	assert_failed(&r, ERR_FAIL, "never/x: the server answered 401 to a token it has just given");
	assert_int_equal(httpd_asked(&fx.server, "/v2/never/x"), 2);
	assert_int_equal(httpd_asked(&tokens, "/never"), 1);
	result_free(&r);
}

/* Whoever the registry leads to can't have a token asked for. */
static void elsewhere(void **state)
{
	struct result r;
	start(&r, "led/one");
	wait_for(&r);
	result_free(&r);
	start(&r, "led/away");
	wait_for(&r);
	assert_failed(&r, ERR_FAIL, "led/away: the server answered 401");
	sent("led/away", 0, "first");
	assert_null(strstr(httpd_line(&tokens, "/asks", 0), "authorization"));
	result_free(&r);
}

static void cancelled(void **state)
{
	struct result kept, gone;
	start(&kept, "slow/kept");
	struct fetch_job *job = start(&gone, "slow/gone");
	struct err err = { 0 };
	while (httpd_asked(&tokens, "/slow") == 0)
		assert_int_equal(loop_once(fx.loop, 100, &err), 0);
	fetch_cancel(job);
	wait_for(&kept);
	assert_came(&kept, data, SIZE);
	assert_false(gone.done);
	start(&gone, "late/left"); /* left waiting when the fetcher ends */
	while (httpd_asked(&tokens, "/late") == 0)
		assert_int_equal(loop_once(fx.loop, 100, &err), 0);
	assert_false(gone.done);
	result_free(&kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(one_for_all, setup, teardown), cmocka_unit_test_setup_teardown(an_old_one, setup, teardown),
		cmocka_unit_test_setup_teardown(in_the_middle, setup, teardown), cmocka_unit_test_setup_teardown(refused, setup, teardown),
		cmocka_unit_test_setup_teardown(elsewhere, setup, teardown), cmocka_unit_test_setup_teardown(cancelled, setup, teardown),
	};
	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
