/* Certificates and proxies as the environment names them, against a server that signed its own. */
#include "fixture.h"

#include "core/proc.h"

static const char script[] =
	"{\"/down\": [{\"status\": 302, \"headers\": {\"Location\": \"PLAIN/hello\"}}]}";

static const char *const variables[] = {
	"CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "PIP_CERT", "NIX_SSL_CERT_FILE",
	"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
};

static struct fixture fx;      /* plain http: origin, and proxy */
static struct httpd secure;
static char cert[300], key[300];

static void make_certificate(void)
{
	struct err err = { 0 };
	struct proc_result result;
	struct buf out = BUF_INIT;
	snprintf(cert, sizeof cert, "%s/cert.pem", fx.dir.path);
	snprintf(key, sizeof key, "%s/key.pem", fx.dir.path);
	const char *const argv[] = {
		"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
		"-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
		"-keyout", key, "-out", cert, NULL,
	};
	struct proc_spec spec = PROC_SPEC_INIT;
	spec.argv = argv;
	assert_int_equal(proc_run(&spec, &out, &out, 1 << 20, &result, &err), 0);
	if (result.status != 0)
		fail_msg("openssl: %s", out.data);
	buf_free(&out);
}

static int setup_all(void **state)
{
	fixture_open(&fx);
	fixture_file(&fx, "./hello", "hello", 5);
	make_certificate();
	fixture_serve(&fx, NULL);
	/* The script needs the plain server's address. */
	_cleanup_buf_ struct buf text = BUF_INIT;
	const char *mark = strstr(script, "PLAIN");
	buf_add(&text, script, (size_t)(mark - script));
	buf_printf(&text, "http://127.0.0.1:%u%s", fx.server.port, mark + 5);
	_cleanup_free_ char *root = fs_join(fx.dir.path, "root");
	secure = httpd_start(root, fx.dir.path, "secure", text.data, cert, key);
	return 0;
}

static int teardown_all(void **state)
{
	httpd_stop(&secure);
	fixture_close(&fx);
	return 0;
}

static int setup(void **state)
{
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		unsetenv(variables[i]);
	fixture_fetcher(&fx, NULL);
	return 0;
}

static int teardown(void **state)
{
	fixture_no_fetcher(&fx);
	return 0;
}

static struct result fetch_one(const char *url)
{
	struct result r = { .fd = -1 };
	struct err err = { 0 };
	struct fetch_request q = {
		.urls = &url, .url_count = 1, .fd = -1, .size = -1, .label = "thing", .done = fixture_done, .ctx = &r,
	};
	if (!fetch_start(fx.fetcher, &q, &err))
		fail_msg("%s", err.msg);
	fixture_wait(&fx, &r);
	return r;
}

static const char *secure_url(const char *path)
{
	static char url[128];
	snprintf(url, sizeof url, "https://127.0.0.1:%u%s", secure.port, path);
	return url;
}

static void stranger_is_refused(void **state)
{
	struct result r = fetch_one(secure_url("/hello"));
	assert_failed(&r, ERR_FAIL, "certificate");
	assert_int_equal(httpd_asked(&secure, "/hello"), 0);
	result_free(&r);
}

static void each_variable_names_a_file(void **state)
{
	for (size_t i = 0; i < 6; i++) {
		if (strcmp(variables[i], "SSL_CERT_DIR") == 0)
			continue;
		setenv(variables[i], cert, 1);
		struct result r = fetch_one(secure_url("/hello"));
		if (r.rc < 0)
			fail_msg("%s: %s", variables[i], r.err.msg);
		assert_came(&r, "hello", 5);
		result_free(&r);
		unsetenv(variables[i]);
		fixture_no_fetcher(&fx); /* no connection that is trusted already */
		fixture_fetcher(&fx, NULL);
	}
}

static void first_variable_wins(void **state)
{
	setenv("NIX_SSL_CERT_FILE", cert, 1);
	setenv("CURL_CA_BUNDLE", "/no/such/file.pem", 1);
	struct result r = fetch_one(secure_url("/hello"));
	assert_failed(&r, ERR_FAIL, "named by $CURL_CA_BUNDLE");
	result_free(&r);
}

static void no_way_back_to_http(void **state)
{
	setenv("SSL_CERT_FILE", cert, 1);
	struct result r = fetch_one(secure_url("/down"));
	assert_failed(&r, ERR_FAIL, "redirects to a protocol that may not be used");
	assert_int_equal(httpd_asked(&fx.server, "/hello"), 0);
	result_free(&r);
}

static void through_a_proxy(void **state)
{
	_cleanup_free_ char *proxy = mem_printf("http://127.0.0.1:%u", fx.server.port);
	_cleanup_free_ char *own = mem_dup(fixture_url(&fx, "/hello"));
	setenv("http_proxy", proxy, 1);
	struct result r = fetch_one(own);
	assert_came(&r, "hello", 5);
	assert_int_equal(httpd_asked(&fx.server, own), 1); /* a proxy is asked with the whole URL */
	result_free(&r);
	setenv("https_proxy", proxy, 1);
	setenv("SSL_CERT_FILE", cert, 1);
	r = fetch_one(secure_url("/hello"));
	assert_came(&r, "hello", 5);
	_cleanup_free_ char *target = mem_printf("127.0.0.1:%u", secure.port);
	assert_int_equal(httpd_asked(&fx.server, target), 1);
	result_free(&r);
	setenv("no_proxy", "127.0.0.1", 1);
	r = fetch_one(own);
	assert_came(&r, "hello", 5);
	assert_int_equal(httpd_asked(&fx.server, own), 1);
	result_free(&r);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(stranger_is_refused), T(each_variable_names_a_file), T(first_variable_wins), T(no_way_back_to_http),
		T(through_a_proxy),
	};
	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
