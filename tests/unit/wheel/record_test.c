/* RECORD. */
#include "support/vectors.h"

#include "core/hash.h"
#include "core/json.h"
#include "core/buf.h"
#include "core/mem.h"
#include "wheel/record.h"

static int64_t size_of(const char *text)
{
	return *text ? atoll(text) : -1;
}

static void lines(void **state)
{
	vectors_or_skip("dist/record-lines.tsv");
	struct vectors v = vectors_load("dist/record-lines.tsv");
	for (size_t i = 0; i < v.count; i++) {
		struct vectors_cell line = vectors_cell(&v, i, "line");
		struct record r;
		bool got = record_parse((struct slice){ line.data, line.len }, &r, NULL) == 0;
		if (got != (strcmp(vectors_text(&v, i, "expected"), "accept") == 0))
			fail_msg("\"%s\" must be %s", line.data, vectors_text(&v, i, "expected"));
		if (!got)
			continue;
		assert_int_equal(r.rows.count, 1);
		assert_string_equal(r.rows.items[0].path, vectors_text(&v, i, "path"));
		assert_string_equal(r.rows.items[0].hash, vectors_text(&v, i, "hash"));
		assert_int_equal(r.rows.items[0].size, size_of(vectors_text(&v, i, "size")));
		record_free(&r);
	}
	vectors_free(&v);
}

static const char *check(const struct record_row *row, struct slice data)
{
	struct record_check c;
	if (record_check_begin(&c, row, NULL))
		return "reject";
	/* In two pieces: the sum must not depend on how it comes. */
	record_check_update(&c, data.p, data.n / 2);
	record_check_update(&c, data.p + data.n / 2, data.n - data.n / 2);
	_cleanup_err_ struct err err = { 0 };
	if (record_check_end(&c, &err) == 0)
		return "match";
	assert_int_equal(err.code, ERR_HASH);
	return "mismatch";
}

static void checks(void **state)
{
	vectors_or_skip("dist/record-check.tsv");
	struct vectors v = vectors_load("dist/record-check.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_buf_ struct buf data = BUF_INIT;
		const char *hex = vectors_text(&v, i, "data_hex");
		assert_int_equal(dec_base16(slice_of(hex), &data, NULL), 0);
		struct record_row row = {
			.path = (char *)vectors_text(&v, i, "path"), .hash = (char *)vectors_text(&v, i, "hash"),
			.size = size_of(vectors_text(&v, i, "size")),
		};
		assert_string_equal(check(&row, (struct slice){ data.data, data.len }), vectors_text(&v, i, "expected"));
	}
	vectors_free(&v);
}

static void written(void **state)
{
	vectors_or_skip("dist/record-write.json");
	size_t len;
	_cleanup_free_ char *text = vectors_slurp(vectors_path("dist/record-write.json"), &len);
	_cleanup_json_ struct json *cases = json_parse((struct slice){ text, len }, len, NULL);
	assert_true(json_count(cases) > 0);
	for (size_t i = 0; i < json_count(cases); i++) {
		const struct json *c = json_at(cases, i), *rows = json_get(c, "rows");
		_cleanup_buf_ struct buf out = BUF_INIT;
		for (size_t k = 0; k < json_count(rows); k++) {
			const struct json *row = json_at(rows, k);
			record_line(json_str(json_at(row, 0)), json_str(json_at(row, 1)),
				size_of(json_str(json_at(row, 2))), &out);
		}
		assert_string_equal(out.data, json_get_str(c, "text"));
		/* The first case writes one path four times, which a reader refuses. */
		struct record back;
		assert_int_equal(record_parse((struct slice){ out.data, out.len }, &back, NULL), i ? 0 : -1);
		assert_int_equal(back.rows.count, i ? json_count(rows) : 0);
		record_free(&back);
	}
}

static void refuses(void **state)
{
	static const char *const bad[] = {
		"a.py,,\nb.py,,\na.py,,\n",   /* twice */
		"\"a.py,,\n",                  /* a quote that is not closed */
		"\"a.py\"x,,\n",               /* text after it */
		"a\xff.py,,\n",                /* not UTF-8 */
		"a.py,,1234567890123456789\n", /* a size past any file's */
		"a.py,,-1\n",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct record r;
		_cleanup_err_ struct err err = { 0 };
		assert_int_equal(record_parse(slice_of(bad[i]), &r, &err), -1);
		assert_int_equal(err.code, ERR_INPUT);
		assert_int_equal(r.rows.count, 0);
	}
}

static void finds(void **state)
{
	struct record r;
	assert_int_equal(record_parse(slice_of("b,,\r\na,sha256=x,3\r\n\r\n\"c,d\",,"), &r, NULL), 0);
	assert_int_equal(r.rows.count, 3);
	assert_int_equal(record_find(&r, "a")->size, 3);
	assert_non_null(record_find(&r, "c,d"));
	assert_null(record_find(&r, "c"));
	record_free(&r);
	assert_null(record_find(&r, "a"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines), cmocka_unit_test(checks), cmocka_unit_test(written),
		cmocka_unit_test(refuses), cmocka_unit_test(finds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
