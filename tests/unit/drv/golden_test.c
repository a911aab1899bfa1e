/* The byte forms of this room: what a small graph of derivations comes to, and a NAR. */
#include "unit/drv/help.h"

#include "drv/nar.h"
#include "support/golden.h"

struct step {
	struct drv d;
	char path[256];
	struct hash modulo, id;
};

static struct step steps[3];

static const struct hash *modulo_of(void *ctx, const char *path)
{
	(void)ctx;
	for (size_t i = 0; i < 3; i++)
		if (strcmp(steps[i].path, path) == 0)
			return &steps[i].modulo;
	return NULL;
}

/* The derivation in bytes, in a file of its own; and all that is computed from it, as lines. */
static void finish(struct step *s, const char *file, struct arena *a, struct buf *lines)
{
	_cleanup_buf_ struct buf text = BUF_INIT, line = BUF_INIT;
	assert_ok(drv_normalise(&s->d, err));
	assert_ok(drv_fill_outputs(&s->d, a, err));
	drv_write(&s->d, &text);
	golden_check(file, text.data, text.len);
	drv_path(&s->d, &line);
	memcpy(s->path, line.data, line.len + 1);
	assert_ok(drv_hash_modulo(&s->d, modulo_of, NULL, &s->modulo, err));
	assert_ok(drv_hash_id(&s->d, modulo_of, NULL, &s->id, err));
	buf_printf(lines, "path %s\nmodulo ", s->path);
	hash_base16(&s->modulo, lines);
	for (size_t i = 0; i < s->d.output_count; i++) {
		const struct drv_output *o = &s->d.outputs[i];
		buf_printf(lines, "\nid ");
		drv_output_id(&s->id, o->name, lines);
		buf_printf(lines, "\n%s %s ", o->path ? "output" : "placeholder", o->name);
		if (o->path)
			buf_str(lines, o->path);
		else
			drv_placeholder_of(s->path, o->name, lines);
	}
	buf_byte(lines, '\n');
}

static void fetch(struct step *s, struct arena *a, struct buf *lines)
{
	static struct drv_output out = { .name = "out", .kind = DRV_OUT_FIXED, .method = DRV_FLAT };
	static struct drv_env env[] = { { "entry", "{\"from\":\"pypi\",\"name\":\"x\"}" } };
	hash_of("the file", 8, &out.hash);
	s->d = (struct drv){ .name = "x-1.0.tar.gz", .outputs = &out, .output_count = 1, .system = "builtin",
		.builder = "builtin:fetch", .env = env, .env_count = 1 };
	finish(s, "drv/fetch.drv", a, lines);
}

static void unpack(struct step *s, struct arena *a, struct buf *lines)
{
	static const char *outs[] = { "out" };
	static struct drv_output out = { .name = "out", .kind = DRV_OUT_FLOATING, .method = DRV_NAR };
	static struct drv_input input = { .outputs = outs, .output_count = 1 };
	static struct drv_env env[] = { { "strip", "1" }, { "src", "" }, { "out", "" } };
	_cleanup_buf_ struct buf own = BUF_INIT;
	input.path = steps[0].path;
	env[1].value = steps[0].d.outputs[0].path;
	drv_placeholder("out", &own);
	env[2].value = own.data;
	s->d = (struct drv){ .name = "x-1.0-source", .outputs = &out, .output_count = 1, .inputs = &input,
		.input_count = 1, .system = "builtin", .builder = "builtin:unpack", .env = env, .env_count = 3 };
	finish(s, "drv/unpack.drv", a, lines);
}

static void build(struct step *s, struct arena *a, struct buf *lines)
{
	static const char *outs[] = { "out" }, *srcs[] = { STORE_DIR "/s5s8vqws1cc8cb95pzh8cfgmsbllpmnr-hello.txt" };
	static struct drv_output outputs[] = {
		{ .name = "out", .kind = DRV_OUT_FLOATING, .method = DRV_NAR },
		{ .name = "log", .kind = DRV_OUT_FLOATING, .method = DRV_NAR },
	};
	static struct drv_input inputs[2];
	_cleanup_buf_ struct buf text = BUF_INIT;
	drv_placeholder_of(steps[1].path, "out", &text);
	const char *args[] = { "-c", "printf 'a\\tb\n\"c\"' > $out", text.data };
	struct drv_env env[] = { { "src", text.data }, { "lang", "C.UTF-8 \xe2\x9c\x93" } };
	inputs[0] = (struct drv_input){ steps[1].path, outs, 1 };
	inputs[1] = (struct drv_input){ steps[0].path, outs, 1 };
	s->d = (struct drv){ .name = "x-1.0", .outputs = outputs, .output_count = 2, .inputs = inputs, .input_count = 2,
		.srcs = srcs, .src_count = 1, .system = "x86_64-linux", .builder = "/bin/sh", .args = args, .arg_count = 3,
		.env = env, .env_count = 2 };
	finish(s, "drv/build.drv", a, lines);
}

static const char *known(void *ctx, const char *drv, const char *output)
{
	(void)ctx, (void)output;
	return strcmp(drv, steps[0].path) == 0 ? steps[0].d.outputs[0].path :
		STORE_DIR "/45lzk49n8d02vmfylsnp9gbfb5xxrnrq-x-1.0-source";
}

static void test_graph(void **state)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	_cleanup_buf_ struct buf lines = BUF_INIT, text = BUF_INIT;
	fetch(&steps[0], &a, &lines);
	unpack(&steps[1], &a, &lines);
	/* build's parts live as long as its frame: resolve what was read back from its bytes */
	build(&steps[2], &a, &lines);
	golden_check("drv/computed.txt", lines.data, lines.len);
	struct drv *read = NULL, *resolved = NULL;
	struct slice bytes = slurp("tests/golden/drv/build.drv", &a);
	assert_ok((read = drv_read(bytes, "x-1.0", &a, err)) ? 0 : -1);
	assert_ok((resolved = drv_resolve(read, known, NULL, &a, err)) ? 0 : -1);
	drv_write(resolved, &text);
	golden_check("drv/resolved.drv", text.data, text.len);
}

static int to_buf(void *ctx, const void *data, size_t len, struct err *err)
{
	(void)err;
	buf_add(ctx, data, len);
	return 0;
}

static void put_file(struct nar_writer *w, const char *name, bool executable, const char *text)
{
	assert_ok(nar_entry(w, name, err));
	assert_ok(nar_begin_file(w, executable, strlen(text), err));
	assert_ok(nar_file_data(w, text, strlen(text), err));
	assert_ok(nar_end_file(w, err));
}

static void test_nar(void **state)
{
	_cleanup_buf_ struct buf nar = BUF_INIT;
	struct nar_writer *w = nar_writer_new(to_buf, &nar);
	assert_ok(nar_begin_folder(w, err));
	put_file(w, "README", false, "what it is\n");
	assert_ok(nar_entry(w, "bin", err));
	assert_ok(nar_begin_folder(w, err));
	put_file(w, "tool", true, "#!/bin/sh\n");
	assert_ok(nar_end_folder(w, err));
	put_file(w, "empty", false, "");
	assert_ok(nar_entry(w, "link", err));
	assert_ok(nar_link(w, "bin/tool", err));
	assert_ok(nar_end_folder(w, err));
	assert_ok(nar_finish(w, err));
	nar_writer_free(w);
	golden_check("drv/tree.nar", nar.data, nar.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_graph), cmocka_unit_test(test_nar) };
	return cmocka_run_group_tests(tests, NULL, NULL);
}
