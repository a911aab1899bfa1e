#include "support/vectors.h"
#include "support/tempdir.h"

#include <errno.h>

#include "core/buf.h"
#include "core/fs.h"
#include "core/mem.h"
#include "lock/lock.h"
#include "lock/lock_impl.h"

#define SHA "\"sha256\":\"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\""
#define WHEEL(file) "{\"file\":\"" file "\",\"from\":\"pypi\",\"name\":\"a\"," SHA ",\"size\":7,\"version\":\"1\"}"
#define DEB "{\"from\":\"debian\",\"package\":\"bash\",\"path\":\"pool/b/bash.deb\"," SHA \
	",\"size\":9,\"suite\":\"trixie\",\"version\":\"1:5-2\"}"
#define GOOD \
	"{\"version\":1,\"entries\":{\n" \
	"\"debian trixie bash\":{\"packages\":[\"bash=1:5-2\"]},\n" \
	"\"debian trixie bash=1:5-2\":" DEB ",\n" \
	"\"pypi a-1.whl\":" WHEEL("a-1.whl") ",\n" \
	"\"sdist a 1\":{\"build_requires\":[],\"file\":\"a-1.tar.gz\",\"from\":\"pypi\",\"name\":\"a\",\"requires\":[\"b\"]," \
	SHA ",\"size\":7,\"version\":\"1\"},\n" \
	"\"tags a 1\":{\"tags\":[\"cp313-cp313\",\"cp314-cp314t\"]},\n" \
	"\"wheels 3.13 a==1\":{\"files\":[\"a-1.whl\"]},\n" \
	"\"~\":null}}\n"
#define REDIST_KEY "\"redist 13.0.2 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef cuda_crt cuda_nvcc\""
#define COMPONENT(name) "{\"name\":\"" name "\",\"path\":\"" name "/x.tar.xz\"," SHA ",\"size\":7,\"version\":\"13.0.88\"}"
#define REDIST REDIST_KEY ":{\"components\":[" COMPONENT("cuda_crt") "," COMPONENT("cuda_nvcc") "]},\n"
#define ALONE "\"debian-only trixie/main,non-free bash\":{\"packages\":[\"bash=1:5-2\"]},\n"
#define GIT_KEY "\"git https://h.example/a v1 submodules\""
#define GIT(rev, hash, more) "{\"from\":\"git\",\"narHash\":\"" hash "\",\"rev\":\"" rev "\",\"submodules\":" more \
	",\"url\":\"https://h.example/a\"}"
#define SOURCE_KEY "\"debian-source forky py\""
#define SOURCE(path, more) "{\"from\":\"debian\",\"path\":\"" path "\"," SHA ",\"size\":5" more "}"
#define SOURCE_OF ",\"source\":\"py\",\"suite\":\"forky\",\"version\":\"1-1\""
#define REV "0123456789abcdef0123456789abcdef01234567"
#define SRI "sha256-ASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8="
#define OCI_KEY "\"oci r.example/a:1\""
#define ZEROS "00000000000000000000000000000000000000000000000000000000000000"
#define LAYER "{\"diffId\":\"sha256:11" ZEROS "\",\"digest\":\"sha256:22" ZEROS "\",\"mediaType\":" \
	"\"application/vnd.oci.image.layer.v1.tar+gzip\",\"size\":5}"
#define IMAGE(layers) "{\"digest\":\"sha256:33" ZEROS "\",\"from\":\"oci\",\"image\":\"r.example/a\",\"layers\":" layers \
	",\"manifest\":\"sha256:44" ZEROS "\"}"

static struct tempdir dir;
static char file[300];

static void write_lock(const char *text)
{
	snprintf(file, sizeof file, "%s/forge.lock", dir.path);
	assert_int_equal(fs_write_file(AT_FDCWD, file, text, strlen(text), 0644, NULL), 0);
}

static int set_up(void **state)
{
	dir = tempdir_make();
	return 0;
}

static int tear_down(void **state)
{
	tempdir_remove(&dir);
	return 0;
}

/* What the file answers. */
static struct json *answer(const char *request, struct err *err)
{
	_cleanup_json_ struct json *q = json_parse(slice_of(request), 10000, NULL);
	struct json *out = NULL;
	assert_non_null(q);
	struct lock_reader *r = lock_reader_open(file, "<recipe>", err);
	if (r && lock_answer(r, q, &out, err) < 0)
		assert_null(out);
	lock_reader_free(r);
	return out;
}

static void test_answers(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	write_lock(GOOD);
	_cleanup_json_ struct json *sdist = answer("{\"kind\":\"sdist\",\"name\":\"a\",\"version\":\"1\"}", &err);
	assert_string_equal(json_get_str(sdist, "file"), "a-1.tar.gz");
	assert_string_equal(json_str(json_at(json_get(sdist, "requires"), 0)), "b");
	_cleanup_json_ struct json *wheels =
		answer("{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":[\"A == 1\"]}", &err);
	assert_int_equal(json_count(wheels), 1);
	assert_string_equal(json_get_str(json_at(wheels, 0), "file"), "a-1.whl");
	_cleanup_json_ struct json *debs =
		answer("{\"kind\":\"debian\",\"suite\":\"trixie\",\"packages\":[\"bash\",\"bash\"]}", &err);
	assert_int_equal(json_count(debs), 1);
	assert_string_equal(json_get_str(json_at(debs, 0), "path"), "pool/b/bash.deb");
	_cleanup_json_ struct json *tags = answer("{\"kind\":\"tags\",\"name\":\"a\",\"version\":\"1\"}", &err);
	assert_int_equal(json_count(tags), 2);
	assert_string_equal(json_str(json_at(tags, 1)), "cp314-cp314t");
}

static void test_missing_entry_says_what_and_how(void **state)
{
	static const char *const rows[][2] = {
		{ "{\"kind\":\"sdist\",\"name\":\"flash-attn\",\"version\":\"2.8.3\"}", "lacks the sdist of flash-attn 2.8.3" },
		{ "{\"kind\":\"tags\",\"name\":\"a\",\"version\":\"2\"}", "lacks the tags of the wheels of a 2 (run: forge lock" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":[\"torch==2\",\"numpy\"]}",
		  "lacks the wheels for Python 3.13 of numpy, torch==2" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":[\"a==1\"],\"deps\":false}",
		  "lacks the wheels for Python 3.13 of a==1" },
		{ "{\"kind\":\"debian\",\"suite\":\"trixie\",\"packages\":[\"zsh\"]}",
		  "lacks the Debian packages of trixie for zsh" },
		{ "{\"kind\":\"debian\",\"suite\":\"trixie\",\"packages\":[\"bash\"],\"components\":[\"non-free\"]}",
		  "lacks the Debian packages" },
		{ "{\"kind\":\"debian-source\",\"suite\":\"trixie\",\"source\":\"py\"}",
		  "lacks the Debian source package py of trixie" },
	};
	write_lock(GOOD);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		assert_null(answer(rows[i][0], &err));
		assert_int_equal(err.code, ERR_INPUT);
		if (!strstr(err.msg, rows[i][1]) || !strstr(err.msg, "run: forge lock <recipe>") || !strstr(err.msg, file))
			fail_msg("%s", err.msg);
	}
}

static void test_bad_requests(void **state)
{
	static const char *const rows[][2] = {
		{ "{}", "kind must be" },
		{ "{\"kind\":\"url\"}", "kind must be" },
		{ "{\"kind\":\"sdist\",\"name\":\"a\"}", "\"version\" must be a string" },
		{ "{\"kind\":\"sdist\",\"name\":\"a\",\"version\":\"x y\"}", "can't be" },
		{ "{\"kind\":\"sdist\",\"name\":\"../a\",\"version\":\"1\"}", "can't be" },
		{ "{\"kind\":\"sdist\",\"name\":\"a\",\"version\":\"1\",\"extra\":1}", "unknown field \"extra\"" },
		{ "{\"kind\":\"tags\",\"version\":\"1\"}", "\"name\" must be a string" },
		{ "{\"kind\":\"wheels\",\"python\":\"2.7\",\"requires\":[\"a\"]}", "must be like" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.13x\",\"requires\":[\"a\"]}", "must be like" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.t\",\"requires\":[\"a\"]}", "must be like" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.1314\",\"requires\":[\"a\"]}", "must be like" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":[]}", "list of 1 to" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":\"a\"}", "list of 1 to" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":[1]}", "item 1 must be a string" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":[\"a b\"]}", "requirement \"a b\"" },
		{ "{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":[\"a\"],\"deps\":0}", "true or false" },
		{ "{\"kind\":\"debian\",\"suite\":\"a/b\",\"packages\":[\"a\"]}", "can't be" },
		{ "{\"kind\":\"debian-source\",\"suite\":\"a\"}", "\"source\" must be a string" },
		{ "{\"kind\":\"debian-source\",\"suite\":\"a\",\"source\":\"b/c\"}", "can't be" },
		{ "{\"kind\":\"debian-source\",\"suite\":\"a\",\"source\":\"b\",\"packages\":[\"c\"]}", "unknown field" },
		{ "{\"kind\":\"debian\",\"suite\":\"trixie\",\"packages\":[\"bash=5\"]}", "not a package's name" },
		{ "{\"kind\":\"debian\",\"suite\":\"trixie\",\"packages\":[\"a\"],\"components\":[\"x/y\"]}", "can't hold" },
		{ "{\"kind\":\"debian\",\"suite\":\"trixie\",\"packages\":[\"a\"],\"deps\":\"no\"}", "\"deps\" must be true or false" },
		{ "{\"kind\":\"redist\",\"release\":\"../13\"}", "\"release\" can't be" },
		{ "{\"kind\":\"redist\",\"release\":\"13.0.2\",\"urls\":[\"https://h.example/\"],\"components\":[\"a\"]}", "\"sha256\" must be" },
		{ "{\"kind\":\"redist\",\"release\":\"13.0.2\",\"sha256\":\"01\"}", "\"sha256\" must be" },
		{ "{\"kind\":\"redist\",\"release\":\"13.0.2\"," SHA "}", "\"urls\" must be a list" },
		{ "{\"kind\":\"redist\",\"release\":\"13.0.2\"," SHA ",\"urls\":[\"ftp://h/\"],\"components\":[\"a\"]}", "no https, http or file URL" },
		{ "{\"kind\":\"redist\",\"release\":\"13.0.2\"," SHA ",\"urls\":[\"file:///x\"],\"components\":[]}", "\"components\" must be" },
		{ "{\"kind\":\"redist\",\"release\":\"13.0.2\"," SHA ",\"urls\":[\"file:///x\"],\"components\":[\"a b\"]}", "can't hold" },
	};
	write_lock(GOOD);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		assert_null(answer(rows[i][0], &err));
		if (!strstr(err.msg, rows[i][1]))
			fail_msg("%s: %s", rows[i][0], err.msg);
	}
}

/* GOOD with one piece replaced, or cut off at it where the replacement is NULL. */
static char *spoil(const char *from, const char *to)
{
	const char *at = strstr(GOOD, from);
	assert_non_null(at);
	if (!to)
		return mem_dup_n(GOOD, (size_t)(at - GOOD));
	return mem_printf("%.*s%s%s", (int)(at - GOOD), GOOD, to, at + strlen(from));
}

static void test_bad_files(void **state)
{
	static const char *const rows[][3] = { /* what, by what, and what the error must name */
		{ "\"version\":1,", "\"version\":2,", "forge.lock:1: \"version\"" },
		{ "\"version\":1,", "\"version\":\"1\",", "forge.lock:1: \"version\"" },
		{ "\"version\":1,", "\"version\":1,\"more\":1,", "forge.lock:1: a lock is" },
		{ "\"entries\":{", "\"entries\":[], \"x\":{", "forge.lock:1: a lock is" },
		{ "\"wheels 3.13", NULL, "forge.lock: not JSON: line 7" },
		{ "}}\n", "}}\n}", "forge.lock: not JSON: line 9" },
		{ GOOD, "<html></html>", "forge.lock: not JSON: line 1" },
		{ GOOD, "", "forge.lock: not JSON" },
		{ SHA ",", "", "forge.lock:3: entry \"debian trixie bash=1:5-2\": \"sha256\" is missing" },
		{ "abcdef0123", "abcdeg0123", "forge.lock:3: entry \"debian trixie bash=1:5-2\": \"sha256\" is not" },
		{ "abcdef0123", "abcdef012", "forge.lock:3: entry \"debian trixie bash=1:5-2\": \"sha256\" is not" },
		{ "\"size\":9", "\"size\":\"9\"", "forge.lock:3: entry \"debian trixie bash=1:5-2\": \"size\" is not" },
		{ "\"size\":9", "\"size\":-9", "\"size\" is not" },
		{ ",\"size\":7", "", "forge.lock:4: entry \"pypi a-1.whl\": \"size\" is missing" },
		{ "pool/b", "../b", "forge.lock:3: entry \"debian trixie bash=1:5-2\": \"path\" leads" },
		{ "pool/b", "/b", "\"path\" leads" },
		{ "\"suite\":\"trixie\"", "\"suite\":\"sid\"", "are not those of the key" },
		{ "{\"file\":\"a-1.whl\"", "{\"file\":\"../a-1.whl\"", "forge.lock:4: entry \"pypi a-1.whl\": \"file\"" },
		{ "{\"file\":\"a-1.whl\"", "{\"file\":\"b-1.whl\"", "forge.lock:4: entry \"pypi a-1.whl\": \"file\"" },
		{ "{\"file\":\"a-1.whl\"", "{\"file\":3", "forge.lock:4: entry \"pypi a-1.whl\": \"file\"" },
		{ ",\"name\":\"a\"", "", "forge.lock:4: entry \"pypi a-1.whl\": \"name\" is missing" },
		{ "\"from\":\"pypi\"", "\"from\":\"url\"", "forge.lock:4: entry \"pypi a-1.whl\": \"from\"" },
		{ "\"requires\":[\"b\"],", "", "forge.lock:5: entry \"sdist a 1\": \"requires\" is missing" },
		{ "\"requires\":[\"b\"]", "\"requires\":[1]", "forge.lock:5: entry \"sdist a 1\": \"requires\" holds" },
		{ "[\"cp313-cp313\",", "[1,", "forge.lock:6: entry \"tags a 1\": \"tags\" holds" },
		{ "\"tags\":[", "\"tag\":[", "forge.lock:6: entry \"tags a 1\": \"tags\" is missing" },
		{ "[\"a-1.whl\"]", "[\"b-1.whl\"]", "forge.lock:7: entry \"wheels 3.13 a==1\": it names \"pypi b-1.whl\"" },
		{ "[\"a-1.whl\"]", "{}", "forge.lock:7: entry \"wheels 3.13 a==1\": \"files\" is not a list" },
		{ "{\"files\":[\"a-1.whl\"]}", "7", "forge.lock:7: entry \"wheels 3.13 a==1\": it is not an object" },
		{ "\"wheels 3.13 a==1\"", GIT_KEY ":" GIT("v1", SRI, "true") ",\"wheels 3.13 a==1\"", "submodules\": \"rev\" is not" },
		{ "\"wheels 3.13 a==1\"", GIT_KEY ":" GIT(REV, "x", "true") ",\"wheels 3.13 a==1\"", "submodules\": \"narHash\"" },
		{ "\"wheels 3.13 a==1\"", GIT_KEY ":" GIT(REV, SRI, "7") ",\"wheels 3.13 a==1\"", "submodules\": \"submodules\" is" },
		{ "\"wheels 3.13 a==1\"", "\"git https://h.example/b v1\":" GIT(REV, SRI, "false") ",\"wheels 3.13 a==1\"",
		  "v1\": \"url\" is not that of the key" },
		{ "\"pypi a-1.whl\"", SOURCE_KEY ":" SOURCE("../py", SOURCE_OF) ",\"pypi a-1.whl\"", "forky py\": \"path\" leads" },
		{ "\"pypi a-1.whl\"", SOURCE_KEY ":" SOURCE("p", ",\"suite\":\"forky\",\"version\":\"1\"") ",\"pypi a-1.whl\"",
		  "forky py\": \"source\" is missing" },
		{ "\"pypi a-1.whl\"", "\"debian-source forky px\":" SOURCE("p", SOURCE_OF) ",\"pypi a-1.whl\"",
		  "forky px\": \"suite\" and \"source\" are not those of the key" },
		{ "\"wheels 3.13 a==1\"", "\"debian-only trixie zsh\":{\"packages\":[\"zsh=1\"]},\"wheels 3.13 a==1\"",
		  "trixie zsh\": it names \"debian trixie zsh=1\", which has no entry" },
		{ "\"wheels 3.13 a==1\"", REDIST_KEY ":{\"components\":{}},\"wheels 3.13 a==1\"", "cuda_nvcc\": \"components\" is not a list" },
		{ "\"wheels 3.13 a==1\"", REDIST_KEY ":{\"components\":[" COMPONENT("../x") "]},\"wheels 3.13 a==1\"",
		  "cuda_nvcc\": component 1: \"path\" leads out of the release's folder" },
		{ "\"wheels 3.13 a==1\"", REDIST_KEY ":{\"components\":[{\"name\":\"x\",\"version\":\"1\",\"path\":\"x\"}]},\"wheels 3.13 a==1\"",
		  "component 1: \"sha256\" is missing" },
		{ "\"wheels 3.13 a==1\"", "\"wheals\"", "forge.lock:7: entry \"wheals\": this forge knows no such kind" },
		{ "\"wheels 3.13 a==1\"", "\"sdist a 1\"", "forge.lock: not JSON: line 7" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_free_ char *text = spoil(rows[i][0], rows[i][1]);
		_cleanup_err_ struct err err = { 0 };
		write_lock(text);
		assert_null(lock_open(file, &err));
		assert_int_equal(err.code, ERR_INPUT);
		if (!strstr(err.msg, rows[i][2]) || strchr(err.msg, '\n'))
			fail_msg("row %zu: %s", i, err.msg);
	}
}

/* Of a file in forge's form only the lines that are asked for are looked at. */
static void test_what_is_not_asked_for_is_not_read(void **state)
{
	static const char *const spoilt[] = { /* the sdist's line */
		"\"requires\":[1]", "\"requires\":[}", "\"requires\":[\"b\"],\"requires\":[]",
	};
	for (size_t i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
		_cleanup_err_ struct err err = { 0 }, whole = { 0 };
		_cleanup_free_ char *text = spoil("\"requires\":[\"b\"]", spoilt[i]);
		write_lock(text);
		_cleanup_json_ struct json *tags = answer("{\"kind\":\"tags\",\"name\":\"a\",\"version\":\"1\"}", &err);
		assert_int_equal(json_count(tags), 2);
		assert_null(answer("{\"kind\":\"sdist\",\"name\":\"a\",\"version\":\"1\"}", &err));
		assert_null(lock_open(file, &whole));
		assert_string_equal(err.msg, whole.msg);
	}
}

/* A key with quotes in it is found by its line too. */
static void test_a_key_that_is_quoted(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *text = spoil("\"wheels 3.13 a==1\"",
		"\"wheels 3.13 a==1; python_version < \\\"4\\\"\":{\"files\":[\"a-1.whl\"]},\n\"wheels 3.13 a==2\":{\"files\":7},\n"
		"\"wheels 3.13 a==1\"");
	write_lock(text);
	_cleanup_json_ struct json *found =
		answer("{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":[\"a==1; python_version<'4'\"]}", &err);
	if (!found)
		fail_msg("%s", err.msg);
	assert_int_equal(json_count(found), 1);
}

/* Lines that hold more than they seem to, or stand where nobody would look: then all is read. */
static void test_lines_that_are_not_what_they_seem(void **state)
{
	static const char *const rows[][2] = {
		{ "\"wheels 3.13 a==1\"", "\"wheels 3.13 0\":{\"files\":[]},\"wheels 3.13 a==1\"" },           /* two in a line */
		{ "\"debian trixie bash\":", "\"wheels 3.12 a==1\":{\"files\":[]},\n\"debian trixie bash\":" }, /* not in order */
		{ "\"wheels 3.13 a==1\"", "\"wheels 3.13 a=\\u003d1\"" },                                   /* another spelling */
		{ "\"wheels 3.13 a==1\"", " \"wheels 3.13 a==1\"" },
		{ ",\n\"wheels 3.13", ", \"wheels 3.13" },
		{ "\"~\":null}}\n", "\"~\":null}}" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_free_ char *text = spoil(rows[i][0], rows[i][1]);
		write_lock(text);
		_cleanup_json_ struct json *found = answer("{\"kind\":\"wheels\",\"python\":\"3.13\",\"requires\":[\"a==1\"]}", &err);
		if (!found)
			fail_msg("row %zu: %s", i, err.msg);
		assert_int_equal(json_count(found), 1);
	}
}

/* A list that names a list, and that one the first: nothing that forge writes, and no way to go on forever. */
static void test_lists_that_name_each_other(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *text = spoil("\"debian trixie bash\":{\"packages\":[\"bash=1:5-2\"]}",
		"\"debian trixie bash\":{\"packages\":[\"zsh\"]},\n\"debian trixie zsh\":{\"packages\":[\"bash\"]}");
	write_lock(text);
	_cleanup_json_ struct json *found = answer("{\"kind\":\"debian\",\"suite\":\"trixie\",\"packages\":[\"bash\"]}", &err);
	assert_int_equal(json_count(found), 1); /* the list itself: what reads entries finds no file in it */
}

static void test_missing_file_is_empty(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	snprintf(file, sizeof file, "%s/none.lock", dir.path);
	struct lock *l = lock_open(file, &err);
	assert_non_null(l);
	assert_false(lock_changed(l));
	assert_int_equal(lock_save(l, &err), 0);
	assert_false(fs_exists(file));
	lock_free(l);
}

static void test_unchanged_is_not_touched(void **state)
{
	struct stat before, after;
	write_lock(GOOD);
	assert_int_equal(stat(file, &before), 0);
	struct lock *l = lock_open(file, NULL);
	assert_false(lock_changed(l));
	assert_int_equal(lock_save(l, NULL), 0);
	assert_int_equal(stat(file, &after), 0);
	assert_int_equal(before.st_ino, after.st_ino);
	lock_free(l);
}

static void test_saves_sorted_without_what_nobody_means(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *messy = spoil("\"wheels 3.13 a==1\":{\"files\":[\"a-1.whl\"]}",
		"\"pypi b-1.whl\":" WHEEL("b-1.whl") ",   \"wheels 3.13 a==1\" : {\"files\": [\"a-1.whl\"] }");
	write_lock(messy);
	struct lock *l = lock_open(file, NULL);
	assert_non_null(l);
	assert_true(lock_changed(l));
	assert_int_equal(lock_save(l, NULL), 0);
	assert_false(lock_changed(l));
	assert_int_equal(fs_read_file(AT_FDCWD, file, 1 << 20, &text, NULL), 0);
	assert_string_equal(text.data, GOOD);
	lock_free(l);
}

/* The form before the last line that never changes. */
static void test_an_older_form_is_read_and_written_anew(void **state)
{
	_cleanup_buf_ struct buf text = BUF_INIT;
	_cleanup_free_ char *older = spoil(",\n\"~\":null}}", "\n}}");
	write_lock(older);
	struct lock *l = lock_open(file, NULL);
	assert_non_null(l);
	assert_int_equal(lock_save(l, NULL), 0);
	assert_int_equal(fs_read_file(AT_FDCWD, file, 1 << 20, &text, NULL), 0);
	assert_string_equal(text.data, GOOD);
	lock_free(l);
}

/* As git's merge=union leaves it, where two branches add one entry. */
static void test_a_line_that_is_there_twice(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	const char *line = "\"tags a 1\":{\"tags\":[\"cp313-cp313\",\"cp314-cp314t\"]},\n";
	_cleanup_free_ char *twice = mem_printf("%s\"wheels 3.13 a==1\"", line);
	_cleanup_free_ char *text = spoil("\"wheels 3.13 a==1\"", twice);
	write_lock(text);
	struct lock *l = lock_open(file, &err);
	if (!l)
		fail_msg("%s", err.msg);
	assert_true(lock_changed(l)); /* the next forge lock writes it once */
	lock_free(l);
	_cleanup_free_ char *other = spoil("\"wheels 3.13 a==1\"", "\"tags a 1\":{\"tags\":[]},\n\"wheels 3.13 a==1\"");
	write_lock(other);
	assert_null(lock_open(file, &err));
	assert_non_null(strstr(err.msg, "duplicate"));
}

static void test_git(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *text = spoil("\"wheels 3.13 a==1\"", GIT_KEY ":" GIT(REV, SRI, "true") ",\n\"wheels 3.13 a==1\"");
	write_lock(text);
	struct lock *l = lock_open(file, &err);
	assert_non_null(l);
	struct json *found = answer("{\"kind\":\"git\",\"url\":\"https://h.example/a\",\"rev\":\"v1\",\"submodules\":true}", &err);
	assert_non_null(found);
	assert_string_equal(json_get_str(found, "rev"), REV);
	json_free(found);
	assert_null(answer("{\"kind\":\"git\",\"url\":\"https://u:p@h.example/a\",\"rev\":\"v2\"}", &err));
	assert_non_null(strstr(err.msg, "lacks v2 of https://h.example/a (run: forge lock"));
	assert_int_equal(lock_save(l, NULL), 0);
	assert_false(lock_changed(l));
	lock_free(l);
}

static void test_debian_source(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *text =
		spoil("\"pypi a-1.whl\"", SOURCE_KEY ":" SOURCE("pool/p/py_1.orig.tar.xz", SOURCE_OF) ",\n\"pypi a-1.whl\"");
	write_lock(text);
	struct lock *l = lock_open(file, &err);
	if (!l)
		fail_msg("%s", err.msg);
	_cleanup_json_ struct json *found =
		answer("{\"kind\":\"debian-source\",\"suite\":\"forky\",\"source\":\"py\"}", &err);
	assert_string_equal(json_get_str(found, "path"), "pool/p/py_1.orig.tar.xz");
	/* nothing but its own key names it, and it stays */
	assert_int_equal(lock_save(l, NULL), 0);
	assert_false(lock_changed(l));
	assert_non_null(lock_get(l, "debian-source forky py"));
	lock_free(l);
}

/* The toolkits' entries: packages without what they need, and a release's components. */
static void test_cuda(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *text = spoil("\"pypi a-1.whl\"", ALONE "\"pypi a-1.whl\""), *with = NULL;
	const char *at = strstr(text, "\"sdist");
	with = mem_printf("%.*s%s%s", (int)(at - text), text, REDIST, at);
	write_lock(with);
	struct lock *l = lock_open(file, &err);
	if (!l)
		fail_msg("%s", err.msg);
	_cleanup_json_ struct json *debs = answer("{\"kind\":\"debian\",\"suite\":\"trixie\",\"packages\":[\"bash\"],"
		"\"components\":[\"non-free\"],\"deps\":false}", &err);
	assert_int_equal(json_count(debs), 1);
	assert_string_equal(json_get_str(json_at(debs, 0), "path"), "pool/b/bash.deb");
	_cleanup_json_ struct json *list = answer("{\"kind\":\"redist\",\"release\":\"13.0.2\"," SHA
		",\"urls\":[\"https://a.example/\"],\"components\":[\"cuda_nvcc\",\"cuda_crt\",\"cuda_crt\"]}", &err);
	if (!list)
		fail_msg("%s", err.msg);
	assert_int_equal(json_count(list), 2);
	assert_string_equal(json_get_str(json_at(list, 1), "path"), "cuda_nvcc/x.tar.xz");
	assert_null(answer("{\"kind\":\"redist\",\"release\":\"13.0.2\"," SHA
		",\"urls\":[\"https://a.example/\"],\"components\":[\"cuda_nvcc\"]}", &err));
	assert_non_null(strstr(err.msg, "lacks cuda_nvcc of NVIDIA's CUDA 13.0.2 (run: forge lock"));
	assert_int_equal(lock_save(l, NULL), 0);
	assert_false(lock_changed(l));
	lock_free(l);
}

static void test_oci(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *text = spoil("\"pypi a-1.whl\"", OCI_KEY ":" IMAGE("[" LAYER "]") ",\n\"pypi a-1.whl\"");
	write_lock(text);
	struct lock *l = lock_open(file, &err);
	if (!l)
		fail_msg("%s", err.msg);
	struct json *found = answer("{\"kind\":\"oci\",\"image\":\"r.example/a:1\"}", &err);
	assert_non_null(found);
	assert_int_equal(json_count(json_get(found, "layers")), 1);
	json_free(found);
	assert_int_equal(lock_save(l, NULL), 0);
	assert_false(lock_changed(l));
	static const char *const rows[][2] = {
		{ "\"image\":\"r.example/a:2\"", "lacks the image r.example/a:2 (run: forge lock" },
		{ "\"image\":\"r.example/a\",\"digest\":\"sha256:33" ZEROS "\"", "lacks the image r.example/a@sha256:330000000000 (run" },
		{ "\"image\":\"a:2\"", "field \"image\": \"a:2\": the name of an image begins with its registry's host" },
		{ "\"image\":\"r.example/a\"", "needs a tag, or a digest beside it" },
		{ "\"image\":\"r.example/a:1\",\"digest\":\"x\"", "field \"digest\": \"x\" is no digest" },
		{ "\"image\":\"r.example/a:1\",\"digest\":3", "field \"digest\" must be a string" },
		{ "\"digest\":\"x\"", "field \"image\" must be a string" },
		{ "\"image\":\"r.example/a:1\",\"platform\":\"x\"", "unknown field \"platform\"" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_free_ char *request = mem_printf("{\"kind\":\"oci\",%s}", rows[i][0]);
		assert_null(answer(request, &err));
		if (!strstr(err.msg, rows[i][1]))
			fail_msg("%s: %s", request, err.msg);
		err_clear(&err);
	}
	lock_free(l);
}

static void test_bad_oci(void **state)
{
	static const char *const rows[][3] = { /* the entry's key, the entry, and what the error must name */
		{ OCI_KEY, IMAGE("[]"), "\"layers\" is not a list of 1 to 512" },
		{ OCI_KEY, IMAGE("3"), "\"layers\" is not a list" },
		{ OCI_KEY, IMAGE("[" LAYER ",3]"), "layer 2: \"digest\" is missing" },
		{ OCI_KEY, IMAGE("[{\"digest\":\"sha256:1\"}]"), "layer 1: \"digest\": \"sha256:1\" is no digest" },
		{ OCI_KEY, IMAGE("[{\"digest\":\"sha256:22" ZEROS "\",\"diffId\":\"sha256:22" ZEROS "\",\"mediaType\":\"x\",\"size\":1}]"),
		  "layer 1: \"mediaType\" is not that of a layer" },
		{ OCI_KEY, IMAGE("[{\"digest\":\"sha256:22" ZEROS "\",\"diffId\":\"sha256:22" ZEROS "\",\"mediaType\":\"x\",\"size\":-1}]"),
		  "layer 1: \"size\" is not" },
		{ "\"oci r.example/b:1\"", IMAGE("[" LAYER "]"), "\"image\" is not that of the key" },
		{ "\"oci r.example/a\"", IMAGE("[" LAYER "]"), "\"image\" is not that of the key" },
		{ "\"oci r.example/ab:1\"", IMAGE("[" LAYER "]"), "\"image\" is not that of the key" },
		{ "\"oci r.example/a@sha256:55" ZEROS "\"", IMAGE("[" LAYER "]"), "neither \"digest\" nor \"manifest\" is" },
		{ "\"oci r.example/..:1\"", "{\"from\":\"oci\",\"image\":\"r.example/..\",\"digest\":\"sha256:22" ZEROS "\","
		  "\"manifest\":\"sha256:22" ZEROS "\"}", "\"image\": \"r.example/..\": the name of an image has" },
		{ OCI_KEY, "{\"from\":\"oci\"}", "\"image\" is missing" },
		{ OCI_KEY, "{\"from\":\"git\",\"image\":\"r.example/a\",\"digest\":\"sha256:22" ZEROS "\",\"manifest\":\"sha256:22" ZEROS "\"}",
		  "\"from\" is not \"oci\"" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_free_ char *text = mem_printf("{\"version\":1,\"entries\":{\n%s:%s}}\n", rows[i][0], rows[i][1]);
		_cleanup_err_ struct err err = { 0 };
		write_lock(text);
		assert_null(lock_open(file, &err));
		if (!strstr(err.msg, rows[i][2]) || !strstr(err.msg, "forge.lock:2: entry \"oci r.example"))
			fail_msg("row %zu: %s", i, err.msg);
	}
	write_lock("{\"version\":1,\"entries\":{\"oci r.example/a@sha256:44" ZEROS "\":" IMAGE("[" LAYER "]") "}}\n");
	struct lock *l = lock_open(file, NULL);
	assert_non_null(l);
	lock_free(l);
}

static void test_a_folder_is_no_empty_lock(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	snprintf(file, sizeof file, "%s", dir.path);
	assert_null(lock_open(file, &err));
	assert_non_null(strstr(err.msg, dir.path));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_answers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_missing_entry_says_what_and_how, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_requests, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_files, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_what_is_not_asked_for_is_not_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_key_that_is_quoted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lines_that_are_not_what_they_seem, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_lists_that_name_each_other, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_missing_file_is_empty, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_unchanged_is_not_touched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_saves_sorted_without_what_nobody_means, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_an_older_form_is_read_and_written_anew, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_git, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_line_that_is_there_twice, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_debian_source, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_cuda, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_oci, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_bad_oci, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_a_folder_is_no_empty_lock, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
