/* Layers of an image over one another: what replaces what, whiteouts, and what is refused. */
#include "support/vectors.h"
#include "support/tar_make.h"
#include "support/tempdir.h"
#include "support/zip_make.h"

#include <zlib.h>

#include "archive/layer.h"
#include "core/fs.h"
#include "core/mem.h"

/* Members of a layer end at one without a name, layers at an empty one. */
#define MEMBERS 12
typedef const struct tar_member layer[MEMBERS];

static int add(struct layers *l, const struct tar_member *members, struct err *err)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	struct hash diff_id;
	for (; members->name; members++)
		tar_make_add(&b, members);
	tar_make_end(&b);
	hash_of(b.data, b.len, &diff_id);
	_cleanup_close_ int fd = file_of(b.data, b.len);
	return layers_add(l, fd, &diff_id, err);
}

static void add_content(int dirfd, const char *path, struct buf *out)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf text = BUF_INIT;
	assert_int_equal(fs_read_file(dirfd, path, 1000, &text, &err), 0);
	buf_printf(out, "%s=%s ", path, text.data ? text.data : "");
}

/* "a/ a/b=content a/l->target ", sorted; every mode must be one of the two. */
static void describe(int dirfd, const char *folder, struct buf *out)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_err_ struct err err = { 0 };
	_cleanup_close_ int fd = openat(dirfd, *folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	assert_int_equal(fs_list(fd, &names, &err), 0);
	for (size_t i = 0; i < names.count; i++) {
		_cleanup_free_ char *path = mem_printf("%s%s%s", folder, *folder ? "/" : "", names.items[i]);
		char target[200];
		struct stat st;
		assert_int_equal(fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW), 0);
		if (S_ISDIR(st.st_mode)) {
			assert_int_equal(st.st_mode & 07777, 0755);
			buf_printf(out, "%s/ ", path);
			describe(dirfd, path, out);
		} else if (S_ISLNK(st.st_mode)) {
			ssize_t n = readlinkat(dirfd, path, target, sizeof target - 1);
			target[n] = '\0';
			buf_printf(out, "%s->%s ", path, target);
		} else {
			assert_true(S_ISREG(st.st_mode));
			assert_true((st.st_mode & 07777) == 0644 || (st.st_mode & 07777) == 0755);
			add_content(dirfd, path, out);
		}
	}
}

/* What the layers make, in that form. */
static void gives(const char *what, const layer *layers, const char *want)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf got = BUF_INIT;
	struct tempdir d = tempdir_make();
	_cleanup_layers_ struct layers *l = layers_open(d.fd, &(struct unpack_options){ 0 }, &err);
	for (; layers[0]->name; layers++)
		if (add(l, *layers, &err))
			fail_msg("%s: %s", what, err.msg);
	buf_str(&got, "");
	describe(d.fd, "", &got);
	if (strcmp(got.data, want) != 0)
		fail_msg("%s: %s\nnot %s", what, got.data, want);
	tempdir_remove(&d);
}

#define FILE_(n, text) { .name = n, .data = text }
#define FOLDER(n) { .name = n, .type = '5' }
#define LINK(n, to) { .name = n, .type = '2', .target = to }
#define HARD(n, to) { .name = n, .type = '1', .target = to }
#define GONE(n) { .name = n }

static void test_replaces(void **state)
{
	gives("a file by a file", (layer[]){ { FILE_("a", "1") }, { FILE_("a", "2") }, {} }, "a=2 ");
	gives("a file by a folder", (layer[]){ { FILE_("a", "1") }, { FOLDER("a"), FILE_("a/b", "2") }, {} }, "a/ a/b=2 ");
	gives("a folder by a file", (layer[]){ { FOLDER("a"), FILE_("a/b", "1") }, { FILE_("a", "2") }, {} }, "a=2 ");
	gives("and back", (layer[]){ { FILE_("a/b", "1") }, { FILE_("a", "2") }, { FOLDER("a"), FILE_("a/c", "3") }, {} },
		"a/ a/c=3 ");
	gives("a folder by a link", (layer[]){ { FILE_("a/b", "1"), FILE_("c", "") }, { LINK("a", "c") }, {} }, "a->c c= ");
	gives("a link by a folder", (layer[]){ { FOLDER("b"), LINK("a", "b") }, { FOLDER("a"), FILE_("a/c", "1") }, {} },
		"a/ a/c=1 b/ ");
	gives("a link by a file", (layer[]){ { FILE_("b", "1"), LINK("a", "b") }, { FILE_("a", "2") }, {} }, "a=2 b=1 ");
	gives("a folder again", (layer[]){ { FILE_("a/b", "1") }, { FOLDER("./a/"), FILE_("a/c", "2") }, {} }, "a/ a/b=1 a/c=2 ");
	gives("in one layer", (layer[]){ { FILE_("a/b", "1"), FILE_("a", "2"), FILE_("a", "3") }, {} }, "a=3 ");
	gives("behind a link", (layer[]){ { FOLDER("usr/lib"), LINK("lib", "/usr/lib"), FILE_("lib/x", "1") },
		{ FILE_("lib/x", "2"), FILE_("usr/lib/y", "3") }, {} }, "lib->/usr/lib usr/ usr/lib/ usr/lib/x=2 usr/lib/y=3 ");
	gives("modes", (layer[]){ { { .name = "s", .data = "", .mode = 06555 }, { .name = "u", .data = "", .mode = 01 },
		{ .name = "t", .type = '5', .mode = 01700 } }, {} }, "s= t/ u= ");
}

static void test_hard_links(void **state)
{
	gives("to an earlier layer's file", (layer[]){ { FILE_("a", "1") }, { HARD("b", "a") }, {} }, "a=1 b=1 ");
	gives("as a rename", (layer[]){ { FILE_("a", "1") }, { HARD("b", "a"), GONE(".wh.a") }, {} }, "b=1 ");
	gives("one of two replaced", (layer[]){ { FILE_("a", "1"), HARD("b", "a") }, { FILE_("b", "2") }, {} }, "a=1 b=2 ");
	gives("over a folder", (layer[]){ { FILE_("a", "1"), FILE_("d/x", "") }, { HARD("d", "a") }, {} }, "a=1 d=1 ");
	gives("behind a link", (layer[]){ { FILE_("u/a", "1"), LINK("l", "u") }, { HARD("b", "l/a") }, {} },
		"b=1 l->u u/ u/a=1 ");
}

static void test_whiteouts(void **state)
{
	gives("a file", (layer[]){ { FILE_("a", "1"), FILE_("b", "2") }, { GONE(".wh.a") }, {} }, "b=2 ");
	gives("a folder", (layer[]){ { FILE_("d/e/f", "1") }, { GONE("d/.wh.e") }, {} }, "d/ ");
	gives("a link, not what it leads to", (layer[]){ { FILE_("d/x", "1"), LINK("l", "d") }, { GONE(".wh.l") }, {} }, "d/ d/x=1 ");
	gives("behind a link", (layer[]){ { FILE_("d/x", "1"), LINK("l", "d") }, { GONE("l/.wh.x") }, {} }, "d/ l->d ");
	gives("what is not there", (layer[]){ { FILE_("a", "1") }, { GONE(".wh.b"), GONE("no/.wh.a"), GONE("no/.wh..wh..opq") }, {} },
		"a=1 ");
	gives("only what came before", (layer[]){ { FILE_("a", "1") }, { FILE_("a", "2"), GONE(".wh.a") }, {} }, "a=2 ");
	gives("then anew", (layer[]){ { FILE_("a", "1") }, { GONE(".wh.a") }, { FILE_("a", "3") }, {} }, "a=3 ");
	gives("a folder that is named too", (layer[]){ { FILE_("d/x", "1") }, { FOLDER("d"), FILE_("d/y", "2"), GONE(".wh.d") }, {} },
		"d/ d/y=2 ");
	gives("not in its own layer", (layer[]){ { FILE_("a", "1"), GONE(".wh.a") }, {} }, "a=1 ");
	gives("opaque", (layer[]){ { FILE_("d/x", "1"), FILE_("d/e/y", "2"), FILE_("z", "3") },
		{ FOLDER("d"), GONE("d/.wh..wh..opq"), FILE_("d/n", "4") }, {} }, "d/ d/n=4 z=3 ");
	gives("opaque, said last", (layer[]){ { FILE_("d/x", "1"), FILE_("d/e/y", "2") },
		{ FOLDER("d"), FILE_("d/n", "4"), FILE_("d/e/n", "5"), GONE("d/.wh..wh..opq") }, {} }, "d/ d/e/ d/e/n=5 d/n=4 ");
	gives("opaque at the top", (layer[]){ { FILE_("d/x", "1"), LINK("l", "/") }, { GONE(".wh..wh..opq"), FILE_("y", "2") }, {} },
		"y=2 ");
	gives("odd names", (layer[]){ { FILE_("..x", "1"), FILE_(".x", "2"), FILE_("...", "3") },
		{ GONE(".wh...x"), GONE(".wh.....") }, {} }, "...=3 .x=2 ");
}

/* Folders made in one go have inodes that are close, as the names in them are: none may be taken for another. */
static void test_many_names(void **state)
{
	enum { COUNT = 26 };
	static char names[COUNT][COUNT][8], marks[COUNT][16];
	static struct tar_member below[COUNT * COUNT + 1], above[2 * COUNT + 1];
	_cleanup_err_ struct err err = { 0 };
	struct tempdir d = tempdir_make();
	_cleanup_layers_ struct layers *l = layers_open(d.fd, &(struct unpack_options){ 0 }, &err);
	for (int i = 0; i < COUNT; i++) {
		for (int k = 0; k < COUNT; k++) {
			snprintf(names[i][k], sizeof names[i][k], "%c/%c", 'a' + i, 'a' + k);
			below[i * COUNT + k] = (struct tar_member){ .name = names[i][k] };
		}
		snprintf(marks[i], sizeof marks[i], "%c/.wh..wh..opq", 'a' + i);
		above[i].name = names[i][i];
		above[COUNT + i].name = marks[i];
	}
	assert_int_equal(add(l, below, &err), 0);
	assert_int_equal(add(l, above, &err), 0);
	for (int i = 0; i < COUNT; i++)
		for (int k = 0; k < COUNT; k++)
			assert_int_equal(faccessat(d.fd, names[i][k], F_OK, 0) == 0, i == k);
	tempdir_remove(&d);
}

static void test_devices(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	struct tempdir d = tempdir_make();
	_cleanup_layers_ struct layers *l = layers_open(d.fd, &(struct unpack_options){ 0 }, &err);
	_cleanup_buf_ struct buf got = BUF_INIT;
	assert_int_equal(add(l, (layer){ FOLDER("dev"), { .name = "dev/null", .type = '3' }, { .name = "dev/sda", .type = '4' },
		FILE_("p", "1"), FILE_("q", "2") }, &err), 0);
	assert_int_equal(layers_left_out(l), 2);
	assert_int_equal(add(l, (layer){ { .name = "p", .type = '6' } }, &err), 0);
	assert_int_equal(layers_left_out(l), 3);
	describe(d.fd, "", &got);
	assert_string_equal(got.data, "dev/ q=2 ");
	tempdir_remove(&d);
}

static void test_refused(void **state)
{
	static const struct { struct tar_member m; const char *says; } rows[] = {
		{ GONE("d/.wh..."), "d/.wh...: a whiteout that leads out of its folder" },
		{ GONE(".wh..."), "leads out of its folder" },
		{ GONE(".wh.."), "leads out of its folder" },
		{ GONE(".wh."), "leads out of its folder" },
		{ GONE(".wh.../x"), "through a whiteout" },
		{ GONE("d/.wh.e/f"), "through a whiteout" },
		{ GONE("../.wh.x"), "the name has a \"..\"" },
		{ GONE("/.wh.x"), "the name is absolute" },
		{ GONE("d/.wh..wh.plnk"), "AUFS" },
		{ GONE("d/.wh..wh..opq2"), "AUFS" },
		{ FILE_(".wh.a", "x"), "no empty file" },
		{ FOLDER(".wh.a"), "no empty file" },
		{ LINK("d/.wh..wh..opq", "x"), "no empty file" },
		{ FILE_("/a", "x"), "/a: the name is absolute" },
		{ FILE_("d/../../a", "x"), "the name has a \"..\"" },
		{ FILE_("f/x", "x"), "f/x: the name goes through what is not a folder" },
		{ FILE_("nowhere/x", "x"), "nowhere: the name goes through a link that leads nowhere" },
		{ GONE("f/.wh.x"), "f: the name goes through what is not a folder" },
		{ HARD("h", "../f"), "h: the target of a hard link: the name has a \"..\"" },
		{ HARD("h", "/f"), "the name is absolute" },
		{ HARD("h", "nowhere"), "not an earlier file" },
		{ HARD("h", "d"), "not an earlier file" },
		{ HARD("d", "d/x"), "not an earlier file" },
		{ HARD("f", "f"), "not an earlier file" },
		{ LINK(".", "x"), "nothing but a folder" },
		{ { .name = "p", .type = '6', .data = "x" }, "no file but has content" },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct tempdir d = tempdir_make();
		_cleanup_layers_ struct layers *l = layers_open(d.fd, &(struct unpack_options){ 0 }, &err);
		assert_int_equal(add(l, (layer){ FILE_("d/x", "1"), FILE_("f", "2"), LINK("nowhere", "/none") }, &err), 0);
		if (add(l, (layer){ rows[i].m }, &err) == 0)
			fail_msg("%s was taken", rows[i].m.name);
		if (err.code != ERR_INPUT || !strstr(err.msg, rows[i].says))
			fail_msg("%s: %s", rows[i].m.name, err.msg);
		tempdir_remove(&d);
	}
}

static void test_limits(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	struct tempdir d = tempdir_make();
	struct unpack_options o = { .limits = { 5, 4 } };
	_cleanup_layers_ struct layers *l = layers_open(d.fd, &o, &err);
	assert_int_equal(add(l, (layer){ FILE_("a", "123") }, &err), 0);
	assert_int_equal(add(l, (layer){ FILE_("b", "123") }, &err), -1);
	assert_non_null(strstr(err.msg, "larger than 5 bytes"));
	assert_int_equal(add(l, (layer){ GONE(".wh.x"), GONE(".wh.y"), GONE(".wh.z") }, &err), -1);
	assert_non_null(strstr(err.msg, "more than 4 entries"));
	tempdir_remove(&d);
}

/* Deeper than a whiteout searches, by links, as a name itself can't be so long. */
static void test_deep(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	struct tempdir d = tempdir_make();
	_cleanup_layers_ struct layers *l = layers_open(d.fd, &(struct unpack_options){ 0 }, &err);
	char name[100] = "";
	for (size_t i = 0; i < 98; i += 2)
		memcpy(name + i, "d/", 3);
	for (int i = 0; i < 10; i++) {
		char link[8], below[100];
		snprintf(link, sizeof link, "l%d", i);
		snprintf(below, sizeof below, "%s%s", i ? "" : "top/", i ? "" : name);
		if (i)
			snprintf(below, sizeof below, "l%d/%.88s", i - 1, name);
		assert_int_equal(add(l, (layer){ FOLDER(below), LINK(link, below) }, &err), 0);
	}
	assert_int_equal(add(l, (layer){ FOLDER("top"), GONE(".wh.top") }, &err), -1);
	assert_non_null(strstr(err.msg, "nested too deep"));
	err_clear(&err);
	assert_int_equal(add(l, (layer){ FILE_("top", "") }, &err), 0);
	assert_int_equal(fs_remove_tree(d.fd, "top", &err), 0);
	tempdir_remove(&d);
}

static void test_content(void **state)
{
	_cleanup_err_ struct err err = { 0 };
	_cleanup_buf_ struct buf b = BUF_INIT, gz = BUF_INIT;
	struct hash right, wrong;
	struct tempdir d = tempdir_make();
	tar_make_add(&b, &(struct tar_member){ .name = "a", .data = "1" });
	tar_make_end(&b);
	hash_of(b.data, b.len, &right);
	uLongf room = compressBound(b.len) + 100;
	z_stream zs = { .next_in = (Bytef *)b.data, .avail_in = (uInt)b.len };
	assert_int_equal(deflateInit2(&zs, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
	zs.next_out = (Bytef *)buf_grow(&gz, room);
	zs.avail_out = (uInt)room;
	assert_int_equal(deflate(&zs, Z_FINISH), Z_STREAM_END);
	gz.len = zs.total_out;
	deflateEnd(&zs);
	hash_of(gz.data, gz.len, &wrong);
	_cleanup_layers_ struct layers *l = layers_open(d.fd, &(struct unpack_options){ 0 }, &err);
	_cleanup_close_ int fd = file_of(gz.data, gz.len), cut = file_of(gz.data, gz.len - 9), none = file_of("", 0);
	if (layers_add(l, fd, &right, &err))
		fail_msg("%s", err.msg);
	_cleanup_free_ char *right_hex = hash_hex(&right), *wrong_hex = hash_hex(&wrong);
	assert_int_equal(layers_add(l, fd, &wrong, &err), -1);
	assert_int_equal(err.code, ERR_HASH);
	assert_true(strstr(err.msg, right_hex) && strstr(err.msg, wrong_hex));
	assert_int_equal(layers_add(l, cut, &right, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_int_equal(layers_add(l, none, &right, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	tempdir_remove(&d);
}

/* Every archive that attacks an unpacker, as a layer over one that has links outwards: nothing gets out. */
static void test_attacks(void **state)
{
	vectors_or_skip("extract/cases.tsv");
	struct vectors v = vectors_load("extract/cases.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_err_ struct err err = { 0 };
		const char *what = vectors_text(&v, i, "case");
		char file[300];
		struct hash any = { { 0 } };
		snprintf(file, sizeof file, "extract/tars/%s.tar", what);
		_cleanup_close_ int fd = open(vectors_path(file), O_RDONLY | O_CLOEXEC);
		struct tempdir d = tempdir_make();
		assert_int_equal(mkdirat(d.fd, "out", 0755), 0);
		assert_int_equal(mkdirat(d.fd, "outside", 0700), 0);
		assert_int_equal(fs_write_file(d.fd, "outside/foo", "unmodified", 10, 0644, &err), 0);
		_cleanup_close_ int out = openat(d.fd, "out", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		_cleanup_layers_ struct layers *l = layers_open(out, &(struct unpack_options){ 0 }, &err);
		assert_int_equal(add(l, (layer){ LINK("foo", "../outside"), LINK("dir", "/tmp"), LINK("link", "../outside") }, &err), 0);
		if (layers_add(l, fd, &any, &err) == 0 || (err.code != ERR_INPUT && err.code != ERR_HASH))
			fail_msg("%s: %s", what, err.msg ? err.msg : "taken");
		if (strcmp(what, "oci-whiteout-dotdot") == 0)
			assert_int_equal(err.code, ERR_INPUT);
		if (strcmp(what, "oci-whiteout") == 0)
			assert_int_equal(err.code, ERR_HASH);
		_cleanup_buf_ struct buf foo = BUF_INIT;
		_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
		assert_int_equal(fs_list(d.fd, &names, &err), 0);
		assert_int_equal(names.count, 2);
		assert_int_equal(fs_read_file(d.fd, "outside/foo", 100, &foo, &err), 0);
		assert_string_equal(foo.data, "unmodified");
		tempdir_remove(&d);
	}
	vectors_free(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_replaces), cmocka_unit_test(test_hard_links), cmocka_unit_test(test_whiteouts),
		cmocka_unit_test(test_many_names), cmocka_unit_test(test_devices),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_limits), cmocka_unit_test(test_deep),
		cmocka_unit_test(test_content), cmocka_unit_test(test_attacks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
