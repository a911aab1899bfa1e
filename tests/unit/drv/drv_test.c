#include "unit/drv/help.h"

static void test_placeholders(void **state)
{
	vectors_or_skip("nix/placeholders.tsv");
	struct vectors v = vectors_load("nix/placeholders.tsv");
	size_t own = 0, downstream = 0;
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_buf_ struct buf text = BUF_INIT, path = BUF_INIT;
		const char *output = vectors_text(&v, i, "output"), *drv = vectors_text(&v, i, "derivation");
		if (!vectors_text(&v, i, "clear_text_hashed_with_sha256"))
			continue; /* of a dynamic derivation, which Nix 2.8 has not */
		buf_printf(&path, STORE_DIR "/%s", drv ? drv : "");
		if (drv)
			drv_placeholder_of(path.data, output, &text);
		else
			drv_placeholder(output, &text);
		*(drv ? &downstream : &own) += 1;
		assert_string_equal(text.data, vectors_text(&v, i, "placeholder"));
	}
	assert_int_equal(own, 3);
	assert_int_equal(downstream, 4);
	vectors_free(&v);
}

static struct drv fixed(enum drv_method method, struct drv_output *out)
{
	*out = (struct drv_output){ .name = "out", .kind = DRV_OUT_FIXED, .method = method };
	hash_of("hello", 5, &out->hash);
	return (struct drv){ .name = "archive.tar.gz", .outputs = out, .output_count = 1, .system = "builtin",
		.builder = "builtin:fetch" };
}

static void test_fill_outputs(void **state)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	struct drv_output out;
	struct drv d = fixed(DRV_FLAT, &out);
	struct drv_env env[] = { { "name", "x" }, { "zz", "" } };
	d.env = env;
	d.env_count = 2;
	assert_ok(drv_fill_outputs(&d, &a, err));
	assert_string_equal(out.path, STORE_DIR "/qjrvn1swbdbhpvq99myrvz2lslwyvf1b-archive.tar.gz");
	assert_int_equal(d.env_count, 3);
	assert_string_equal(d.env[1].key, "out"); /* in its place */
	assert_string_equal(drv_env_get(&d, "out"), out.path);
	assert_string_equal(drv_env_get(&d, "name"), "x");
	assert_string_equal(drv_env_get(&d, "zz"), "");
	assert_null(drv_env_get(&d, "a"));
	assert_null(drv_env_get(&d, "zzz"));
	d.env[1].value = "stale";
	assert_ok(drv_fill_outputs(&d, &a, err));
	assert_int_equal(d.env_count, 3);
	assert_string_equal(drv_env_get(&d, "out"), out.path);
	out.name = "bin";
	assert_refused(drv_fill_outputs(&d, &a, err), "called 'out', not 'bin'");
}

static void test_output_get(void **state)
{
	struct drv_output outs[] = { { .name = "dev" }, { .name = "out" } };
	struct drv d = { .outputs = outs, .output_count = 2 };
	assert_ptr_equal(drv_output_get(&d, "out"), &outs[1]);
	assert_null(drv_output_get(&d, "lib"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_placeholders), cmocka_unit_test(test_fill_outputs), cmocka_unit_test(test_output_get),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
