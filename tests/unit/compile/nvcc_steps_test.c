#include "support/compile_request.h"

#include "compile/nvcc_deps.h"
#include "compile/nvcc_key.h"

#define CPP(arch, file) "#$ g++ -frandom-seed=\"s\" " arch "-D__CUDA_ARCH_LIST__=800,900 -E -x c++ -D__CUDACC__ \"-I/cuda/include\" " \
	"-include \"cuda_runtime.h\" -m64 \"/build/k.cu\" -o \"/out/k.o." file "\" \n"
#define CICC(arch) "#$ \"$CICC_PATH/cicc\" --c++17 --orig_src_file_name \"k.cu\" -arch compute_" arch " -m64 -ftz=0 " \
	"--include_file_name \"k.o.fatbin.c\" -tused --module_id_file_name \"/out/k.o.module_id\" --gen_c_file_name " \
	"\"/out/k.o.compute_" arch ".cudafe1.c\" --stub_file_name \"/out/k.o.compute_" arch ".cudafe1.stub.c\" " \
	"--gen_device_file_name \"/out/k.o.compute_" arch ".cudafe1.gpu\"  \"/out/k.o.compute_" arch ".cpp1.ii\" -o " \
	"\"/out/k.o.compute_" arch ".ptx\"\n"
#define PTXAS(arch) "#$ ptxas -arch=sm_" arch " -m64  --generate-line-info \"/out/k.o.compute_" arch ".ptx\"  -o \"/out/k.o.compute_" arch ".cubin\" \n"
#define SETTINGS "#$ _HERE_=/cuda/bin\n#$ TOP=/cuda/bin/..\n#$ CICC_PATH=/cuda/bin/../nvvm/bin\n#$ PTXAS_FLAGS=\n"
#define CUDAFE "#$ cudafe++ --c++17 --m64 --parse_templates --gen_c_file_name \"/out/k.o.compute_90.cudafe1.cpp\" " \
	"--stub_file_name \"k.o.compute_90.cudafe1.stub.c\" --gen_module_id_file --module_id_file_name \"/out/k.o.module_id\" " \
	"\"/out/k.o.cpp4.ii\" \n"
#define JOIN "#$ fatbinary --create=\"/out/k.o.fatbin\" -64 --cicc-cmdline=\"-ftz=0 \" " \
	"\"--image3=kind=elf,sm=80,file=/out/k.o.compute_80.cubin\" --embedded-fatbin=\"/out/k.o.fatbin.c\" \n" \
	"#$ g++ -D__CUDA_ARCH__=900 -c -x c++ -DCUDA_DOUBLE_MATH_FUNCTIONS -m64 \"/out/k.o.compute_90.cudafe1.cpp\" -o \"/out/k.o\" \n"
#define ALL SETTINGS CPP("", "cpp4.ii") CPP("-D__CUDA_ARCH__=800 ", "compute_80.cpp1.ii") CPP("-D__CUDA_ARCH__=900 ", "compute_90.cpp1.ii") \
	CUDAFE CICC("90") PTXAS("90") CICC("80") PTXAS("80") JOIN "#$ rm /out/k.o.fatbin\n"

static void test_steps(void **state)
{
	static const enum nvcc_step_kind kinds[] = { NVCC_PREPROCESS, NVCC_PREPROCESS, NVCC_PREPROCESS, NVCC_CUDAFE, NVCC_CICC, NVCC_PTXAS,
		NVCC_CICC, NVCC_PTXAS, NVCC_FATBINARY, NVCC_HOST };
	_cleanup_nvcc_steps_ struct nvcc_steps s;
	_cleanup_err_ struct err err = { 0 };
	if (nvcc_steps_read(SLICE(ALL), &s, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(s.items.count, sizeof kinds / sizeof *kinds);
	for (size_t i = 0; i < s.items.count; i++)
		assert_int_equal(s.items.items[i].kind, kinds[i]);
	assert_string_equal(s.arch_list, "800_900");
	assert_false(s.deps);
	assert_string_equal(s.items.items[4].words.items[0], "/cuda/bin/../nvvm/bin/cicc");
	assert_string_equal(s.items.items[4].arch, "compute_90");
	assert_int_equal(s.items.items[4].from, 2);
	assert_int_equal(s.items.items[6].from, 1);
	assert_string_equal(s.items.items[7].words.items[0], "/cuda/bin/ptxas");
	assert_string_equal(s.items.items[7].arch, "sm_80");
	assert_int_equal(s.items.items[7].from, 6);
	assert_int_equal(s.env.count, 2); /* TOP, CICC_PATH */
}

/* nvcc 12.4, for two architectures with -lineinfo -MD: it finds cicc by PATH, and the host's compiler by the path that
 * it was given. */
#define CPP12(arch, file) "#$ \"/toolchain/bin\"/g++ " arch "-D__CUDA_ARCH_LIST__=800,900 -D__NV_LEGACY_LAUNCH -E -x c++ " \
	"-D__CUDACC__ -D__NVCC__  -O2 \"-I/cuda/bin/../include\"  -D__CUDACC_VER_MAJOR__=12 -D__CUDACC_VER_MINOR__=4 " \
	"-include \"cuda_runtime.h\" -m64 \"k.cu\" -o \"/out/k.o." file "\" \n"
#define CICC12(arch, more) "#$ cicc --c++17 --gnu_version=120400 --display_error_number --orig_src_file_name \"k.cu\" " \
	"--orig_src_path_name \"/build/k.cu\" --allow_managed  -arch compute_" arch " -m64 --no-version-ident -ftz=0 -prec_div=1 " \
	"-prec_sqrt=1 -fmad=1 --include_file_name \"k.o.fatbin.c\" -generate-line-info -tused " more "--module_id_file_name " \
	"\"/out/k.o.module_id\" --gen_c_file_name \"/out/k.o.compute_" arch ".cudafe1.c\" --stub_file_name " \
	"\"/out/k.o.compute_" arch ".cudafe1.stub.c\" --gen_device_file_name \"/out/k.o.compute_" arch ".cudafe1.gpu\"  " \
	"\"/out/k.o.compute_" arch ".cpp1.ii\" -o \"/out/k.o.compute_" arch ".ptx\"\n"
#define PTXAS12(arch) "#$ ptxas -arch=sm_" arch " -m64 --generate-line-info \"/out/k.o.compute_" arch ".ptx\"  -o \"/out/k.o.compute_" arch ".cubin\" \n"
#define SETTINGS12 "#$ _NVVM_BRANCH_=nvvm\n#$ _NVVM_BRANCH_SUFFIX_=\n#$ _SPACE_= \n#$ _HERE_=/cuda/bin\n#$ _THERE_=/cuda/bin\n" \
	"#$ _TARGET_SIZE_=64\n#$ TOP=/cuda/bin/..\n#$ NVVMIR_LIBRARY_DIR=/cuda/bin/../nvvm/libdevice\n" \
	"#$ PATH=/cuda/bin/../nvvm/bin:/cuda/bin:/usr/bin\n#$ INCLUDES=\"-I/cuda/bin/../include\"  \n"
#define CUDAFE12(more) "#$ cudafe++ --c++17 --gnu_version=120400 --display_error_number --orig_src_file_name \"k.cu\" --orig_src_path_name " \
	"\"/build/k.cu\" --allow_managed --m64 --parse_templates --gen_c_file_name \"/out/k.o.compute_90.cudafe1.cpp\" --stub_file_name " \
	"\"k.o.compute_90.cudafe1.stub.c\" " more "--module_id_file_name \"/out/k.o.module_id\" \"/out/k.o.cpp4.ii\" \n"
#define JOIN12 "#$ fatbinary --create=\"/out/k.o.fatbin\" -64 --ident=\"k.cu\" --cmdline=\"--generate-line-info \" " \
	"--cicc-cmdline=\"-generate-line-info -ftz=0 \" \"--image3=kind=elf,sm=80,file=/out/k.o.compute_80.cubin\" " \
	"--embedded-fatbin=\"/out/k.o.fatbin.c\" \n"
#define HOST12 "#$ \"/toolchain/bin\"/g++ -D__CUDA_ARCH__=900 -D__CUDA_ARCH_LIST__=800,900 -D__NV_LEGACY_LAUNCH -c -x c++  " \
	"-DCUDA_DOUBLE_MATH_FUNCTIONS -O2 -Wno-psabi -m64 \"/out/k.o.compute_90.cudafe1.cpp\" -o \"/out/k.o\" \n#$ rm /out/k.o.ptx\n"
#define GENERATES "--gen_module_id_file "
#define TEXTS12 CPP12("-D__CUDA_ARCH__=800 ", "compute_80.cpp1.ii") CPP12("-D__CUDA_ARCH__=900 ", "compute_90.cpp1.ii") CPP12("", "cpp4.ii") \
	"#$ -- Filter Dependencies -- > /out/.deps\n"

static void test_steps_of_12(void **state)
{
	_cleanup_nvcc_steps_ struct nvcc_steps s;
	_cleanup_str_list_ struct str_list argv = STR_LIST_INIT;
	_cleanup_err_ struct err err = { 0 };
	if (nvcc_steps_read(SLICE(SETTINGS12 TEXTS12 CUDAFE12(GENERATES) CICC12("80", "") PTXAS12("80") CICC12("90", "") PTXAS12("90") JOIN12 HOST12),
			&s, &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(s.items.count, 10);
	assert_true(s.deps);
	assert_string_equal(s.arch_list, "800_900");
	assert_int_equal(s.items.items[4].from, 0);
	assert_int_equal(s.items.items[6].from, 1);
	assert_string_equal(s.items.items[4].words.items[0], "/cuda/bin/../nvvm/bin/cicc");
	assert_string_equal(s.items.items[4].arch, "compute_80");
	assert_string_equal(s.items.items[5].words.items[0], "/cuda/bin/ptxas");
	assert_int_equal(s.items.items[9].kind, NVCC_HOST);
	assert_int_equal(s.env.count, 3); /* TOP, NVVMIR_LIBRARY_DIR, PATH */
	assert_int_equal(nvcc_step_argv(&s.items.items[6], &argv, NULL), 0);
	assert_true(str_list_has(&argv, "/in/k.o.module_id") && str_list_has(&argv, "/in/k.o.compute_90.cpp1.ii"));
	nvcc_steps_free(&s);
	/* Without the folder that its cicc is in, which one that is is not known. */
	assert_int_equal(nvcc_steps_read(SLICE("#$ _HERE_=/cuda/bin\n" TEXTS12 CUDAFE12(GENERATES) CICC12("80", "") PTXAS12("80") CICC12("90", "")
		PTXAS12("90") JOIN12 HOST12), &s, NULL), -1);
}

/* nvcc 11.8: the newest architecture's cicc comes first and names the module, cudafe++ comes behind all of them. */
static void test_steps_of_11(void **state)
{
	_cleanup_nvcc_steps_ struct nvcc_steps s;
	_cleanup_err_ struct err err = { 0 };
	assert_int_equal(nvcc_steps_read(SLICE(SETTINGS12 TEXTS12 CICC12("90", GENERATES) CICC12("80", "") PTXAS12("80") PTXAS12("90") JOIN12
		CUDAFE12("") HOST12), &s, &err), -1);
	assert_int_equal(err.code, ERR_INPUT);
	assert_string_equal(err.msg, "nvcc names the module by another step than cudafe++, as its releases 11 do");
}

static void test_argv(void **state)
{
	_cleanup_nvcc_steps_ struct nvcc_steps s;
	_cleanup_str_list_ struct str_list cicc = STR_LIST_INIT, ptxas = STR_LIST_INIT;
	assert_int_equal(nvcc_steps_read(SLICE(ALL), &s, NULL), 0);
	assert_int_equal(nvcc_step_argv(&s.items.items[4], &cicc, NULL), 0);
	_cleanup_free_ char *line = joined(&cicc);
	assert_string_equal(line, "/cuda/bin/../nvvm/bin/cicc --c++17 --orig_src_file_name k.cu -arch compute_90 -m64 -ftz=0 "
		"--include_file_name k.o.fatbin.c -tused --module_id_file_name /in/k.o.module_id --gen_c_file_name /out/c "
		"--stub_file_name /out/stub.c --gen_device_file_name /out/gpu /in/k.o.compute_90.cpp1.ii -o /out/ptx");
	assert_int_equal(nvcc_step_argv(&s.items.items[7], &ptxas, NULL), 0);
	_cleanup_free_ char *other = joined(&ptxas);
	assert_string_equal(other, "/cuda/bin/ptxas -arch=sm_80 -m64 --generate-line-info /in/k.o.compute_80.ptx -o /out/cubin");
}

/* Whatever has another form is nvcc's own business. */
static void test_not_understood(void **state)
{
	static const char *const texts[] = {
		"", SETTINGS, SETTINGS CPP("", "cpp4.ii") CUDAFE JOIN, ALL "#$ nvlink x\n", ALL "something else\n", ALL CUDAFE, ALL PTXAS("100"),
		SETTINGS CPP("", "cpp4.ii") CPP("", "compute_90.cpp1.ii") CUDAFE CICC("90") PTXAS("80") JOIN,
		SETTINGS CPP("", "cpp4.ii") CPP("", "compute_90.cpp1.ii") CUDAFE CICC("90") "#$ ptxas -arch=sm_90 \"$X.ptx\" -o \"/out/x\"\n" JOIN,
		SETTINGS CPP("", "cpp4.ii") CPP("", "compute_90.cpp1.ii") CUDAFE CICC("90") "#$ ptxas -arch=sm_90 \"/out/k.o.compute_90.ptx\" "
			"-o \"/out/x\" > /tmp/said\n" JOIN,
		"#$ CICC_PATH=/x\n" CPP("", "cpp4.ii") CPP("", "compute_90.cpp1.ii") CUDAFE CICC("90") PTXAS("90") JOIN,
		SETTINGS CPP("", "cpp4.ii") CPP("", "../../etc/compute_90.cpp1.ii") CUDAFE CICC("90") PTXAS("90") JOIN,
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		_cleanup_nvcc_steps_ struct nvcc_steps s;
		_cleanup_err_ struct err err = { 0 };
		if (nvcc_steps_read(slice_of(texts[i]), &s, &err) == 0)
			fail_msg("understood: %s", texts[i]);
		assert_int_equal(err.code, ERR_INPUT);
		assert_int_equal(s.items.count, 0);
	}
	_cleanup_nvcc_steps_ struct nvcc_steps s;
	assert_int_equal(nvcc_steps_read(SLICE("nvcc warning : old\n" ALL "#$ -- Filter Dependencies -- > /out/.deps\n"), &s, NULL), 0);
	assert_string_equal(s.said, "nvcc warning : old\n");
	assert_true(s.deps);
}

static void keys(const char *dryrun, size_t step, const char *text, const char *module, struct hash *exact, struct hash *shared)
{
	_cleanup_nvcc_steps_ struct nvcc_steps s;
	struct compile_command c = { 0 };
	const struct nvcc_key k = { &c, "toolchain", NULL };
	bool named;
	assert_int_equal(nvcc_steps_read(slice_of(dryrun), &s, NULL), 0);
	nvcc_key_cicc(&k, &s.items.items[step], s.arch_list, slice_of(text), slice_of(module), exact, shared, &named);
	assert_int_equal(named, !hash_eq(exact, shared));
}

/* The key of an architecture's step does not depend on what else is compiled with it. */
static void test_keys(void **state)
{
	static const char alone[] = SETTINGS CPP("", "cpp4.ii") CPP("-D__CUDA_ARCH__=800 ", "compute_80.cpp1.ii") CUDAFE CICC("80") PTXAS("80") JOIN;
	struct hash exact[4], shared[4];
	keys(ALL, 6, "int x;", "m", &exact[0], &shared[0]);
	keys(alone, 3, "int x;", "m", &exact[1], &shared[1]);
	assert_true(hash_eq(&exact[0], &exact[1]));
	keys(ALL, 4, "int x;", "m", &exact[2], &shared[2]);
	assert_false(hash_eq(&exact[0], &exact[2]));
	keys(ALL, 6, "int y;", "m", &exact[2], &shared[2]);
	assert_false(hash_eq(&exact[0], &exact[2]));
	keys(ALL, 6, "int x;", "n", &exact[3], &shared[3]);
	assert_false(hash_eq(&exact[0], &exact[3]));
	keys(ALL, 6, "CUB_1_SM_800_900 x;", "m", &exact[0], &shared[0]);
	assert_false(hash_eq(&exact[0], &shared[0]));
}

static void test_deps(void **state)
{
	struct nvcc_deps d = { .phony = true }, users = { .users_only = true };
	_cleanup_buf_ struct buf out = BUF_INIT, short_form = BUF_INIT;
	static const char host[] = "# 0 \"k.cu\"\n# 0 \"<built-in>\"\n# 1 \"/usr/include/a.h\" 1 3 4\n# 2 \"k.cu\" 2\n# 1 \"h x.h\" 1\n";
	static const char device[] = "# 0 \"k.cu\"\n# 1 \"d.h\" 1\n# 1 \"/usr/include/a.h\" 1 3 4\n# 1 \"/build//\"\n";
	nvcc_deps_text(&d, SLICE(host));
	nvcc_deps_text(&d, SLICE(device));
	nvcc_deps_write(&d, &out);
	assert_string_equal(out.data, "forge-object : k.cu \\\n    /usr/include/a.h \\\n    h\\ x.h \\\n    d.h\n"
		"\n/usr/include/a.h:\n\nh\\ x.h:\n\nd.h:\n");
	nvcc_deps_text(&users, SLICE(device));
	nvcc_deps_write(&users, &short_form);
	assert_string_equal(short_form.data, "forge-object : k.cu \\\n    d.h\n");
	nvcc_deps_free(&d);
	nvcc_deps_free(&users);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps), cmocka_unit_test(test_steps_of_12),
		cmocka_unit_test(test_steps_of_11), cmocka_unit_test(test_argv), cmocka_unit_test(test_not_understood), cmocka_unit_test(test_keys),
		cmocka_unit_test(test_deps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
