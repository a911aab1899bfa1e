/* Compatibility tags. */
#include "support/vectors.h"

#include "core/buf.h"
#include "core/mem.h"
#include "wheel/name.h"
#include "wheel/tag.h"

static void join(const struct str_list *l, struct buf *out)
{
	for (size_t i = 0; i < l->count; i++)
		buf_printf(out, "%s%s", i ? " " : "", l->items[i]);
	buf_add(out, "", 0);
}

static void strings(void **state)
{
	vectors_or_skip("names/tag-strings.tsv");
	struct vectors v = vectors_load("names/tag-strings.tsv");
	for (size_t i = 0; i < v.count; i++) {
		struct vectors_cell text = vectors_cell(&v, i, "input");
		_cleanup_str_list_ struct str_list tags = STR_LIST_INIT;
		_cleanup_buf_ struct buf all = BUF_INIT;
		bool got = tag_parse((struct slice){ text.data, text.len }, &tags, NULL) == 0;
		if (got != (strcmp(vectors_text(&v, i, "expected"), "accept") == 0))
			fail_msg("\"%s\" must be %s", text.data, vectors_text(&v, i, "expected"));
		join(&tags, &all);
		if (got)
			assert_string_equal(all.data, vectors_text(&v, i, "expanded"));
	}
	vectors_free(&v);
}

static void platforms(void **state)
{
	vectors_or_skip("names/platform-tags.tsv");
	struct vectors v = vectors_load("names/platform-tags.tsv");
	for (size_t i = 0; i < v.count; i++)
		if (tag_platform_accepted(vectors_text(&v, i, "platform")) !=
		    (strcmp(vectors_text(&v, i, "expected"), "accept") == 0))
			fail_msg("%s must be %s", vectors_text(&v, i, "platform"), vectors_text(&v, i, "expected"));
	vectors_free(&v);
}

static void manylinux_order(void **state)
{
	vectors_or_skip("elf/manylinux-order.tsv");
	struct vectors v = vectors_load("elf/manylinux-order.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_str_list_ struct str_list tags = STR_LIST_INIT;
		_cleanup_buf_ struct buf all = BUF_INIT;
		const char *glibc = vectors_text(&v, i, "glibc");
		assert_true(str_starts(glibc, "2."));
		tag_manylinux_accepted(vectors_text(&v, i, "arch"), atoi(glibc + 2), &tags);
		join(&tags, &all);
		assert_string_equal(all.data ? all.data : "", vectors_text(&v, i, "platform_tags_best_first"));
	}
	vectors_free(&v);
}

/* One row of retag.tsv: the new name that changes to the parts make. */
static void check_retag(const struct vectors *v, size_t i)
{
	_cleanup_wheel_name_ struct wheel_name n = { 0 };
	assert_int_equal(wheel_name_parse(vectors_text(v, i, "wheel"), &n, NULL), 0);
	struct { char **part; const char *column; } parts[] = {
		{ &n.python, "python" }, { &n.abi, "abi" }, { &n.platform, "platform" },
	};
	for (size_t k = 0; k < 3; k++) {
		char *changed = tag_change(*parts[k].part, vectors_text(v, i, parts[k].column));
		free(*parts[k].part);
		*parts[k].part = changed;
	}
	const char *build = vectors_text(v, i, "build"), *want = vectors_text(v, i, "new_name");
	bool refuse = str_starts(want, "refuse");
	assert_int_equal(*build && !wheel_build_valid(slice_of(build)), refuse);
	if (refuse)
		return;
	if (*build)
		n.build = mem_dup(build);
	_cleanup_free_ char *have = wheel_name_format(&n);
	assert_string_equal(have, want);
}

static void retag(void **state)
{
	vectors_or_skip("dist/retag.tsv");
	struct vectors v = vectors_load("dist/retag.tsv");
	for (size_t i = 0; i < v.count; i++)
		check_retag(&v, i);
	vectors_free(&v);
}

static void pythons(void **state)
{
	static const struct { const char *python, *abi, *version; bool agrees; } cases[] = {
		{ "cp313", "cp313", "3.13", true }, { "cp312", "cp312", "3.13", false },
		{ "cp313", "cp313", "3.1", false }, { "cp313", "cp313t", "3.13", false },
		{ "cp314", "cp314t", "3.14t", true }, { "cp314", "cp314", "3.14t", false },
		{ "cp39", "abi3", "3.13", true }, { "cp314", "abi3", "3.13", false },
		{ "cp39", "abi3", "3.14t", false }, { "py3", "none", "3.13", true },
		{ "py2.py3", "none", "3.13", true }, { "py2", "none", "3.13", false },
		{ "py314", "none", "3.13", false }, { "cp313", "none", "3.13", true },
		{ "pp310", "pypy310_pp73", "3.10", false }, { "py3", "cp313", "3.13", false },
		{ "cp312.cp313", "cp312.cp313", "3.13", true }, { "cp3", "none", "3.13", false },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if ((tag_agrees_with_python(cases[i].python, cases[i].abi, cases[i].version, NULL) == 0) !=
		    cases[i].agrees)
			fail_msg("%s-%s on %s", cases[i].python, cases[i].abi, cases[i].version);
	static const char *const not_versions[] = { "3", "", "3.13u", "3.14tt", "three", NULL };
	for (size_t i = 0; not_versions[i]; i++)
		assert_int_equal(tag_agrees_with_python("py3", "none", not_versions[i], NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strings), cmocka_unit_test(platforms), cmocka_unit_test(manylinux_order),
		cmocka_unit_test(retag), cmocka_unit_test(pythons),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
