/* drv_normalise; the strict reading is in aterm_test.c. */
#include "unit/drv/help.h"

#define A STORE_DIR "/g1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-a.drv"
#define B STORE_DIR "/h1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-b.drv"

struct parts {
	struct drv_output outs[2];
	const char *names[2];
	struct drv_input inputs[2];
	const char *srcs[2];
	struct drv_env env[2];
	struct drv d;
};

/* A sound derivation with everything in the wrong order. */
static struct parts *make(struct parts *p)
{
	*p = (struct parts){
		.outs = { { .name = "out", .method = DRV_NAR }, { .name = "dev", .method = DRV_NAR } },
		.names = { "out", "dev" },
		.inputs = { { B, p->names, 2 }, { A, p->names, 1 } },
		.srcs = { B, A },
		.env = { { "b", "2" }, { "a", "1" } },
		.d = { .name = "x", .outputs = p->outs, .output_count = 2, .inputs = p->inputs, .input_count = 2,
			.srcs = p->srcs, .src_count = 2, .system = "s", .builder = "b", .env = p->env, .env_count = 2 },
	};
	return p;
}

static void test_order(void **state)
{
	struct parts p;
	make(&p)->inputs[1].output_count = 2;
	assert_ok(drv_normalise(&p.d, err));
	_cleanup_buf_ struct buf text = BUF_INIT;
	drv_write(&p.d, &text);
	assert_string_equal(text.data, "Derive([(\"dev\",\"\",\"r:sha256\",\"\"),(\"out\",\"\",\"r:sha256\",\"\")],"
		"[(\"" A "\",[\"dev\",\"out\"]),(\"" B "\",[\"dev\",\"out\"])],[\"" A "\",\"" B "\"],\"s\",\"b\",[],"
		"[(\"a\",\"1\"),(\"b\",\"2\")])");
}

#define REFUSED(change, why) do { \
	struct parts p; \
	make(&p); \
	change; \
	assert_refused(drv_normalise(&p.d, err), why); \
} while (0)

static void test_refused(void **state)
{
	char longest[STORE_NAME_MAX + 1] = "";
	memset(longest, 'n', STORE_NAME_MAX - 4);
	REFUSED(p.d.name = "", "empty");
	REFUSED(p.d.name = "a/b", "0x2f");
	REFUSED(p.d.name = "x.drv", "name of its file");
	REFUSED((p.d.name = longest, p.outs[1].name = "devel"), "'devel' would be too long");
	longest[STORE_NAME_MAX - 4] = 'n';
	REFUSED(p.d.name = longest, "longer than 207");
	REFUSED(p.outs[1].name = "out", "same output twice");
	REFUSED(p.outs[1].method = DRV_FLAT, "of one kind");
	REFUSED((p.outs[0].method = DRV_TEXT, p.d.output_count = 1), "text object");
	REFUSED((p.outs[0].kind = p.outs[1].kind = DRV_OUT_FIXED), "only one");
	REFUSED((p.outs[0].kind = p.outs[1].kind = DRV_OUT_INPUT), "has no path");
	REFUSED((p.outs[0].path = "g1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-a"), "not a whole store path");
	REFUSED(p.d.output_count = 0, "has to have an output");
	REFUSED(p.inputs[0].path = A, "same input twice");
	REFUSED(p.inputs[0].path = STORE_DIR "/h1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-b", "not a derivation");
	REFUSED(p.inputs[0].path = STORE_DIR "/h1w7hy3qg1w7hy3qg1w7hy3qg1w7hy3q-.drv", "not a derivation");
	REFUSED(p.inputs[0].path = "/tmp/b.drv", "not a store path");
	REFUSED(p.inputs[0].output_count = 0, "no output of the input");
	REFUSED(p.names[1] = "out", "same output of an input twice");
	REFUSED(p.names[0] = "o u", "0x20");
	REFUSED(p.srcs[0] = A, "same source twice");
	REFUSED(p.srcs[0] = store_path_base(A), "not a whole store path");
	REFUSED(p.env[0].key = "a", "same variable twice");
	REFUSED(p.d.builder = "", "has to have a builder");
	REFUSED(p.d.system = "", "has to have a system");
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_order), cmocka_unit_test(test_refused) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
