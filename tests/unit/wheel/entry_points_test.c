/* entry_points.txt. */
#include "support/vectors.h"

#include "core/json.h"
#include "core/buf.h"
#include "core/mem.h"
#include "wheel/entry_points.h"

static void check_scripts(const struct scripts *got, const char *json)
{
	_cleanup_json_ struct json *want = json_parse(slice_of(json), 1 << 16, NULL);
	assert_int_equal(got->items.count, json_count(want));
	for (size_t i = 0; i < json_count(want); i++) {
		const struct json *w = json_at(want, i);
		const struct script *s = &got->items.items[i];
		assert_string_equal(s->name, json_str(json_at(w, 0)));
		assert_string_equal(s->module, json_str(json_at(w, 1)));
		assert_string_equal(s->attr, json_str(json_at(w, 2)));
		assert_string_equal(s->gui ? "gui" : "console", json_str(json_at(w, 3)));
	}
}

static void vectors_all(void **state)
{
	vectors_or_skip("dist/entry-points.tsv");
	struct vectors v = vectors_load("dist/entry-points.tsv");
	for (size_t i = 0; i < v.count; i++) {
		struct vectors_cell cell = vectors_cell(&v, i, "entry_points_txt");
		struct slice text = { cell.data, cell.len };
		if (str_starts(cell.data, "not UTF-8"))
			text = SLICE("\xff\xfe\xfd");
		_cleanup_scripts_ struct scripts got = { 0 };
		bool taken = scripts_parse(text, &got, NULL) == 0;
		if (taken != (strcmp(vectors_text(&v, i, "expected"), "accept") == 0))
			fail_msg("\"%s\" must be %s", cell.data, vectors_text(&v, i, "expected"));
		if (taken)
			check_scripts(&got, vectors_text(&v, i, "scripts"));
	}
	vectors_free(&v);
}

/* Whatever stands in the file becomes Python source: nothing but names may. */
static void no_code(void **state)
{
	static const char *const bad[] = {
		"x = a:b; import os", "x = a import b\n:c", "x = a:b()", "x = a.:b", "x = .a:b", "x = a:", "x = :b",
		"x = a", "x = 1a:b", "x = a:b [", "x = a-b:c", ". = a:b", ".. = a:b",
		"x = a:b\n[gui_scripts]\nx = c:d", "x = a:b\nx = a:b",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		_cleanup_free_ char *text = mem_printf("[console_scripts]\n%s\n", bad[i]);
		struct scripts got;
		if (scripts_parse(slice_of(text), &got, NULL) == 0)
			fail_msg("taken: %s", bad[i]);
	}
}

static void writes(void **state)
{
	_cleanup_scripts_ struct scripts got = { 0 };
	_cleanup_buf_ struct buf out = BUF_INIT;
	assert_int_equal(scripts_parse(SLICE("[console_scripts]\r\nrun-it = pkg.cli : App.main [fast]\r\n"), &got, NULL), 0);
	script_write(&got.items.items[0], "/env/bin/python", &out);
	assert_string_equal(out.data, "#!/env/bin/python\nimport sys\nfrom pkg.cli import App\n"
		"if __name__ == \"__main__\":\n\tsys.exit(App.main())\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vectors_all), cmocka_unit_test(no_code), cmocka_unit_test(writes),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
