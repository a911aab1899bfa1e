#include "support/compile_request.h"

#include "compile/key.h"

struct part {
	const char *name, *text; /* of /out; the name "stderr": what the preprocess run said */
};

/* The key of a command with these texts, inputs all hashed as `content`; its inputs in *inputs, with blanks between. */
static char *key_of(const char *line, const char *toolchain, const struct part *parts, const char *content, char **inputs)
{
	_cleanup_compile_command_ struct compile_command c;
	_cleanup_compile_key_ struct compile_key k;
	struct hash hash;
	understand(line, "/build/p", NULL, &c);
	if (c.why)
		fail_msg("%s: %s", line, c.why);
	compile_key_begin(&k, &c, toolchain);
	for (; parts->name; parts++) {
		_cleanup_err_ struct err err = { 0 };
		if (strcmp(parts->name, "stderr") == 0)
			compile_key_stderr(&k, slice_of(parts->text));
		else if (compile_key_text(&k, parts->name, slice_of(parts->text), &err) < 0)
			fail_msg("%s", err.msg);
	}
	const struct str_list *list = compile_key_inputs(&k);
	if (inputs)
		*inputs = joined(list);
	hash_of(content, strlen(content), &hash);
	for (size_t i = 0; i < list->count; i++)
		compile_key_input(&k, list->items[i], &hash);
	compile_key_end(&k, &hash);
	return hash_hex(&hash);
}

static const char text[] =
	"# 0 \"a.c\"\n# 1 \"/build/p//\"\n# 0 \"<built-in>\"\n# 1 \"/usr/include/stdio.h\" 1 3 4\nint x;\n"
	"# 1 \"inc/a\\\"b.h\" 1\nint y;\n# 2 \"a.c\" 2\n# 1 \"../q/./c.h\" 1\n# 3 \"a.c\" 2\n#pragma once \"no.h\"\n";

static void test_inputs(void **state)
{
	_cleanup_free_ char *inputs = NULL, *key = NULL;
	key = key_of("gcc -c a.c", "t", (struct part[]){ { "text.i", text }, { NULL, NULL } }, "", &inputs);
	assert_string_equal(inputs, "/build/p/../q/./c.h /build/p/a.c /build/p/inc/a\"b.h");
}

static void test_differs(void **state)
{
	const struct part plain[] = { { "text.i", text }, { "stderr", "" }, { NULL, NULL } };
	_cleanup_free_ char *key = key_of("gcc -c a.c", "t", plain, "", NULL), *again = key_of("gcc -c -DX a.c", "t", plain, "", NULL);
	assert_string_equal(key, again);
	char other_text[sizeof text];
	memcpy(other_text, text, sizeof text);
	*strstr(other_text, "int y") = 'u';
	char *others[] = {
		key_of("gcc -c a.c", "u", plain, "", NULL),
		key_of("gcc -O2 -c a.c", "t", plain, "", NULL),
		key_of("gcc -c a.c", "t", plain, "a comment has changed", NULL),
		key_of("gcc -c a.c", "t", (struct part[]){ { "text.i", other_text }, { "stderr", "" }, { NULL, NULL } }, "", NULL),
		key_of("gcc -c a.c", "t", (struct part[]){ { "text.j", text }, { "stderr", "" }, { NULL, NULL } }, "", NULL),
		key_of("gcc -c a.c", "t", (struct part[]){ { "text.i", text }, { "stderr", "warning" }, { NULL, NULL } }, "", NULL),
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		assert_string_not_equal(others[i], key);
		free(others[i]);
	}
}

/* Bytes that move from one text to the next make another key. */
static void test_prefixes(void **state)
{
	const char line[] = "nvcc -c a.cu";
	_cleanup_free_ char *a = key_of(line, "t", (struct part[]){ { "a.ii", "xy" }, { "b.ii", "z" }, { NULL, NULL } }, "", NULL);
	_cleanup_free_ char *b = key_of(line, "t", (struct part[]){ { "a.ii", "x" }, { "b.ii", "yz" }, { NULL, NULL } }, "", NULL);
	_cleanup_free_ char *c = key_of(line, "t", (struct part[]){ { "a.ii", "xyz" }, { NULL, NULL } }, "", NULL);
	assert_string_not_equal(a, b);
	assert_string_not_equal(a, c);
}

static void test_refused(void **state)
{
	static const char *const texts[] = {
		"asm(\".incbin \\\"x\\\"\");", "x.INCBIN", "#embed \"x\"", "# 1 \"/usr/../build/x.h\" 1\n",
	};
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		_cleanup_compile_command_ struct compile_command c;
		_cleanup_compile_key_ struct compile_key k;
		_cleanup_err_ struct err err = { 0 };
		understand("gcc -c a.c", "/build", NULL, &c);
		compile_key_begin(&k, &c, "t");
		assert_int_equal(compile_key_text(&k, "text.i", slice_of(texts[i]), &err), -1);
		assert_int_equal(err.code, ERR_INPUT);
	}
}

/* Of nvcc's steps, what is code generation's: no search paths, no preprocessing, no variables. */
static void test_dryrun(void **state)
{
	static const char base[] =
		"#$ TOP=/cuda/bin/..\n#$ PATH=/cuda/nvvm/bin:/usr/bin\n"
		"#$ \"/toolchain/bin\"/g++ -D__CUDA_ARCH__=800 -E -x c++ -I\"/build/x\" \"a.cu\" -o \"/out/a.o.cpp1.ii\" \n"
		"#$ \"$CICC_PATH/cicc\" --c++17 -arch compute_80 \"/out/a.o.cpp1.ii\" -o \"/out/a.o.ptx\"\n"
		"#$ \"/toolchain/bin\"/g++ -c -x c++ -fPIC -I\"/build/x\" \"-I/cuda/include\" \"-isystem\" \"/cuda/cccl\" \"/out/a.o.cudafe1.cpp\" -o \"/out/a.o\" \n"
		"#$ rm /out/a.o.ptx\nnvcc warning : x\n";
	static const char elsewhere[] =
		"#$ TOP=/other\n"
		"#$ \"/toolchain/bin\"/g++ -D__CUDA_ARCH__=800 -DX -E -x c++ \"a.cu\" -o \"/out/a.o.cpp1.ii\" \n"
		"#$ \"$CICC_PATH/cicc\" --c++17 -arch compute_80 /out/a.o.cpp1.ii  -o /out/a.o.ptx\n"
		"#$ \"/toolchain/bin\"/g++ -c -x c++ -fPIC -I /build/y -isystem /z \"/out/a.o.cudafe1.cpp\" -o \"/out/a.o\" \n"
		"nvcc warning : x\n";
	static const char *const others[] = {
		"#$ \"$CICC_PATH/cicc\" --c++17 -arch compute_90 \"/out/a.o.cpp1.ii\" -o \"/out/a.o.ptx\"\n",
		"#$ \"$CICC_PATH/cicc\" \"--c++17 -arch\" compute_80 \"/out/a.o.cpp1.ii\" -o \"/out/a.o.ptx\"\n", "nvcc warning : y\n", "",
	};
	const char line[] = "nvcc -c a.cu";
	_cleanup_free_ char *a = key_of(line, "t", (struct part[]){ { "dryrun", base }, { NULL, NULL } }, "", NULL);
	_cleanup_free_ char *b = key_of(line, "t", (struct part[]){ { "dryrun", elsewhere }, { NULL, NULL } }, "", NULL);
	assert_string_equal(a, b);
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		_cleanup_free_ char *c = key_of(line, "t", (struct part[]){ { "dryrun", others[i] }, { NULL, NULL } }, "", NULL);
		assert_string_not_equal(a, c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_inputs), cmocka_unit_test(test_differs), cmocka_unit_test(test_prefixes), cmocka_unit_test(test_refused),
		cmocka_unit_test(test_dryrun),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
