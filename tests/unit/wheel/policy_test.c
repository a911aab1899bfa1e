/* The manylinux policies: our table is the published one, and the rule gives the published tags. */
#include "support/vectors.h"

#include "core/buf.h"
#include "core/json.h"
#include "core/mem.h"
#include "wheel/policy.h"

static struct json *load_policies(void)
{
	size_t len;
	_cleanup_free_ char *text = vectors_slurp(vectors_path("elf/manylinux-policy.json"), &len);
	struct json *j = json_parse((struct slice){ text, len }, len, NULL);
	assert_non_null(j);
	return j;
}

static bool array_has(const struct json *array, const char *text)
{
	for (size_t i = 0; i < json_count(array); i++)
		if (str_eq(json_str(json_at(array, i)), text))
			return true;
	return false;
}

/* Does a floor allow a policy?  Both are known by the tag they give. */
static bool allows(const char *arch, int floor, const struct json *policy)
{
	_cleanup_free_ char *lowest = policy_platform(arch, floor);
	_cleanup_free_ char *this = mem_printf("%s_%s", json_get_str(policy, "name"), arch);
	int a, b;
	if (sscanf(lowest, "manylinux_2_%d_", &a) != 1)
		return false;
	assert_int_equal(sscanf(this, "manylinux_2_%d_", &b), 1);
	return a <= b;
}

/* For each version that any policy of the architecture lists: exactly the policies that list it are allowed. */
static size_t check_versions(const struct json *policies, const struct json *policy, const char *arch)
{
	size_t checked = 0;
	const struct json *families = json_get(json_get(policy, "symbol_versions"), arch);
	_cleanup_str_list_ struct str_list names = STR_LIST_INIT;
	json_keys(families, &names);
	for (size_t f = 0; f < names.count; f++) {
		const struct json *versions = json_get(families, names.items[f]);
		for (size_t i = 0; i < json_count(versions); i++) {
			const char *version = json_str(json_at(versions, i));
			_cleanup_free_ char *full = mem_printf("%s_%s", names.items[f], version);
			int floor = policy_of_version(arch, full);
			for (size_t p = 0; p < json_count(policies); p++) {
				const struct json *other = json_get(json_get(json_at(policies, p), "symbol_versions"), arch);
				if (!other)
					continue;
				bool listed = array_has(json_get(other, names.items[f]), version);
				if (allows(arch, floor, json_at(policies, p)) != listed)
					fail_msg("%s on %s: %s", full, arch, json_get_str(json_at(policies, p), "name"));
				checked++;
			}
		}
	}
	return checked;
}

static void table_versions(void **state)
{
	vectors_or_skip("elf/manylinux-policy.json");
	_cleanup_json_ struct json *policies = load_policies();
	size_t checked = 0;
	for (size_t p = 0; p < json_count(policies); p++) {
		_cleanup_str_list_ struct str_list arches = STR_LIST_INIT;
		json_keys(json_get(json_at(policies, p), "symbol_versions"), &arches);
		for (size_t a = 0; a < arches.count; a++)
			checked += check_versions(policies, json_at(policies, p), arches.items[a]);
	}
	assert_true(checked > 10000);
}

static void check_libraries(const struct json *policies, const struct json *policy)
{
	const struct json *libraries = json_get(policy, "lib_whitelist");
	for (size_t i = 0; i < json_count(libraries); i++) {
		int floor = policy_of_library(json_str(json_at(libraries, i)));
		for (size_t p = 1; p < json_count(policies); p++)
			assert_int_equal(allows("x86_64", floor, json_at(policies, p)),
				array_has(json_get(json_at(policies, p), "lib_whitelist"), json_str(json_at(libraries, i))));
	}
}

static void check_symbols(const struct json *policies, const struct json *policy)
{
	_cleanup_str_list_ struct str_list libraries = STR_LIST_INIT;
	json_keys(json_get(policy, "blacklist"), &libraries);
	for (size_t l = 0; l < libraries.count; l++) {
		const char *library = libraries.items[l];
		const struct json *symbols = json_get(json_get(policy, "blacklist"), library);
		for (size_t i = 0; i < json_count(symbols); i++) {
			const char *symbol = json_str(json_at(symbols, i));
			int floor = policy_of_symbol(library, symbol);
			assert_true(policy_knows_symbol(symbol));
			for (size_t p = 1; p < json_count(policies); p++)
				assert_int_equal(allows("x86_64", floor, json_at(policies, p)),
					!array_has(json_get(json_get(json_at(policies, p), "blacklist"), library), symbol));
		}
	}
}

static void table_libraries_and_symbols(void **state)
{
	vectors_or_skip("elf/manylinux-policy.json");
	_cleanup_json_ struct json *policies = load_policies();
	assert_string_equal(json_get_str(json_at(policies, 0), "name"), "linux");
	for (size_t p = 1; p < json_count(policies); p++) {
		check_libraries(policies, json_at(policies, p));
		check_symbols(policies, json_at(policies, p));
	}
	assert_int_equal(policy_of_symbol("libc.so.6", "memcpy"), 0);
	assert_false(policy_knows_symbol("memcpy"));
}

static void symbol_floor(void **state)
{
	vectors_or_skip("elf/symbol-floor.tsv");
	struct vectors v = vectors_load("elf/symbol-floor.tsv");
	for (size_t i = 0; i < v.count; i++) {
		const char *arch = vectors_text(&v, i, "arch");
		_cleanup_free_ char *got = policy_platform(arch, policy_of_version(arch, vectors_text(&v, i, "symbol_version")));
		assert_string_equal(got, vectors_text(&v, i, "oldest_policy"));
	}
	vectors_free(&v);
}

static void library_floor(void **state)
{
	vectors_or_skip("elf/library-floor.tsv");
	struct vectors v = vectors_load("elf/library-floor.tsv");
	for (size_t i = 0; i < v.count; i++) {
		_cleanup_free_ char *got = policy_platform("x86_64", policy_of_library(vectors_text(&v, i, "soname")));
		_cleanup_free_ char *want = mem_printf("%s_x86_64", vectors_text(&v, i, "oldest_policy"));
		assert_string_equal(got, want);
	}
	vectors_free(&v);
}

/* The highest numbers of each policy floor no higher than it. */
static void maxima(void **state)
{
	static const char *const families[] = { "GLIBC", "GLIBCXX", "CXXABI", "GCC" };
	vectors_or_skip("elf/policy-maxima.tsv");
	struct vectors v = vectors_load("elf/policy-maxima.tsv");
	for (size_t i = 0; i < v.count; i++) {
		const char *arch = vectors_text(&v, i, "arch");
		int policy, got;
		assert_int_equal(sscanf(vectors_text(&v, i, "policy"), "manylinux_2_%d", &policy), 1);
		for (size_t f = 0; f < 4; f++) {
			_cleanup_free_ char *version = mem_printf("%s_%s", families[f], vectors_text(&v, i, families[f]));
			_cleanup_free_ char *tag = policy_platform(arch, policy_of_version(arch, version));
			assert_int_equal(sscanf(tag, "manylinux_2_%d_", &got), 1);
			assert_true(got <= policy);
		}
	}
	vectors_free(&v);
}

static int raise(int floor, int to)
{
	return to > floor ? to : floor;
}

static void cases(void **state)
{
	vectors_or_skip("elf/policy-cases.tsv");
	struct vectors v = vectors_load("elf/policy-cases.tsv");
	for (size_t i = 0; i < v.count; i++) {
		const char *arch = vectors_text(&v, i, "arch");
		const char *versions = vectors_text(&v, i, "symbol_versions_required");
		const char *libraries = vectors_text(&v, i, "needed_outside_the_wheel");
		_cleanup_free_ char *a = mem_dup(versions ? versions : ""), *b = mem_dup(libraries ? libraries : "");
		char *rest = NULL;
		int floor = 0;
		for (char *p = strtok_r(a, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
			floor = raise(floor, policy_of_version(arch, p));
		for (char *p = strtok_r(b, " ", &rest); p; p = strtok_r(NULL, " ", &rest))
			floor = raise(floor, policy_of_library(p));
		_cleanup_free_ char *got = policy_platform(arch, floor);
		assert_string_equal(got, vectors_text(&v, i, "best_tag"));
	}
	vectors_free(&v);
}

static void from_other_wheels(void **state)
{
	static const char *const theirs[] = { "libtorch_python.so", "libtorch_cuda.so", "libc10.so", "libc10_cuda.so",
		"libcudart.so.13", "libcuda.so.1", "libcublasLt.so.13", "libnvrtc.so.13", "libcusparse.so.12", "libnppial.so.13",
		"libcutensor.so.2", NULL };
	static const char *const not[] = { "libc.so.6", "libcrypt.so.1", "libstdc++.so.6", "libc1.so", "libpython3.13.so.1.0",
		"libgomp.so.1", NULL };
	for (size_t i = 0; theirs[i]; i++)
		assert_true(policy_from_other_wheel(theirs[i]));
	for (size_t i = 0; not[i]; i++)
		assert_false(policy_from_other_wheel(not[i]));
	_cleanup_free_ char *unknown = policy_platform("sparc", 0);
	assert_string_equal(unknown, "linux_sparc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_versions), cmocka_unit_test(table_libraries_and_symbols),
		cmocka_unit_test(symbol_floor), cmocka_unit_test(library_floor), cmocka_unit_test(maxima),
		cmocka_unit_test(cases), cmocka_unit_test(from_other_wheels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
