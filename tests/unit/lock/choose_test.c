#include "support/vectors.h"

#include "core/mem.h"
#include "lock/choose.h"

#define H1 "1111111111111111111111111111111111111111111111111111111111111111"
#define H2 "2222222222222222222222222222222222222222222222222222222222222222"

static struct simple_page page_of(struct simple_file *files, size_t count)
{
	return (struct simple_page){ .name = "a", .files = files, .count = count };
}

/* Of each row's files (the last is NULL) the first is chosen, in whatever order the page lists them. */
static void test_order_of_tags(void **state)
{
	static const char *const rows[][4] = {
		{ "a-1-cp313-cp313-manylinux_2_17_x86_64.whl", "a-1-cp313-abi3-manylinux_2_28_x86_64.whl", NULL },
		{ "a-1-cp310-abi3-manylinux_2_28_x86_64.whl", "a-1-cp39-abi3-manylinux_2_28_x86_64.whl", NULL },
		{ "a-1-cp39-abi3-manylinux2014_x86_64.whl", "a-1-py3-none-manylinux2014_x86_64.whl", NULL },
		{ "a-1-py3-none-manylinux2014_x86_64.whl", "a-1-cp313-none-any.whl", "a-1-py3-none-any.whl", NULL },
		{ "a-1-py313-none-any.whl", "a-1-py3-none-any.whl", "a-1-py312-none-any.whl", NULL },
		{ "a-1-cp313-cp313-manylinux_2_28_x86_64.whl", "a-1-cp313-cp313-manylinux_2_17_x86_64.whl",
		  "a-1-cp313-cp313-linux_x86_64.whl", NULL },
		{ "a-1-cp313-cp313-manylinux_2_40_x86_64.whl", "a-1-cp313-cp313-manylinux_2_41_x86_64.whl", NULL },
		{ "a-1-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
		  "a-1-cp313-cp313-manylinux2010_x86_64.whl", NULL },
		{ "a-1-2-py3-none-any.whl", "a-1-1z-py3-none-any.whl", "a-1-py3-none-any.whl", NULL },
		{ "a-1-10-py3-none-any.whl", "a-1-9-py3-none-any.whl", NULL },
		{ "a-1-py2.py3-none-any.whl", "a-2-py3-none-any.whl", "b-1-py3-none-any.whl", NULL },
		{ "A-1.0-py3-none-any.whl", "a-1.0.1-py3-none-any.whl", NULL },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		size_t n = 0;
		while (rows[i][n])
			n++;
		for (size_t turn = 0; turn < n; turn++) {
			struct simple_file files[4] = { 0 };
			for (size_t k = 0; k < n; k++)
				files[k].filename = rows[i][(k + turn) % n];
			struct simple_page page = page_of(files, n);
			const struct simple_file *got = choose_wheel(&page, "1", "3.13", NULL, NULL);
			assert_non_null(got);
			assert_string_equal(got->filename, rows[i][0]);
		}
	}
}

static void test_what_never_serves(void **state)
{
	static const char *const names[] = {
		"a-1-cp312-cp312-manylinux_2_17_x86_64.whl", "a-1-cp314-abi3-manylinux_2_17_x86_64.whl",
		"a-1-cp313-cp313t-manylinux_2_17_x86_64.whl", "a-1-cp313-cp313-musllinux_1_2_x86_64.whl",
		"a-1-cp313-cp313-manylinux_2_17_aarch64.whl", "a-1-cp313-cp313-win_amd64.whl",
		"a-1-pp311-pypy311_pp73-manylinux_2_17_x86_64.whl", "a-1-py2-none-any.whl", "a-1.tar.gz",
		"a-1-py314-none-any.whl", "a-2-py3-none-any.whl", "b-1-py3-none-any.whl", "junk.whl", "",
	};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		_cleanup_err_ struct err err = { 0 };
		struct simple_file file = { .filename = names[i] };
		struct simple_page page = page_of(&file, 1);
		if (choose_wheel(&page, "1", "3.13", NULL, &err))
			fail_msg("%s was chosen", names[i]);
		assert_non_null(strstr(err.msg, "no wheel of a 1 for CPython 3.13"));
	}
}

/* Without the GIL the ABI is another one, and abi3 is none of its (PEP 703). */
static void test_free_threaded(void **state)
{
	static const char *const serving[] = {
		"a-1-cp314-cp314t-manylinux_2_17_x86_64.whl", "a-1-cp314-none-manylinux_2_17_x86_64.whl",
		"a-1-py3-none-manylinux_2_17_x86_64.whl", "a-1-py3-none-any.whl", NULL,
	};
	static const char *const not_serving[] = {
		"a-1-cp314-cp314-manylinux_2_17_x86_64.whl", "a-1-cp313-cp313t-manylinux_2_17_x86_64.whl",
		"a-1-cp39-abi3-manylinux_2_17_x86_64.whl", "a-1-cp314-abi3-manylinux_2_17_x86_64.whl", NULL,
	};
	for (size_t i = 0; serving[i]; i++) {
		struct simple_file files[2] = { { .filename = not_serving[i] }, { .filename = serving[i] } };
		struct simple_page page = page_of(files, 2);
		assert_ptr_equal(choose_wheel(&page, "1", "3.14t", NULL, NULL), &files[1]);
	}
	struct simple_file both[] = {
		{ .filename = "a-1-cp314-cp314t-manylinux_2_17_x86_64.whl" }, { .filename = "a-1-cp314-cp314-manylinux_2_17_x86_64.whl" },
	};
	struct simple_page page = page_of(both, 2);
	assert_ptr_equal(choose_wheel(&page, "1", "3.14", NULL, NULL), &both[1]);
}

static void test_hashes_and_yanked(void **state)
{
	struct simple_file files[] = {
		{ .filename = "a-1-cp313-cp313-manylinux_2_17_x86_64.whl", .sha256 = H1 },
		{ .filename = "a-1-py3-none-any.whl", .sha256 = H2 },
	};
	struct simple_page page = page_of(files, 2);
	_cleanup_str_list_ struct str_list hashes = STR_LIST_INIT;
	str_list_add(&hashes, H2);
	assert_ptr_equal(choose_wheel(&page, "1", "3.13", &hashes, NULL), &files[1]);
	assert_ptr_equal(choose_wheel(&page, "1", "3.13", NULL, NULL), &files[0]);
	files[0].yanked = "broken";
	assert_ptr_equal(choose_wheel(&page, "1", "3.13", NULL, NULL), &files[1]);
	files[1].yanked = "";
	assert_ptr_equal(choose_wheel(&page, "1", "3.13", NULL, NULL), &files[0]);
}

static void test_newest(void **state)
{
	struct simple_file files[] = {
		{ .filename = "a-0.9.0-py3-none-manylinux_2_17_x86_64.whl" },
		{ .filename = "a-0.10.0-py3-none-manylinux_2_17_x86_64.whl" },
		{ .filename = "a-0.11.0rc1-py3-none-manylinux_2_17_x86_64.whl" },
		{ .filename = "a-0.12.0-py3-none-win_amd64.whl" },
		{ .filename = "a-0.13.0-py3-none-manylinux_2_17_x86_64.whl", .yanked = "" },
	};
	struct simple_page page = page_of(files, 5), none = page_of(&files[2], 2);
	_cleanup_err_ struct err err = { 0 };
	_cleanup_free_ char *newest = choose_newest(&page, "3.13", &err);
	assert_string_equal(newest, "0.10.0");
	assert_null(choose_newest(&none, "3.13", &err));
	assert_non_null(strstr(err.msg, "no wheel of a"));
}

static void test_sdist(void **state)
{
	struct simple_file files[] = {
		{ .filename = "a-1.0-py3-none-any.whl" }, { .filename = "a-1.0.zip" },
		{ .filename = "a-1.0.tar.gz" }, { .filename = "a-1.1.tar.gz" }, { .filename = "b-1.0.tar.gz" },
	};
	struct simple_page page = page_of(files, 5);
	_cleanup_err_ struct err err = { 0 };
	assert_ptr_equal(choose_sdist(&page, "1", &err), &files[2]);
	files[2].yanked = "";
	assert_ptr_equal(choose_sdist(&page, "1.0", &err), &files[1]);
	assert_null(choose_sdist(&page, "2", &err));
	assert_non_null(strstr(err.msg, "no source archive of a 2"));
}

/* What serves x86_64 Linux, with any local version; nothing of other projects, releases and platforms. */
static void test_tags(void **state)
{
	struct simple_file files[] = {
		{ .filename = "a-1+cu124-cp313-cp313-linux_x86_64.whl" }, { .filename = "a-1.0-cp311-cp311-manylinux_2_28_x86_64.whl" },
		{ .filename = "a-1-cp311-cp311-manylinux_2_28_aarch64.whl" }, { .filename = "a-1-cp312-cp312-win_amd64.whl" },
		{ .filename = "a-1-cp314-cp314t-manylinux2014_x86_64.manylinux_2_17_x86_64.whl" },
		{ .filename = "a-1.post1-cp310-cp310-linux_x86_64.whl" }, { .filename = "b-1-cp310-cp310-linux_x86_64.whl" },
		{ .filename = "a-1-cp39-cp39-linux_x86_64.whl", .yanked = "broken" }, { .filename = "a-1.tar.gz" },
		{ .filename = "a-1-py2.py3-none-any.whl" }, { .filename = "junk.whl" },
	};
	static const char *const wanted[] = { "cp311-cp311", "cp313-cp313", "cp314-cp314t", "py2-none", "py3-none" };
	struct simple_page page = page_of(files, sizeof files / sizeof *files);
	_cleanup_str_list_ struct str_list tags = STR_LIST_INIT, none = STR_LIST_INIT;
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(choose_tags(&page, "1", &tags, &err), 0);
	assert_int_equal(tags.count, sizeof wanted / sizeof *wanted);
	for (size_t i = 0; i < tags.count; i++)
		assert_string_equal(tags.items[i], wanted[i]);
	assert_int_equal(choose_tags(&page, "3", &none, &err), -1);
	assert_string_equal(err.msg, "the index has no wheel of a 3 for x86_64 Linux");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order_of_tags),
		cmocka_unit_test(test_what_never_serves),
		cmocka_unit_test(test_free_threaded),
		cmocka_unit_test(test_hashes_and_yanked),
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_sdist),
		cmocka_unit_test(test_tags),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
