#include "support/vectors.h"

#include "compile/arch_names.h"

static bool hashed(const char *text, const char *list, struct hash *out, size_t *count)
{
	struct hasher h;
	hash_begin(&h);
	bool good = arch_names_hash(slice_of(text), list, &h, count);
	hash_end(&h, out);
	return good;
}

/* One text for the lists 80 and 80;90. */
static void test_same_for_every_list(void **state)
{
	static const char one[] = "namespace cub { inline namespace CUB_300001_SM_800 { int f(); } }\n"
		"using thrust::THRUST_300001_SM_800_NS::seq;\nint x = 1'000; int CUB_300001_SM_8001;\n";
	static const char two[] = "namespace cub { inline namespace CUB_300001_SM_800_900 { int f(); } }\n"
		"using thrust::THRUST_300001_SM_800_900_NS::seq;\nint x = 1'000; int CUB_300001_SM_8001;\n";
	struct hash a, b;
	size_t count;
	assert_true(hashed(one, "800", &a, &count));
	assert_int_equal(count, 2);
	assert_true(hashed(two, "800_900", &b, &count));
	assert_int_equal(count, 2);
	assert_true(hash_eq(&a, &b));
	/* another version, or another word around it, is another text */
	static const char *const others[] = { "CUB_300002_SM_800", "xCUB_300001_SM_800", "CUB_300001_SM_800x", "CUB_300001_SM_900" };
	assert_true(hashed("CUB_300001_SM_800", "800", &a, &count));
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		assert_true(hashed(others[i], "800", &b, &count));
		assert_false(hash_eq(&a, &b));
	}
}

static void test_names_that_are_data(void **state)
{
	static const char *const texts[] = {
		"const char *s = \"CUB_300001_SM_800\";", "int a; const char *s = \"\\\"CUB_300001_SM_800\";",
		"const char *s = R\"(\n CUB_300001_SM_800 \n)\";", "const char *s = u8R\"x(\")\" CUB_300001_SM_800)x\";",
		"f('x', \"in CUB_300001_SM_800_NS\");",
	};
	struct hash h;
	size_t count;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (hashed(texts[i], "800", &h, &count))
			fail_msg("taken for a name: %s", texts[i]);
	assert_true(hashed("const char *s = R\"(x)\"; CUB_300001_SM_800 s2;", "800", &h, &count));
	assert_int_equal(count, 1);
	assert_true(hashed("", "800", &h, &count));
	assert_int_equal(count, 0);
}

#define VARIABLE(list, n, more) ".global .align 1 .b8 _ZN34_INTERNAL_1d6e_4_a_cu_x6thrust" n "THRUST_300001_SM_" list \
	"_NS6system6detail10sequential3seqE[1]" more ";\n"

static void check_move(const char *ptx, const char *from, const char *to, const char *want)
{
	_cleanup_buf_ struct buf out = BUF_INIT;
	assert_true(arch_names_can_move(slice_of(ptx), from));
	arch_names_move(slice_of(ptx), from, to, &out);
	assert_string_equal(out.data, want);
}

static void test_move(void **state)
{
	check_move(VARIABLE("800", "23", ""), "800", "800_900", VARIABLE("800_900", "27", ""));
	check_move(VARIABLE("800_900", "27", ""), "800_900", "900", VARIABLE("900", "23", ""));
	check_move(".version 8.0\n", "800", "900", ".version 8.0\n");
	check_move("mov.u64 %rd1, _ZN3cub17CUB_300001_SM_8001xE;\n", "800", "800_900", "mov.u64 %rd1, _ZN3cub21CUB_300001_SM_800_9001xE;\n");
	/* its length ends the name where only the text goes on as if there were more of it */
	check_move(".global .b8 _ZN3cub17CUB_300001_SM_800_NS1xE;\n", "800", "90", ".global .b8 _ZN3cub16CUB_300001_SM_90_NS1xE;\n");
}

static void test_what_can_not_move(void **state)
{
	static const char *const texts[] = {
		".visible .entry _ZN3cub17CUB_300001_SM_8006kernelEv(\n", ".func _ZN3cub17CUB_300001_SM_8001fEv()\n",
		"call.uni (retval0), \n_ZN3cub17CUB_300001_SM_8001fEv, \n(\nparam0\n);\n",
		".global .b8 name[18] = \"CUB_300001_SM_800\";\n", ".global .b8 CUB_300001_SM_800;\n",
		".global .b8 _ZN3cub18CUB_300001_SM_8001xE;\n", ".global .b8 _ZN3cub017CUB_300001_SM_8001xE;\n",
		".file 1 \"/x/17CUB_300001_SM_800\"\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (arch_names_can_move(slice_of(texts[i]), "800"))
			fail_msg("moves: %s", texts[i]);
	assert_false(arch_names_stub_can_move(slice_of("x_CUB_1_SM_800 y"), "800"));
}

/* What registers a variable names it twice. */
static void test_stub(void **state)
{
	static const char one[] = "__shadow_var(_ZN6thrust23THRUST_300001_SM_800_NS3seqE,::thrust::THRUST_300001_SM_800_NS::seq)";
	_cleanup_buf_ struct buf out = BUF_INIT;
	assert_true(arch_names_stub_can_move(SLICE(one), "800"));
	arch_names_move(SLICE(one), "800", "800_900", &out);
	assert_string_equal(out.data, "__shadow_var(_ZN6thrust27THRUST_300001_SM_800_900_NS3seqE,::thrust::THRUST_300001_SM_800_900_NS::seq)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_for_every_list), cmocka_unit_test(test_names_that_are_data), cmocka_unit_test(test_move),
		cmocka_unit_test(test_what_can_not_move), cmocka_unit_test(test_stub),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
