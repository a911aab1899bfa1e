#include "support/vectors.h"

#include "lock/redist.h"

#define FILE_OF(path) "\"linux-x86_64\":{\"relative_path\":\"" path "\",\"sha256\":\"ab\",\"md5\":\"cd\",\"size\":\"40\"}"
#define NVCC(version) "\"cuda_nvcc\":{\"name\":\"CUDA NVCC\",\"version\":\"" version "\"," FILE_OF("cuda_nvcc/n.tar.xz") "}"
#define REST ",\"cuda_cudart\":{\"version\":\"13.0.96\"," FILE_OF("cuda_cudart/c.tar.xz") "}," \
	"\"sbsa\":{\"version\":\"1\",\"linux-sbsa\":{}},\"plain\":{\"version\":\"1\",\"linux-x86_64\":{\"size\":7}}"
#define LABELLED "{\"release_date\":\"2025-09-09\",\"release_label\":\"13.0.2\"," NVCC("13.0.88") REST "}"

static struct json *read_with(const char *text, const char *release, const char *component, struct err *err)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	str_list_add(&names, component);
	return redist_read(slice_of(text), release, &names, err);
}

static void test_components(void **state)
{
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	_cleanup_err_ struct err err = { 0 };
	str_list_add(&names, "cuda_cudart");
	str_list_add(&names, "cuda_nvcc");
	_cleanup_json_ struct json *got = redist_read(slice_of(LABELLED), "13.0.2", &names, &err);
	if (!got)
		fail_msg("%s", err.msg);
	_cleanup_buf_ struct buf text = BUF_INIT;
	json_write(got, 0, &text);
	assert_string_equal(text.data,
		"[{\"name\":\"cuda_cudart\",\"path\":\"cuda_cudart/c.tar.xz\",\"sha256\":\"ab\",\"size\":40,\"version\":\"13.0.96\"},"
		"{\"name\":\"cuda_nvcc\",\"path\":\"cuda_nvcc/n.tar.xz\",\"sha256\":\"ab\",\"size\":40,\"version\":\"13.0.88\"}]");
}

/* A release without a label is known by its compiler. */
static void test_releases(void **state)
{
	static const struct { const char *text, *release, *why; } cases[] = {
		{ LABELLED, "13.0.2", NULL },
		{ LABELLED, "13.0.1", "it lists release 13.0.2, not 13.0.1" },
		{ "{" NVCC("11.8.89") "}", "11.8.0", NULL },
		{ "{" NVCC("11.8.89") "}", "11.8", NULL },
		{ "{" NVCC("11.80.1") "}", "11.8.0", "it lists release 11.80.1, not 11.8.0" },
		{ "{" NVCC("11.7.99") "}", "11.8.0", "it lists release 11.7.99, not 11.8.0" },
		{ "{\"cudnn\":{\"version\":\"9.1\"}}", "13.0.2", "not the list of a CUDA release" },
		{ "[]", "13.0.2", "not the list of a CUDA release" },
		{ "{\"release_label\":\"13.0.2\",\"cuda_n", "13.0.2", "not JSON: line 1" },
		{ "", "13.0.2", "not JSON" },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		_cleanup_err_ struct err err = { 0 };
		_cleanup_json_ struct json *got = read_with(cases[i].text, cases[i].release, "cuda_nvcc", &err);
		if (cases[i].why ? got || !strstr(err.msg, cases[i].why) : !got)
			fail_msg("case %zu: %s", i, got ? "was read" : err.msg);
	}
}

static void test_what_is_not_there(void **state)
{
	_cleanup_err_ struct err unknown = { 0 }, platform = { 0 };
	assert_null(read_with(LABELLED, "13.0.2", "cuda_nvc", &unknown));
	assert_string_equal(unknown.msg, "it lists no component \"cuda_nvc\" (is \"cuda_nvcc\" meant?)");
	assert_null(read_with(LABELLED, "13.0.2", "sbsa", &platform));
	assert_string_equal(platform.msg, "its component sbsa has no files for linux-x86_64");
	/* What else is missing is left out, for who checks the lock's entries. */
	_cleanup_json_ struct json *plain = read_with(LABELLED, "13.0.2", "plain", NULL);
	assert_null(json_get(json_at(plain, 0), "path"));
	assert_int_equal(json_get_int(json_at(plain, 0), "size", 0), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_components), cmocka_unit_test(test_releases), cmocka_unit_test(test_what_is_not_there),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
