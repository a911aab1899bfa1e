#include "unit/store/fixture.h"

#include "core/json.h"
#include "store/scan.h"
#include "support/vectors.h"

static const char d1[] = "dc04vv14dak1c1r48qa0m23vr9jy8sm0";
static const char d2[] = "zc842j0rz61mjsp3h3wp5ly71ak6qgdn";

/* Feed text in pieces of these lengths, the last one repeated. */
static void feed(struct scan *s, const char *text, size_t len, const size_t *pieces, size_t count)
{
	for (size_t i = 0, k = 0; i < len; k++) {
		size_t n = pieces[k < count ? k : count - 1];
		n = n < len - i ? n : len - i;
		scan_feed(s, text + i, n);
		i += n;
	}
}

static struct json *vectors(void)
{
	vectors_or_skip("nix/references.json");
	_cleanup_buf_ struct buf text = BUF_INIT;
	assert_ok(fs_read_file(AT_FDCWD, vectors_path("nix/references.json"), 1 << 20, &text, err));
	struct err err = { 0 };
	struct json *j = json_parse((struct slice){ text.data, text.len }, 1 << 20, &err);
	assert_non_null(j);
	return j;
}

/* What was found of row.search is row.found. */
static void check_found(const struct scan *s, struct json *search, struct json *found)
{
	size_t count = 0;
	for (size_t i = 0; i < json_count(search); i++) {
		bool wanted = false;
		for (size_t k = 0; k < json_count(found); k++)
			wanted = wanted || str_eq(json_str(json_at(search, i)), json_str(json_at(found, k)));
		assert_int_equal(s->digests[i].found, wanted);
		count += wanted;
	}
	assert_int_equal(count, json_count(found));
}

static void test_vectors(void **state)
{
	_cleanup_json_ struct json *j = vectors();
	struct json *rows = json_get(j, "scan");
	assert_true(json_count(rows) >= 4);
	for (size_t i = 0; i < json_count(rows); i++) {
		struct json *row = json_at(rows, i), *search = json_get(row, "search");
		const char *text = json_get_str(row, "text"), *chunks = json_get_str(row, "chunks");
		static const size_t some[] = { 10, 5, 5, 1000 }, one[] = { 1 }, whole[] = { 1000 };
		_cleanup_scan_ struct scan s = SCAN_INIT;
		for (size_t k = 0; k < json_count(search); k++)
			assert_int_equal(scan_add(&s, json_str(json_at(search, k))), k);
		if (str_eq(chunks, "whole"))
			feed(&s, text, strlen(text), whole, 1);
		else if (str_eq(chunks, "1 byte each"))
			feed(&s, text, strlen(text), one, 1);
		else if (str_eq(chunks, "10,5,5,rest"))
			feed(&s, text, strlen(text), some, 4);
		else
			fail_msg("unknown chunks: %s", chunks);
		check_found(&s, search, json_get(row, "found"));
	}
}

static void test_vector_files(void **state)
{
	_cleanup_json_ struct json *j = vectors();
	struct json *tree = json_get(j, "scan_tree"), *search = json_get(tree, "search");
	struct json *files = json_get(tree, "files");
	assert_true(json_count(files) >= 5);
	for (size_t i = 0; i < json_count(files); i++) {
		struct json *file = json_at(files, i);
		const char *text = json_get_str(file, "contents");
		text = text ? text : json_get_str(file, "target");
		_cleanup_scan_ struct scan s = SCAN_INIT;
		for (size_t k = 0; k < json_count(search); k++)
			scan_add(&s, json_str(json_at(search, k)));
		scan_feed(&s, text, strlen(text));
		check_found(&s, search, json_get(file, "found"));
	}
}

/* Two digests in a text, cut in three at every pair of places. */
static void test_every_border(void **state)
{
	char text[128];
	int len = snprintf(text, sizeof text, "0a%sxy%s!", d1, d2);
	for (size_t a = 1; a < (size_t)len; a++) {
		for (size_t b = 1; b < (size_t)len; b++) {
			_cleanup_scan_ struct scan s = SCAN_INIT;
			scan_add(&s, d1);
			scan_add(&s, d2);
			size_t pieces[] = { a, b, 1000 };
			feed(&s, text, (size_t)len, pieces, 3);
			assert_true(s.digests[0].found && s.digests[1].found);
			assert_int_equal(s.digests[0].at, 2);
			assert_int_equal(s.digests[1].at, 36);
		}
	}
}

/* Against a plain search, in bytes where most windows are digits and needles overlap. */
static void test_against_plain_search(void **state)
{
	uint64_t seed = 42;
	static char text[20000];
	for (size_t i = 0; i < sizeof text; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		text[i] = (seed >> 33) % 97 == 0 ? '-' : "0123456789abcdfghijklmnpqrsvwxyz"[(seed >> 40) % 32];
	}
	_cleanup_scan_ struct scan s = SCAN_INIT;
	enum { N = 500 };
	char needles[N][33];
	for (size_t i = 0; i < N; i++) {
		seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
		memcpy(needles[i], text + (seed >> 33) % (sizeof text - 32), 32);
		if (i % 3 == 0)
			needles[i][i % 32] = needles[i][i % 32] == 'a' ? 'b' : 'a'; /* most likely absent */
		needles[i][32] = '\0';
		for (size_t k = 0; k < 32; k++)
			if (needles[i][k] == '-')
				needles[i][k] = 'z';
		scan_add(&s, needles[i]);
	}
	static const size_t pieces[] = { 1, 31, 32, 33, 4096, 7, 5000 };
	feed(&s, text, sizeof text, pieces, 7);
	size_t found = 0;
	for (size_t i = 0; i < s.count; i++) {
		char *hit = memmem(text, sizeof text, s.digests[i].text, 32);
		assert_int_equal(s.digests[i].found, hit != NULL);
		if (hit)
			assert_int_equal(s.digests[i].at, hit - text);
		found += hit != NULL;
	}
	assert_true(found > 100 && found < s.count);
}

static void test_same_digest_twice(void **state)
{
	_cleanup_scan_ struct scan s = SCAN_INIT;
	assert_int_equal(scan_add(&s, d1), 0);
	assert_int_equal(scan_add(&s, d2), 1);
	assert_int_equal(scan_add(&s, d1), 0);
	assert_int_equal(s.count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),
		cmocka_unit_test(test_vector_files),
		cmocka_unit_test(test_every_border),
		cmocka_unit_test(test_against_plain_search),
		cmocka_unit_test(test_same_digest_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
