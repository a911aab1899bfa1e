#include "unit/store/fixture.h"

#include <sys/sysmacros.h>

#include "core/json.h"
#include "support/vectors.h"

static const char other[] = STORE_DIR "/dc04vv14dak1c1r48qa0m23vr9jy8sm0-other";
static const char third[] = STORE_DIR "/zc842j0rz61mjsp3h3wp5ly71ak6qgdn-third";

static void assert_entry(int dirfd, const char *path, mode_t mode)
{
	struct stat st;
	assert_int_equal(fstatat(dirfd, path, &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(st.st_mode & 07777, mode);
	assert_int_equal(st.st_mtim.tv_sec, 1);
	assert_int_equal(st.st_mtim.tv_nsec, 0);
}

static void test_seals(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *tmp = put_tree(f, "text");
	_cleanup_close_ int fd = openat(f->s->tmp_fd, tmp, O_RDONLY | O_DIRECTORY);
	assert_int_equal(mkdirat(fd, "closed", 0700), 0);
	put_file(fd, "closed/setuid", "x", 06755);
	put_file(fd, "closed/unreadable", "x", 0);
	assert_int_equal(linkat(fd, "data", fd, "hard", 0), 0);
	assert_int_equal(fchmodat(fd, "closed", 0, 0), 0);
	struct store_prepared p;
	assert_ok(store_prepare(f->s->tmp_fd, tmp, "tree", DRV_NAR, NULL, NULL, &p, err));
	assert_entry(fd, "bin", 0555);
	assert_entry(fd, "closed", 0555);
	assert_entry(fd, "bin/program", 0555);
	assert_entry(fd, "closed/setuid", 0555);
	assert_entry(fd, "closed/unreadable", 0444);
	assert_entry(fd, "data", 0444);
	assert_entry(fd, "hard", 0444);
	assert_entry(fd, "link", 0777);
	assert_true(str_starts(p.path, STORE_DIR "/") && str_ends(p.path, "-tree"));
	assert_int_equal(p.refs.count, 0);
	store_prepared_free(&p);
}

static void test_refuses_devices(void **state)
{
	struct fixture *f = *state;
	_cleanup_free_ char *tmp = put_tree(f, "text");
	_cleanup_free_ char *path = mem_printf("%s/bin/pipe", tmp);
	assert_int_equal(mkfifoat(f->s->tmp_fd, path, 0600), 0);
	struct store_prepared p;
	assert_refused(store_prepare(f->s->tmp_fd, tmp, "tree", DRV_NAR, NULL, NULL, &p, err),
		"bin/pipe: neither a file nor a folder nor a link");
	assert_refused(store_prepare(f->s->tmp_fd, tmp, "a/b", DRV_NAR, NULL, NULL, &p, err), "a/b");
}

static void test_refuses_depth(void **state)
{
	struct fixture *f = *state;
	for (int depth = 255; depth <= 256; depth++) {
		_cleanup_free_ char *tmp = put_tree(f, "text");
		int at = openat(f->s->tmp_fd, tmp, O_PATH | O_DIRECTORY);
		for (int i = 0; i < depth; i++) {
			assert_int_equal(mkdirat(at, "d", 0755), 0);
			int next = openat(at, "d", O_PATH | O_DIRECTORY);
			close(at);
			at = next;
		}
		close(at);
		struct store_prepared p;
		if (depth == 256) {
			assert_refused(store_prepare(f->s->tmp_fd, tmp, "deep", DRV_NAR, NULL, NULL, &p, err),
				"nested deeper than 256");
			continue;
		}
		assert_ok(store_prepare(f->s->tmp_fd, tmp, "deep", DRV_NAR, NULL, NULL, &p, err));
		store_prepared_free(&p);
	}
}

static void test_references(void **state)
{
	struct fixture *f = *state;
	_cleanup_str_list_ struct str_list candidates = STR_LIST_INIT;
	str_list_add(&candidates, third);
	str_list_add(&candidates, other);
	struct store_prepared in_file, in_link, none;
	_cleanup_free_ char *text = mem_printf("see %s/bin", other);
	prepare_tree(f, "a", text, &candidates, &in_file);
	assert_int_equal(in_file.refs.count, 1);
	assert_string_equal(in_file.refs.items[0], other);

	_cleanup_free_ char *tmp = put_tree(f, text);
	_cleanup_free_ char *link = mem_printf("%s/bin/link", tmp);
	assert_int_equal(symlinkat(third, f->s->tmp_fd, link), 0);
	assert_ok(store_prepare(f->s->tmp_fd, tmp, "a", DRV_NAR, &candidates, NULL, &in_link, err));
	assert_int_equal(in_link.refs.count, 2);
	assert_string_equal(in_link.refs.items[0], other);
	assert_string_equal(in_link.refs.items[1], third);

	/* The same bytes with and without the reference known: other paths. */
	prepare_tree(f, "a", text, NULL, &none);
	assert_true(hash_eq(&none.nar_hash, &in_file.nar_hash));
	assert_string_not_equal(none.path, in_file.path);
	store_prepared_free(&in_file);
	store_prepared_free(&in_link);
	store_prepared_free(&none);

	str_list_add(&candidates, "/forge/store/short");
	_cleanup_free_ char *again = put_tree(f, text);
	assert_int_equal(store_prepare(f->s->tmp_fd, again, "a", DRV_NAR, &candidates, NULL, &none, NULL), -1);
}

static void test_refuses_own_path(void **state)
{
	struct fixture *f = *state;
	struct store_prepared p;
	_cleanup_free_ char *text = mem_printf("%*s%s", 300000, "", other + strlen(STORE_DIR) + 1);
	_cleanup_free_ char *tmp = put_tree(f, text);
	assert_refused(store_prepare(f->s->tmp_fd, tmp, "x", DRV_NAR, NULL, other, &p, err),
		"contains its own path /forge/store/dc04vv14dak1c1r48qa0m23vr9jy8sm0-other, so it can't be moved: "
		"at byte 300000 of other/data");

	_cleanup_free_ char *linked = put_tree(f, "");
	_cleanup_free_ char *link = mem_printf("%s/bin/link", linked);
	assert_int_equal(symlinkat(other, f->s->tmp_fd, link), 0);
	assert_refused(store_prepare(f->s->tmp_fd, linked, "x", DRV_NAR, NULL, other, &p, err),
		"at byte 13 of the target of the link other/bin/link");

	_cleanup_free_ char *named = put_tree(f, "");
	_cleanup_free_ char *file = mem_printf("%s/bin/lib%s", named, other + strlen(STORE_DIR) + 1);
	put_file(f->s->tmp_fd, file, "", 0644);
	assert_refused(store_prepare(f->s->tmp_fd, named, "x", DRV_NAR, NULL, other, &p, err),
		"at byte 3 of the name of other/bin/libdc04vv14dak1c1r48qa0m23vr9jy8sm0-other");
}

static void test_flat(void **state)
{
	struct fixture *f = *state;
	struct store_prepared p;
	_cleanup_free_ char *tmp = store_tmp_name(f->s, "file", NULL);
	put_file(f->s->tmp_fd, tmp, "Hello\n", 0644);
	assert_ok(store_prepare(f->s->tmp_fd, tmp, "hello.txt", DRV_FLAT, NULL, NULL, &p, err));
	struct hash h;
	hash_of("Hello\n", 6, &h);
	assert_true(hash_eq(&h, &p.flat_hash));
	_cleanup_buf_ struct buf path = BUF_INIT;
	store_path_fixed(DRV_FLAT, &h, "hello.txt", NULL, &path);
	assert_string_equal(p.path, path.data);
	store_prepared_free(&p);

	assert_int_equal(fchmodat(f->s->tmp_fd, tmp, 0755, 0), 0);
	assert_refused(store_prepare(f->s->tmp_fd, tmp, "x", DRV_FLAT, NULL, NULL, &p, err), "not executable");
	_cleanup_free_ char *tree = put_tree(f, "");
	assert_refused(store_prepare(f->s->tmp_fd, tree, "x", DRV_FLAT, NULL, NULL, &p, err), "has to be one file");

	_cleanup_str_list_ struct str_list candidates = STR_LIST_INIT;
	str_list_add(&candidates, other);
	_cleanup_free_ char *naming = store_tmp_name(f->s, "file", NULL);
	put_file(f->s->tmp_fd, naming, other, 0644);
	assert_refused(store_prepare(f->s->tmp_fd, naming, "x", DRV_FLAT, &candidates, NULL, &p, err), other);
}

/* Bytes, references and paths as Nix made them (measured/cache, measured/path-info.json). */
static void test_as_nix(void **state)
{
#define ONE STORE_DIR "/45lzk49n8d02vmfylsnp9gbfb5xxrnrq-ca-one"
#define DEV STORE_DIR "/fds1azsj8zj48z28k0ip3cgg949zj0dc-ca-multi-dev"
	static const struct { const char *name, *text; size_t refs; } objects[] = {
		{ "ca-one", "hello\n", 0 },
		{ "ca-dep", "uses " ONE " " DEV " and says hello\n", 2 },
	};
	struct fixture *f = *state;
	vectors_or_skip("nix/measured/path-info.json");
	_cleanup_buf_ struct buf text = BUF_INIT;
	assert_ok(fs_read_file(AT_FDCWD, vectors_path("nix/measured/path-info.json"), 1 << 20, &text, err));
	_cleanup_json_ struct json *infos = json_parse((struct slice){ text.data, text.len }, 1 << 20, NULL);
	_cleanup_str_list_ struct str_list candidates = STR_LIST_INIT;
	for (size_t i = 0; i < json_count(infos); i++)
		str_list_add(&candidates, json_get_str(json_at(infos, i), "path"));
	size_t seen = 0;
	for (size_t i = 0; i < json_count(infos); i++) {
		struct json *info = json_at(infos, i);
		for (size_t k = 0; k < 2; k++) {
			const char *path = json_get_str(info, "path");
			if (!str_eq(store_path_base(path) + 33, objects[k].name))
				continue;
			struct store_prepared p;
			_cleanup_free_ char *tmp = store_tmp_name(f->s, "nix", NULL);
			put_file(f->s->tmp_fd, tmp, objects[k].text, 0644);
			assert_ok(store_prepare(f->s->tmp_fd, tmp, objects[k].name, DRV_NAR, &candidates, NULL, &p, err));
			assert_string_equal(p.path, path);
			assert_int_equal(p.nar_size, json_get_int(info, "narSize", 0));
			assert_int_equal(p.refs.count, objects[k].refs);
			_cleanup_free_ char *ca = object_ca(DRV_NAR, &p.nar_hash);
			assert_string_equal(ca, json_get_str(info, "ca"));
			store_prepared_free(&p);
			seen++;
		}
	}
	assert_int_equal(seen, 2);
}

static void test_bytes_form(void **state)
{
	struct fixture *f = *state;
	_cleanup_str_list_ struct str_list candidates = STR_LIST_INIT;
	str_list_add(&candidates, other);
	struct store_prepared p, q;
	prepare_tree(f, "tree", other, &candidates, &p);
	assert_false(p.settled);
	assert_ok(store_settle(store_tmp_fd(f->s), &p, 1, err));
	_cleanup_buf_ struct buf bytes = BUF_INIT, again = BUF_INIT;
	store_prepared_write(&p, &bytes);
	assert_ok(store_prepared_read((struct slice){ bytes.data, bytes.len }, &q, err));
	assert_string_equal(q.path, p.path);
	assert_string_equal(q.refs.items[0], other);
	assert_null(q.deriver);
	assert_true(q.settled);
	store_prepared_write(&q, &again);
	assert_int_equal(bytes.len, again.len);
	assert_memory_equal(bytes.data, again.data, bytes.len);
	store_prepared_free(&q);
	for (size_t n = 0; n < bytes.len; n++)
		assert_int_equal(store_prepared_read((struct slice){ bytes.data, n }, &q, NULL), -1);
	buf_byte(&bytes, 'x');
	assert_refused(store_prepared_read((struct slice){ bytes.data, bytes.len }, &q, err), "a worker's answer");
	store_prepared_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		store_test(test_seals),
		store_test(test_refuses_devices),
		store_test(test_refuses_depth),
		store_test(test_references),
		store_test(test_refuses_own_path),
		store_test(test_flat),
		store_test(test_as_nix),
		store_test(test_bytes_form),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
