#include "unit/drv/help.h"

struct answer {
	const char *drv, *output, *path;
};

#define CA_ONE STORE_DIR "/45lzk49n8d02vmfylsnp9gbfb5xxrnrq-ca-one"

static const struct answer measured[] = {
	{ STORE_DIR "/6974xgyal3c04927bpslhplm6hjwppr1-ca-one.drv", "out", CA_ONE },
	{ STORE_DIR "/h9admj76213mizhxs1b6h5qwjwv9h227-ca-one.drv", "out", CA_ONE },
	{ STORE_DIR "/c86m19ssfa3qx69q37pv2vavv2zrnvy1-ca-multi.drv", "dev",
		STORE_DIR "/fds1azsj8zj48z28k0ip3cgg949zj0dc-ca-multi-dev" },
	/* Nix's try-resolve/with-inputs, with our folder for its own */
	{ STORE_DIR "/g1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1.drv", "dev",
		STORE_DIR "/j1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1-dev" },
	{ STORE_DIR "/g1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1.drv", "out",
		STORE_DIR "/f1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1-out" },
	{ STORE_DIR "/h1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep2.drv", "out",
		STORE_DIR "/i1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep2-out" },
	{ NULL, NULL, NULL },
};

static const char *known(void *ctx, const char *drv, const char *output)
{
	for (const struct answer *a = ctx; a->drv; a++)
		if (strcmp(a->drv, drv) == 0 && strcmp(a->output, output) == 0)
			return a->path;
	return NULL;
}

static struct drv *read_measured(const char *file, struct arena *a)
{
	const char *name = file + STORE_PATH_DIGEST + 1;
	_cleanup_buf_ struct buf path = BUF_INIT;
	buf_printf(&path, "nix/measured/drv/%s", file);
	struct drv *d = NULL;
	assert_ok((d = drv_read(slurp(vectors_path(path.data), a), arena_dup_n(a, name, strlen(name) - 4), a, err)) ? 0 : -1);
	return d;
}

/* To the very bytes, and so the path, of what Nix resolved it to. */
static void assert_resolves(const char *from, const char *to)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	_cleanup_buf_ struct buf text = BUF_INIT, path = BUF_INIT;
	struct drv *d = read_measured(from, &a), *resolved = NULL;
	assert_ok((resolved = drv_resolve(d, known, (void *)measured, &a, err)) ? 0 : -1);
	drv_write(resolved, &text);
	drv_path(resolved, &path);
	assert_string_equal(store_path_base(path.data), to);
	_cleanup_buf_ struct buf file = BUF_INIT;
	buf_printf(&file, "nix/measured/drv/%s", to);
	assert_slice(slurp(vectors_path(file.data), &a), &text);
}

static void test_measured(void **state)
{
	vectors_or_skip("nix/measured/graph.json");
	assert_resolves("pnsgpzhl1rkgphhg6jvannlhm50xr29k-ca-dep.drv", "9w1bh8zi4hfsb4fz55k8iqavf90wnn86-ca-dep.drv");
	/* early cutoff: another input with the same output gives the same resolved derivation */
	assert_resolves("4zmclilfxaapffqmwv9kzicj0b7wp6gl-ca-dep.drv", "9w1bh8zi4hfsb4fz55k8iqavf90wnn86-ca-dep.drv");
	assert_resolves("ppgg8q06sj9w90ng7f66v5in5xxg0r6h-deferred.drv", "vsjivxcjjgcbyc41g52yqbvbs53wwa49-deferred.drv");
	/* nothing to resolve: the same again */
	assert_resolves("6974xgyal3c04927bpslhplm6hjwppr1-ca-one.drv", "6974xgyal3c04927bpslhplm6hjwppr1-ca-one.drv");
}

#define DEP1 STORE_DIR "/g1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1.drv"
#define DEP2 STORE_DIR "/h1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep2.drv"
#define DEP1_OUT "/10qd59vslmmj9w7hx8lpr0yxazwvhf3gfrnvbbc2s9071rhl3l55"
#define DEP1_DEV "/1r6jj1sjvjx4d1jqlnak71d8vzysdl2gyz2m01spjf31nhr1g55f"
#define DEP2_OUT "/1zwa38661ns8faagbp31qzc8vx94hxsxcncs7hvcxhjvbcfyv9wb"

/* Everywhere Nix looks: builder, args, values, names; and nothing that only looks like it. */
static void test_places(void **state)
{
	const char *both[] = { "dev", "out" }, *args[] = { "-I" DEP1_DEV "/include", "/" DEP2_OUT DEP1_OUT "x", "/short" };
	struct drv_input inputs[] = { { DEP1, both, 2 }, { DEP2, both + 1, 1 } };
	struct drv_output out = { .name = "out", .kind = DRV_OUT_FLOATING, .method = DRV_NAR };
	struct drv_env env[] = {
		{ DEP1_DEV, "by its name" }, { DEP1_OUT "x", "renamed" }, { "other", "/10qd59vslmmj9w7hx8lpr0yxazwvhf3gfrnvbbc2s9071rhl3l56" },
	};
	const char *srcs[] = { STORE_DIR "/h1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-src", STORE_DIR "/i1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep2-out" };
	struct drv d = { .name = "with-inputs", .outputs = &out, .output_count = 1, .inputs = inputs, .input_count = 2,
		.srcs = srcs, .src_count = 2, .system = "x86_64-linux", .builder = DEP1_OUT "/bin/sh", .args = args,
		.arg_count = 3, .env = env, .env_count = 3 };
	_cleanup_arena_ struct arena a = ARENA_INIT;
	struct drv *r = NULL;
	assert_ok(drv_normalise(&d, err));
	assert_ok((r = drv_resolve(&d, known, (void *)measured, &a, err)) ? 0 : -1);
	assert_int_equal(r->input_count, 0);
	assert_string_equal(r->builder, STORE_DIR "/f1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1-out/bin/sh");
	assert_string_equal(r->args[0], "-I" STORE_DIR "/j1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1-dev/include");
	assert_string_equal(r->args[1], "/" STORE_DIR "/i1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep2-out"
		STORE_DIR "/f1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1-outx");
	assert_string_equal(r->args[2], "/short");
	assert_int_equal(r->src_count, 4); /* one was a source before */
	assert_string_equal(drv_env_get(r, STORE_DIR "/j1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1-dev"), "by its name");
	assert_string_equal(drv_env_get(r, STORE_DIR "/f1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-dep1-outx"), "renamed");
	assert_string_equal(drv_env_get(r, "other"), "/10qd59vslmmj9w7hx8lpr0yxazwvhf3gfrnvbbc2s9071rhl3l56");
	assert_ok(drv_normalise(r, err));
	assert_int_equal(d.input_count, 2); /* d itself is untouched */
	assert_string_equal(d.args[0], "-I" DEP1_DEV "/include");
}

static void test_unknown(void **state)
{
	static const struct answer nothing[] = { { NULL, NULL, NULL } };
	const char *outs[] = { "out" };
	struct drv_input input = { DEP1, outs, 1 };
	struct drv_output out = { .name = "out", .kind = DRV_OUT_FLOATING, .method = DRV_NAR };
	struct drv d = { .name = "x", .outputs = &out, .output_count = 1, .inputs = &input, .input_count = 1,
		.system = "s", .builder = "b" };
	_cleanup_arena_ struct arena a = ARENA_INIT;
	assert_null_with(drv_resolve(&d, known, (void *)nothing, &a, err), "the output 'out' of " DEP1 " is not known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measured), cmocka_unit_test(test_places), cmocka_unit_test(test_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
