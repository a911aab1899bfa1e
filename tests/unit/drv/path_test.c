#include "unit/drv/help.h"

static bool whole_path_ok(struct slice path, struct err *err)
{
	struct slice name;
	return path.n && path.p[0] == '/' && store_path_check(path, &name, err) == 0;
}

/* The vectors are written for /nix/store: put our folder in its place. */
static void in_our_store(struct vectors_cell cell, struct buf *out)
{
	const char *rest = cell.data;
	if (str_starts(rest, "/nix/store")) {
		buf_str(out, STORE_DIR);
		rest += strlen("/nix/store");
	}
	buf_add(out, rest, cell.len - (size_t)(rest - cell.data));
}

static void test_syntax(void **state)
{
	vectors_or_skip("nix/store-path-syntax.tsv");
	struct vectors v = vectors_load("nix/store-path-syntax.tsv");
	for (size_t i = 0; i < v.count; i++) {
		const char *kind = vectors_text(&v, i, "kind");
		struct vectors_cell cell = vectors_cell(&v, i, "input");
		bool accept = strcmp(vectors_text(&v, i, "parse_canonical"), "accept") == 0;
		_cleanup_buf_ struct buf text = BUF_INIT;
		in_our_store(cell, &text);
		struct slice input = { text.data ? text.data : "", text.len }, name;
		_cleanup_err_ struct err err = { 0 };
		bool got = strcmp(kind, "name") == 0 ? store_name_check(input, &err) == 0 :
			strcmp(kind, "path") == 0 ? whole_path_ok(input, &err) : store_path_check(input, &name, &err) == 0;
		if (got != accept)
			fail_msg("%s '%s' was %s", kind, cell.data, got ? "accepted" : "refused");
	}
	vectors_free(&v);
}

static void test_check(void **state)
{
	struct slice name;
	const char *path = STORE_DIR "/g1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-foo-1.0";
	assert_ok(store_path_check(slice_of(path), &name, err));
	assert_true(slice_is(name, "foo-1.0"));
	assert_string_equal(store_path_base(path), "g1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-foo-1.0");
	assert_ok(store_path_check(slice_of(store_path_base(path)), &name, err));
	assert_refused(store_path_check(SLICE(STORE_DIR "/g1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q"), &name, err), "not a store path");
	assert_refused(store_path_check(SLICE(STORE_DIR "/e1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-foo"), &name, err), "not a store path");
	assert_refused(store_path_check(SLICE("/forge/st\nre"), &name, err), "control characters");
	assert_refused(store_path_check(SLICE(STORE_DIR "/g1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-f\0o"), &name, err), "0x00");
	char longest[STORE_NAME_MAX + 1];
	memset(longest, 'a', sizeof longest);
	assert_ok(store_name_check((struct slice){ longest, STORE_NAME_MAX }, err));
	assert_refused(store_name_check((struct slice){ longest, STORE_NAME_MAX + 1 }, err), "longer than 211");
}

/* The type, as "source:ref:ref", taken apart again. */
static void refs_of(const char *type, struct str_list *refs)
{
	struct slice head, rest = slice_of(type);
	slice_cut(rest, ':', &head, &rest);
	while (rest.n) {
		slice_cut(rest, ':', &head, &rest);
		str_list_take(refs, mem_dup_n(head.p, head.n));
	}
}

static void check_row(const struct vectors *v, size_t row)
{
	const char *what = vectors_text(v, row, "what"), *name = vectors_text(v, row, "name");
	const char *type = vectors_text(v, row, "type"), *path = vectors_text(v, row, "path");
	const char *is = vectors_text(v, row, "inner_digest_is"), *flat_text = "sha256 of the text fixed:out:sha256:";
	_cleanup_buf_ struct buf made = BUF_INIT, other = BUF_INIT;
	_cleanup_str_list_ struct str_list refs = STR_LIST_INIT;
	struct hash inner, flat;
	assert_ok(hash_parse(slice_of(vectors_text(v, row, "inner_digest_base16")), &inner, err));
	store_path_make(type, &inner, name, &made);
	if (strcmp(made.data, path) != 0)
		fail_msg("%s: %s", what, made.data);
	refs_of(type, &refs);
	if (str_starts(type, "text"))
		store_path_text(&inner, name, &refs, &other);
	else if (str_starts(type, "source"))
		store_path_fixed(DRV_NAR, &inner, name, &refs, &other);
	else if (str_starts(is, flat_text)) {
		assert_ok(hash_parse((struct slice){ is + strlen(flat_text), 64 }, &flat, err));
		store_path_fixed(DRV_FLAT, &flat, name, NULL, &other);
	}
	if (other.len && strcmp(other.data, path) != 0)
		fail_msg("%s: %s", what, other.data);
}

static void test_computed(void **state)
{
	vectors_or_skip("nix/store-paths.tsv");
	struct vectors v = vectors_load("nix/store-paths.tsv");
	size_t ours = 0;
	for (size_t i = 0; i < v.count; i++)
		if (strcmp(vectors_text(&v, i, "store_dir"), STORE_DIR) == 0) {
			check_row(&v, i);
			ours++;
		}
	assert_true(ours > 30);
	vectors_free(&v);
}

/* What is appended to stays as it was. */
static void test_appends(void **state)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	struct hash hash;
	hash_of("hello\n", 6, &hash);
	buf_str(&out, "x=");
	store_path_text(&hash, "hello.txt", NULL, &out);
	assert_string_equal(out.data, "x=" STORE_DIR "/s5s8vqws1cc8cb95pzh8cfgmsbllpmnr-hello.txt");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_syntax), cmocka_unit_test(test_check), cmocka_unit_test(test_computed),
		cmocka_unit_test(test_appends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
