/* nar_read.c, nar_write.c and nar_names.c against every archive of the vectors. */
#include "unit/drv/help.h"

#include "core/hash.h"
#include "core/json.h"
#include "drv/nar.h"

/* What a reading saw: one line a node, and the archive written again. */
struct seen {
	struct buf lines, again, path;
	struct str_list folders;
	struct hasher hasher;
	struct nar_writer *writer;
};

static int to_buf(void *ctx, const void *data, size_t len, struct err *err)
{
	(void)err;
	buf_add(ctx, data, len);
	return 0;
}

static int enter(struct seen *s, char kind, const char *name, struct err *err)
{
	if (name && nar_entry(s->writer, name, err) < 0)
		return -1;
	_cleanup_buf_ struct buf path = BUF_INIT, shown = BUF_INIT;
	buf_add(&path, s->path.data, s->path.len);
	if (name)
		buf_printf(&path, "/%s", name);
	buf_printf(&shown, "<%zu bytes>", path.len); /* what trees.json has for very long ones */
	buf_printf(&s->lines, "%c ", kind);
	enc_base16(path.len > 4096 ? shown.data : path.data, path.len > 4096 ? shown.len : path.len, &s->lines);
	return 0;
}

static int on_folder(void *ctx, const char *name, struct err *err)
{
	struct seen *s = ctx;
	if (enter(s, 'd', name, err) < 0)
		return -1;
	buf_byte(&s->lines, '\n');
	str_list_add(&s->folders, s->path.data ? s->path.data : "");
	if (name)
		buf_printf(&s->path, "/%s", name);
	return nar_begin_folder(s->writer, err);
}

static int on_end_folder(void *ctx, struct err *err)
{
	struct seen *s = ctx;
	s->path.len = strlen(s->folders.items[--s->folders.count]);
	free(s->folders.items[s->folders.count]);
	if (s->path.data)
		s->path.data[s->path.len] = '\0';
	return nar_end_folder(s->writer, err);
}

static int on_link(void *ctx, const char *name, const char *target, struct err *err)
{
	struct seen *s = ctx;
	if (enter(s, 'l', name, err) < 0)
		return -1;
	if (strlen(target) > 1024)
		buf_printf(&s->lines, " <%zu bytes>\n", strlen(target));
	else
		buf_printf(&s->lines, " %s\n", target);
	return nar_link(s->writer, target, err);
}

static int on_file(void *ctx, const char *name, bool executable, uint64_t size, struct err *err)
{
	struct seen *s = ctx;
	if (enter(s, executable ? 'x' : 'f', name, err) < 0)
		return -1;
	buf_printf(&s->lines, " %llu ", (unsigned long long)size);
	hash_begin(&s->hasher);
	return nar_begin_file(s->writer, executable, size, err);
}

static int on_data(void *ctx, const void *data, size_t len, struct err *err)
{
	struct seen *s = ctx;
	assert_true(len > 0);
	hash_update(&s->hasher, data, len);
	return nar_file_data(s->writer, data, len, err);
}

static int on_end_file(void *ctx, struct err *err)
{
	struct seen *s = ctx;
	struct hash hash;
	hash_end(&s->hasher, &hash);
	hash_base16(&hash, &s->lines);
	buf_byte(&s->lines, '\n');
	return nar_end_file(s->writer, err);
}

static const struct nar_events events = { on_folder, on_end_folder, on_link, on_file, on_data, on_end_file };

static void seen_begin(struct seen *s)
{
	*s = (struct seen){ .lines = BUF_INIT };
	s->writer = nar_writer_new(to_buf, &s->again);
}

static void seen_free(struct seen *s)
{
	nar_writer_free(s->writer);
	buf_free(&s->lines);
	buf_free(&s->again);
	buf_free(&s->path);
	str_list_free(&s->folders);
}

static int read_in_pieces(struct slice nar, size_t piece, struct seen *s, struct err *err)
{
	struct nar_reader *r = nar_reader_new(&events, s);
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < nar.n; i += piece)
		rc = nar_reader_feed(r, nar.p + i, nar.n - i < piece ? nar.n - i : piece, err);
	if (rc == 0)
		rc = nar_reader_end(r, err);
	if (rc == 0)
		rc = nar_finish(s->writer, err);
	nar_reader_free(r);
	return rc;
}

/* The tree of trees.json in the form of struct seen's lines. */
static void expected_lines(const struct json *tree, struct buf *out)
{
	for (size_t i = 0; i < json_count(tree); i++) {
		const struct json *node = json_at(tree, i);
		const char *type = json_get_str(node, "type"), *hex = json_get_str(node, "path_hex");
		const char *path = json_get_str(node, "path");
		bool executable = json_get_bool(node, "executable", false);
		buf_printf(out, "%c ", type[0] == 'd' ? 'd' : type[0] == 's' ? 'l' : executable ? 'x' : 'f');
		if (hex)
			buf_str(out, hex);
		else
			enc_base16(path, strlen(path), out);
		if (type[0] == 's')
			buf_printf(out, " %s", json_get_str(node, "target"));
		if (type[0] == 'r')
			buf_printf(out, " %lld %s", (long long)json_get_int(node, "size", -1), json_get_str(node, "sha256"));
		buf_byte(out, '\n');
	}
}

static void check_one(const char *file, bool accept, const struct json *tree, size_t piece)
{
	_cleanup_arena_ struct arena a = ARENA_INIT;
	_cleanup_buf_ struct buf path = BUF_INIT, want = BUF_INIT;
	_cleanup_err_ struct err err = { 0 };
	struct seen s;
	buf_printf(&path, "nar/%s", file);
	struct slice nar = slurp(vectors_path(path.data), &a);
	seen_begin(&s);
	int rc = read_in_pieces(nar, piece, &s, &err);
	if ((rc == 0) != accept)
		fail_msg("%s: %s", file, rc == 0 ? "accepted" : err.msg);
	if (rc < 0)
		assert_int_equal(err.code, ERR_INPUT);
	else
		assert_slice(nar, &s.again);
	if (rc == 0 && tree) {
		expected_lines(tree, &want);
		assert_string_equal(s.lines.data, want.data);
	}
	seen_free(&s);
}

static void test_vectors(void **state)
{
	static const size_t pieces[] = { SIZE_MAX, 1, 7, 4096 };
	vectors_or_skip("nar/cases.tsv");
	struct vectors v = vectors_load("nar/cases.tsv");
	_cleanup_arena_ struct arena a = ARENA_INIT;
	struct slice text = slurp(vectors_path("nar/trees.json"), &a);
	_cleanup_json_ struct json *trees = NULL;
	assert_ok((trees = json_parse(text, text.n, err)) ? 0 : -1);
	assert_int_equal(v.count, 99);
	size_t with_tree = 0;
	for (size_t i = 0; i < v.count; i++) {
		const char *file = vectors_text(&v, i, "file");
		const struct json *tree = json_get(trees, file);
		with_tree += tree != NULL;
		for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++)
			check_one(file, strcmp(vectors_text(&v, i, "expected"), "accept") == 0, tree, pieces[p]);
	}
	assert_int_equal(with_tree, json_count(trees));
	vectors_free(&v);
}

/* Every archive that is cut off anywhere is refused, and at most once: a broken reader stays broken. */
static void test_cut_off(void **state)
{
	vectors_or_skip("nar/cases.tsv");
	_cleanup_arena_ struct arena a = ARENA_INIT;
	struct slice nar = slurp(vectors_path("nar/nix/simple.nar"), &a);
	for (size_t n = 0; n < nar.n; n++) {
		struct seen s;
		seen_begin(&s);
		assert_refused(read_in_pieces((struct slice){ nar.p, n }, 64, &s, err), "cut off");
		seen_free(&s);
	}
	const struct nar_events none = { 0 };
	struct nar_reader *r = nar_reader_new(&none, NULL);
	assert_ok(nar_reader_feed(r, nar.p, nar.n, err));
	assert_ok(nar_reader_end(r, err));
	assert_refused(nar_reader_feed(r, nar.p, 1, err), "something after the end");
	assert_refused(nar_reader_feed(r, nar.p, 1, err), "refused before");
	assert_refused(nar_reader_end(r, err), "cut off");
	nar_reader_free(r);
}

static void nest(struct nar_writer *w, int depth)
{
	for (int i = 0; i < depth; i++) {
		assert_ok(nar_begin_folder(w, err));
		assert_ok(nar_entry(w, "d", err));
	}
}

static void test_depth(void **state)
{
	struct seen s;
	seen_begin(&s);
	nest(s.writer, 512);
	assert_refused(nar_begin_folder(s.writer, err), "nested more than 512 deep");
	seen_free(&s);
	seen_begin(&s);
	nest(s.writer, 512);
	assert_ok(nar_link(s.writer, "x", err));
	for (int i = 0; i < 512; i++)
		assert_ok(nar_end_folder(s.writer, err));
	assert_ok(nar_finish(s.writer, err));
	const struct nar_events none = { 0 };
	struct nar_reader *r = nar_reader_new(&none, NULL);
	assert_ok(nar_reader_feed(r, s.again.data, s.again.len, err));
	assert_ok(nar_reader_end(r, err));
	nar_reader_free(r);
	seen_free(&s);
}

static void test_limits(void **state)
{
	struct seen s;
	_cleanup_free_ char *text = mem_alloc(40000);
	memset(text, 'a', 32769);
	seen_begin(&s);
	assert_refused(nar_link(s.writer, text, err), "more than 32768");
	assert_ok(nar_begin_folder(s.writer, err));
	assert_refused(nar_entry(s.writer, text, err), "more than 32768");
	text[32768] = '\0';
	for (int i = 0; i < 7; i++) {
		assert_ok(nar_entry(s.writer, text, err));
		assert_ok(nar_begin_folder(s.writer, err));
	}
	assert_ok(nar_entry(s.writer, text, err));
	assert_ok(nar_begin_folder(s.writer, err));
	assert_refused(nar_entry(s.writer, text, err), "more than 262144");
	seen_free(&s);
}

static void test_writer_names(void **state)
{
	static const struct { const char *name, *why; } bad[] = {
		{ "", "empty" }, { ".", "named '.'" }, { "..", "named '..'" }, { "a/b", "slash" }, { "b", "one name" },
		{ "a", "not sorted" }, { "B", "not sorted" },
	};
	struct seen s;
	seen_begin(&s);
	assert_ok(nar_begin_folder(s.writer, err));
	assert_ok(nar_entry(s.writer, "b", err));
	assert_ok(nar_link(s.writer, "", err));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_refused(nar_entry(s.writer, bad[i].name, err), bad[i].why);
	assert_ok(nar_entry(s.writer, "b-", err));
	seen_free(&s);
}

static void test_writer_order(void **state)
{
	struct seen s;
	seen_begin(&s);
	assert_refused(nar_entry(s.writer, "a", err), "wrong order");
	assert_refused(nar_end_folder(s.writer, err), "wrong order");
	assert_refused(nar_file_data(s.writer, "x", 1, err), "wrong order");
	assert_refused(nar_end_file(s.writer, err), "wrong order");
	assert_refused(nar_finish(s.writer, err), "wrong order");
	assert_ok(nar_begin_file(s.writer, true, 3, err));
	assert_refused(nar_begin_folder(s.writer, err), "wrong order");
	assert_refused(nar_file_data(s.writer, "abcd", 4, err), "more than the 3 bytes");
	assert_ok(nar_file_data(s.writer, "ab", 2, err));
	assert_refused(nar_end_file(s.writer, err), "1 bytes fewer than the 3");
	assert_ok(nar_file_data(s.writer, "c", 1, err));
	assert_ok(nar_end_file(s.writer, err));
	assert_refused(nar_link(s.writer, "x", err), "wrong order");
	assert_ok(nar_finish(s.writer, err));
	assert_refused(nar_finish(s.writer, err), "wrong order");
	seen_free(&s);
}

static int full(void *ctx, const void *data, size_t len, struct err *err)
{
	(void)ctx, (void)data, (void)len;
	return err_set(err, ERR_FAIL, "no space left");
}

static void test_sink_fails(void **state)
{
	_cleanup_free_ char *block = mem_alloc(100000);
	struct nar_writer *w = nar_writer_new(full, NULL);
	assert_ok(nar_begin_file(w, false, 100000, err));
	assert_refused(nar_file_data(w, block, 100000, err), "no space left");
	nar_writer_free(w);
}

static int refuse_link(void *ctx, const char *name, const char *target, struct err *err)
{
	(void)ctx, (void)name;
	return err_set(err, ERR_FAIL, "no link to %s", target);
}

static void test_callback_fails(void **state)
{
	struct seen s;
	seen_begin(&s);
	assert_ok(nar_link(s.writer, "there", err));
	assert_ok(nar_finish(s.writer, err));
	const struct nar_events picky = { .link = refuse_link };
	struct nar_reader *r = nar_reader_new(&picky, NULL);
	assert_refused(nar_reader_feed(r, s.again.data, s.again.len, err), "no link to there");
	assert_refused(nar_reader_end(r, err), "not a valid NAR");
	nar_reader_free(r);
	seen_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors), cmocka_unit_test(test_cut_off), cmocka_unit_test(test_depth),
		cmocka_unit_test(test_limits), cmocka_unit_test(test_writer_names), cmocka_unit_test(test_writer_order),
		cmocka_unit_test(test_sink_fails), cmocka_unit_test(test_callback_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
