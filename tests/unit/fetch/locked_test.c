/* What the lock names, found through an index and mirrors of every quality. */
#include "fixture.h"

#include "core/json.h"

#define SIZE 50000

static const char script[] =
	"{\"/simple/flaky/\": [{\"status\": 500}, {}],"
	" \"/simple/html-as-json/\": [{\"type\": \"application/vnd.pypi.simple.v1+json\"}],"
	" \"/simple/json-as-html/\": [{\"type\": \"text/html\"}],"
	" \"/simple/noise/\": [{\"body\": \"no page of an index\"}],"
	" \"/simple/cut/\": [{\"close_after\": 10, \"no_etag\": true}],"
	" \"/simple/down/\": [{\"status\": 503}],"
	" \"/other.whl\": [{\"body\": \"other bytes\"}]}";

static const char html[] = "<html><a href='../../demo-1.whl#sha256=0000'>x</a><a href='/gone-1.whl'>"
	"<a href='/other.whl'>";
static const char json[] = "{\"meta\":{\"api-version\":\"1.1\"},\"name\":\"x\",\"files\":["
	"{\"filename\":\"demo-1.whl\",\"url\":\"/demo-1.whl\",\"hashes\":{}}]}";

static struct fixture fx;
static char *data;
static char hex[65];

static int setup_all(void **state)
{
	static const char *const projects[] = { "demo", "flaky", "html-as-json", "cut", "down" };
	struct hash h;
	unsetenv("http_proxy");
	unsetenv("all_proxy");
	fixture_open(&fx);
	data = fixture_bytes(SIZE);
	hash_of(data, SIZE, &h);
	_cleanup_free_ char *text = hash_hex(&h);
	memcpy(hex, text, sizeof hex);
	for (size_t i = 0; i < sizeof projects / sizeof *projects; i++) {
		_cleanup_free_ char *page = mem_printf("simple/%s/index.html", projects[i]);
		fixture_file(&fx, page, html, strlen(html));
	}
	fixture_file(&fx, "simple/json/index.json", json, strlen(json));
	fixture_file(&fx, "simple/json-as-html/index.json", json, strlen(json));
	fixture_file(&fx, "./demo-1.whl", data, SIZE);
	fixture_file(&fx, "debian/pool/main/d/demo/demo_1+b_amd64.deb", data, SIZE);
	fixture_serve(&fx, script);
	return 0;
}

static int teardown_all(void **state)
{
	fixture_close(&fx);
	free(data);
	return 0;
}

static int setup(void **state)
{
	_cleanup_free_ char *mirrors = mem_printf("%s %s", fixture_url(&fx, "/empty"), fixture_url(&fx, "/debian"));
	setenv("FORGE_INDEX", fixture_url(&fx, "/simple"), 1);
	setenv("FORGE_DEBIAN_MIRROR", mirrors, 1);
	fixture_fetcher(&fx, NULL);
	return 0;
}

static int teardown(void **state)
{
	fixture_no_fetcher(&fx);
	return 0;
}

static void locked_done(void *ctx, int rc, struct err *err)
{
	struct result *r = ctx;
	r->done = true;
	r->rc = rc;
	r->times++;
	if (rc < 0)
		err_move(&r->err, err);
}

static struct json *parse(const char *text)
{
	struct err err = { 0 };
	struct json *j = json_parse(slice_of(text), 1 << 20, &err);
	if (!j)
		fail_msg("%s", err.msg);
	return j;
}

static struct fetch_job *start(const char *entry, struct result *r, struct err *err)
{
	_cleanup_json_ struct json *j = parse(entry);
	return fetch_locked(fx.fetcher, j, r->fd, fixture_progress, locked_done, r, err);
}

static char *pypi(const char *name, const char *file)
{
	return mem_printf("{\"from\":\"pypi\",\"name\":\"%s\",\"version\":\"1\",\"file\":\"%s\",\"sha256\":\"%s\","
		"\"size\":%d}", name, file, hex, SIZE);
}

static struct result fetch_entry(char *entry)
{
	struct result r = { .fd = fixture_output(&fx) };
	struct err err = { 0 };
	if (!start(entry, &r, &err))
		fail_msg("%s", err.msg);
	fixture_wait(&fx, &r);
	free(entry);
	return r;
}

static void assert_locked(struct result *r)
{
	if (r->rc < 0)
		fail_msg("%s", r->err.msg);
	_cleanup_free_ char *got = mem_alloc(SIZE);
	struct err err = { 0 };
	assert_int_equal(fs_pread_full(r->fd, got, SIZE, 0, &err), 0);
	assert_memory_equal(got, data, SIZE);
	result_free(r);
}

/* HTML or JSON, whatever the header says, and an index that comes round. */
static void from_index(void **state)
{
	static const char *const names[] = { "demo", "json", "html-as-json", "json-as-html", "flaky" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct result r = fetch_entry(pypi(names[i], "demo-1.whl"));
		assert_locked(&r);
	}
	assert_non_null(strstr(httpd_line(&fx.server, "/simple/demo/", 0),
		"\"accept\": \"application/vnd.pypi.simple.v1+json, "));
}

/* Ten files at once of one project: its page is read once, then never again. */
static void page_read_once(void **state)
{
	int before = httpd_asked(&fx.server, "/simple/demo/");
	struct result r[10] = { 0 };
	struct err err = { 0 };
	_cleanup_free_ char *entry = pypi("Demo", "demo-1.whl");
	for (size_t i = 0; i < 10; i++) {
		_cleanup_free_ char *name = mem_printf("out%zu", i);
		r[i].fd = fs_open_beneath(fx.dir.fd, name, O_RDWR | O_CREAT | O_TRUNC, 0600, &err);
		assert_non_null(start(entry, &r[i], &err));
	}
	for (size_t i = 0; i < 10; i++) {
		fixture_wait(&fx, &r[i]);
		assert_locked(&r[i]);
	}
	struct result again = fetch_entry(pypi("demo", "demo-1.whl"));
	assert_locked(&again);
	assert_int_equal(httpd_asked(&fx.server, "/simple/demo/") - before, 1);
}

static void index_fails(void **state)
{
	static const struct { const char *project, *file, *part; enum err_code code; } cases[] = {
		{ "demo", "demo-2.whl", "demo-2.whl: the index ($FORGE_INDEX) does not list it", ERR_FAIL },
		{ "demo", "gone-1.whl", "answered 404 (/gone-1.whl): the index ($FORGE_INDEX) lists it", ERR_FAIL },
		{ "nobody", "demo-1.whl", "demo-1.whl: the index ($FORGE_INDEX), project nobody: ", ERR_FAIL },
		{ "nobody", "demo-1.whl", "it has no such project", ERR_FAIL },
		{ "down", "demo-1.whl", "the server answered 503", ERR_FAIL },
		{ "noise", "demo-1.whl", "neither HTML nor JSON", ERR_INPUT },
		{ "cut", "demo-1.whl", "demo-1.whl: the index ($FORGE_INDEX)", ERR_FAIL },
		{ "demo", "other.whl", "other.whl: wanted sha256 ", ERR_HASH },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct result r = fetch_entry(pypi(cases[i].project, cases[i].file));
		assert_failed(&r, cases[i].code, cases[i].part);
		result_free(&r);
	}
	setenv("FORGE_INDEX", "http://user:secret@127.0.0.1:1/simple", 1);
	struct result r = fetch_entry(pypi("demo", "demo-1.whl"));
	assert_int_equal(r.rc, -1);
	assert_null(strstr(r.err.msg, "secret"));
	result_free(&r);
}

static void from_pool(void **state)
{
	static const char form[] = "{\"from\":\"debian\",\"suite\":\"trixie\",\"package\":\"demo\",\"version\":\"%s\","
		"\"path\":\"pool/main/d/demo/demo_%s_amd64.deb\",\"sha256\":\"%s\",\"size\":%d}";
	struct result r = fetch_entry(mem_printf(form, "1+b", "1+b", hex, SIZE));
	assert_locked(&r);
	r = fetch_entry(mem_printf(form, "2", "2", hex, SIZE));
	assert_failed(&r, ERR_FAIL, "demo_2_amd64.deb: ");
	assert_failed(&r, ERR_FAIL, "no longer carries demo 2: forge lock --update");
	result_free(&r);
}

static void from_urls(void **state)
{
	struct result r = fetch_entry(mem_printf("{\"from\":\"url\",\"name\":\"tool\",\"urls\":[\"%s\",\"%s\"],"
		"\"sha256\":\"sha256:%s\"}", fixture_url(&fx, "/nowhere"), fixture_url(&fx, "/demo-1.whl"), hex));
	assert_locked(&r);
}

static void from_registry(void **state)
{
	static const char form[] = "{\"from\":\"oci\",\"image\":\"%s\",\"name\":\"layer\",\"sha256\":\"%s\",\"size\":%d}";
	_cleanup_free_ char *image = mem_printf("127.0.0.1:%u/team/demo", fx.server.port);
	_cleanup_free_ char *blob = mem_printf("v2/team/demo/blobs/sha256:%s", hex);
	_cleanup_free_ char *mirror = mem_printf("h.example/=http://127.0.0.1:%u/", fx.server.port);
	fixture_file(&fx, blob, data, SIZE);
	struct result r = fetch_entry(mem_printf(form, image, hex, SIZE));
	assert_locked(&r);
	r = fetch_entry(mem_printf(form, image, "00000000000000000000000000000000000000000000000000000000000000ff", SIZE));
	assert_failed(&r, ERR_FAIL, "the layer 000000000000 of 127.0.0.1:");
	assert_failed(&r, ERR_FAIL, "answered 404");
	assert_failed(&r, ERR_FAIL, "the registry no longer has it: forge lock --update");
	result_free(&r);
	fixture_no_fetcher(&fx); /* a fetcher knows the mirrors from when it first asked */
	fixture_fetcher(&fx, NULL);
	setenv("FORGE_OCI_MIRROR", mirror, 1);
	r = fetch_entry(mem_printf(form, "h.example/team/demo", hex, SIZE));
	assert_locked(&r);
	unsetenv("FORGE_OCI_MIRROR");
}

static void bad_entries(void **state)
{
	static const struct { const char *entry, *part; } cases[] = {
		{ "{}", "neither pypi, debian, url nor oci" },
		{ "{\"from\":\"ftp\"}", "neither pypi" },
		{ "{\"from\":\"pypi\",\"name\":\"a\",\"file\":\"a.whl\"}", "a.whl: the lock's entry has no sha256" },
		{ "{\"from\":\"pypi\",\"name\":\"a\",\"file\":\"a.whl\",\"sha256\":\"xyz\"}", "no sha256" },
		{ "{\"from\":\"pypi\",\"file\":\"a.whl\",\"sha256\":\"%s\"}", "no name" },
		{ "{\"from\":\"pypi\",\"sha256\":\"%s\"}", "without a file name" },
		{ "{\"from\":\"debian\",\"path\":\"pool/a.deb\",\"sha256\":\"%s\"}", "needs package" },
		{ "{\"from\":\"oci\",\"image\":\"h.example/a\"}", "the layer ? of h.example/a: the lock's entry has no sha256" },
		{ "{\"from\":\"oci\",\"sha256\":\"%s\"}", "of an image: the lock's entry has no image" },
		{ "{\"from\":\"oci\",\"image\":\"a\",\"sha256\":\"%s\"}", "begins with its registry's host" },
		{ "{\"from\":\"oci\",\"image\":\"h.example/a:1\",\"sha256\":\"%s\"}", "has no tag" },
		{ "{\"from\":\"url\",\"name\":\"a\",\"sha256\":\"%s\"}", "no urls" },
		{ "{\"from\":\"url\",\"urls\":[7],\"sha256\":\"%s\"}", "something else than strings" },
		{ "{\"from\":\"url\",\"urls\":[\"ssh://h/x\"],\"sha256\":\"%s\"}", "only http, https and file" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct result r = { .fd = -1 };
		_cleanup_buf_ struct buf entry = BUF_INIT;
		const char *mark = strstr(cases[i].entry, "%s");
		buf_add(&entry, cases[i].entry, mark ? (size_t)(mark - cases[i].entry) : strlen(cases[i].entry));
		if (mark)
			buf_printf(&entry, "%s%s", hex, mark + 2);
		assert_null(start(entry.data, &r, &err));
		if (!strstr(err.msg, cases[i].part))
			fail_msg("%s: %s", cases[i].entry, err.msg);
	}
}

static void offline(void **state)
{
	fixture_no_fetcher(&fx);
	fixture_fetcher(&fx, &(struct fetch_config){ .offline = true });
	_cleanup_err_ struct err err = { 0 };
	struct result r = { .fd = -1 };
	_cleanup_free_ char *entry = pypi("demo", "demo-1.whl");
	assert_null(start(entry, &r, &err));
	assert_non_null(strstr(err.msg, "demo-1.whl: the index ($FORGE_INDEX), project demo: offline"));
	_cleanup_free_ char *local = mem_printf("file://%s/root/simple", fx.dir.path);
	setenv("FORGE_INDEX", local, 1); /* an index on disk serves; its files are elsewhere on disk */
	r = fetch_entry(pypi("demo", "demo-1.whl"));
	assert_locked(&r);
}

/* Cancelled while the page is on its way: the page still comes, nobody is told. */
static void cancels(void **state)
{
	struct result r = { .fd = fixture_output(&fx) };
	struct err err = { 0 };
	_cleanup_free_ char *entry = pypi("demo", "demo-1.whl");
	struct fetch_job *job = start(entry, &r, &err);
	assert_non_null(job);
	fetch_cancel(job);
	struct result other = fetch_entry(pypi("demo", "demo-1.whl"));
	assert_locked(&other);
	assert_int_equal(r.times, 0);
	assert_non_null(start(entry, &r, &err)); /* and the teardown frees a fetcher with a waiting job */
	close(r.fd);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(from_index), T(page_read_once), T(index_fails), T(from_pool), T(from_urls), T(from_registry), T(bad_entries), T(offline),
		T(cancels),
	};
	return cmocka_run_group_tests(tests, setup_all, teardown_all);
}
