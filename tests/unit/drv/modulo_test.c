#include "unit/drv/help.h"

#include "drv/aterm.h"

#define SIZE(array) (sizeof(array) / sizeof *(array))

struct known {
	const char *path, *file;
	struct drv *d;
	struct hash modulo;
};

struct graph {
	struct arena a;
	struct known *items;
	size_t count;
};

static const struct hash *modulo_of(void *ctx, const char *path)
{
	struct graph *g = ctx;
	for (size_t i = 0; i < g->count; i++)
		if (strcmp(g->items[i].path, path) == 0)
			return &g->items[i].modulo;
	return NULL;
}

/* Read and hash each, inputs before what uses them. */
static void load(struct graph *g)
{
	for (size_t i = 0; i < g->count; i++) {
		struct known *k = &g->items[i];
		assert_ok((k->d = aterm_read(slurp(vectors_path(k->file), &g->a), "name", &g->a, err)) ? 0 : -1);
		assert_ok(drv_hash_modulo(k->d, modulo_of, g, &k->modulo, err));
	}
}

/* The hash in the row whose description begins so. */
static struct hash expected(const char *derivation, const char *what)
{
	struct vectors v = vectors_load("nix/hash-modulo.tsv");
	struct hash hash;
	size_t i = 0;
	while (i < v.count && !(str_starts(vectors_text(&v, i, "derivation"), derivation) &&
		strstr(vectors_text(&v, i, "what"), what)))
		i++;
	if (i == v.count)
		fail_msg("no row for %s, %s", derivation, what);
	assert_ok(hash_parse(slice_of(vectors_text(&v, i, "sha256")), &hash, err));
	vectors_free(&v);
	return hash;
}

static void assert_hash(const struct hash *got, struct hash want)
{
	assert_memory_equal(got->bytes, want.bytes, HASH_SIZE);
}

#define GOLDEN "nix/golden/derivation/hash-modulo/"

static void test_golden(void **state)
{
	vectors_or_skip("nix/hash-modulo.tsv");
	struct known items[] = {
		{ "/nix/store/q4mzjdlh5px6977h7v5fdsk1p33yg583-source.drv", GOLDEN "source-first.drv", NULL, {{0}} },
		{ "/nix/store/jwmbpldsdgfjhkxk317jn55jilyfl63f-source.drv", GOLDEN "source-second.drv", NULL, {{0}} },
		{ "/nix/store/f8g8x4m83da3b2f79iv84q2r3qlc58lr-intermediate.drv", GOLDEN "intermediate-first.drv", NULL, {{0}} },
		{ "/nix/store/kp6i4n4bb3hlniwqjakhlf046qpdc0gl-intermediate.drv", GOLDEN "intermediate-second.drv", NULL, {{0}} },
		{ "split", GOLDEN "parent-split.drv", NULL, {{0}} },
		{ "joined", GOLDEN "parent-joined.drv", NULL, {{0}} },
	};
	struct graph g = { ARENA_INIT, items, SIZE(items) };
	struct hash id;
	load(&g);
	assert_hash(&items[0].modulo, expected("source-first", "fixed output"));
	assert_hash(&items[1].modulo, items[0].modulo); /* another builder of the same contents */
	assert_hash(&items[2].modulo, expected("intermediate-first", "KEPT"));
	assert_hash(&items[3].modulo, items[2].modulo);
	assert_ok(drv_hash_id(items[2].d, modulo_of, &g, &id, err));
	assert_hash(&id, expected("intermediate-first", "EMPTY"));
	assert_ok(drv_hash_id(items[4].d, modulo_of, &g, &id, err));
	assert_hash(&id, expected("parent-split", "EMPTY"));
	assert_ok(drv_hash_id(items[5].d, modulo_of, &g, &id, err));
	assert_hash(&id, expected("parent-joined", "EMPTY"));
	arena_free(&g.a);
}

#define MEASURED(base) { STORE_DIR "/" base, "nix/measured/drv/" base, NULL, {{0}} }

static void test_measured(void **state)
{
	static const char *const names[] = {
		"measured caOne", "measured caSame", "measured caMulti", "measured caSelf", "measured caDep",
		"measured caDepSame",
	};
	vectors_or_skip("nix/hash-modulo.tsv");
	struct known items[] = {
		MEASURED("6974xgyal3c04927bpslhplm6hjwppr1-ca-one.drv"),
		MEASURED("h9admj76213mizhxs1b6h5qwjwv9h227-ca-one.drv"),
		MEASURED("c86m19ssfa3qx69q37pv2vavv2zrnvy1-ca-multi.drv"),
		MEASURED("p8s0xpz1vx13830pjn7566zd6gh62fb1-ca-self.drv"),
		MEASURED("pnsgpzhl1rkgphhg6jvannlhm50xr29k-ca-dep.drv"),
		MEASURED("4zmclilfxaapffqmwv9kzicj0b7wp6gl-ca-dep.drv"),
	};
	struct graph g = { ARENA_INIT, items, SIZE(items) };
	load(&g);
	for (size_t i = 0; i < g.count; i++) {
		struct hash id;
		assert_ok(drv_hash_id(items[i].d, modulo_of, &g, &id, err));
		struct hash want = expected(names[i], "realisations");
		assert_hash(&id, want);
		_cleanup_buf_ struct buf text = BUF_INIT, wanted = BUF_INIT;
		drv_output_id(&id, "out", &text);
		buf_str(&wanted, "sha256:");
		hash_base16(&want, &wanted);
		buf_str(&wanted, "!out");
		assert_string_equal(text.data, wanted.data);
	}
	arena_free(&g.a);
}

static const struct hash *knows_nothing(void *ctx, const char *path)
{
	(void)ctx, (void)path;
	return NULL;
}

static void test_unknown_input(void **state)
{
	const char *outs[] = { "out" };
	struct drv_input input = { STORE_DIR "/c86m19ssfa3qx69q37pv2vavv2zrnvy1-ca-multi.drv", outs, 1 };
	struct drv_output out = { .name = "out", .kind = DRV_OUT_FLOATING, .method = DRV_NAR };
	struct drv d = { .name = "x", .outputs = &out, .output_count = 1, .inputs = &input, .input_count = 1,
		.system = "s", .builder = "b" };
	struct hash hash;
	assert_refused(drv_hash_modulo(&d, knows_nothing, NULL, &hash, err), "c86m19ssfa3qx69q37pv2vavv2zrnvy1");
	assert_refused(drv_hash_id(&d, NULL, NULL, &hash, err), "no hash is known");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden), cmocka_unit_test(test_measured), cmocka_unit_test(test_unknown_input),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
