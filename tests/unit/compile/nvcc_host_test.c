/* The shell lines that compile nvcc's host half in two runs, run by a shell over files of a compiler that is none. */
#include "support/tempdir.h"
#include "support/vectors.h"

#include "compile/nvcc_host.h"
#include "core/fs.h"
#include "core/mem.h"
#include "core/proc.h"

#define STEPS(host, fatbinary) "#$ _HERE_=/cuda/bin\n#$ TOP=/cuda/bin/..\n#$ CICC_PATH=/cuda/bin\n" \
	"#$ g++ -E -x c++ \"k.cu\" -o \"/out/k.cpp4.ii\" \n#$ g++ -D__CUDA_ARCH__=800 -E -x c++ \"k.cu\" -o \"/out/k.cpp1.ii\" \n" \
	"#$ cudafe++ --gen_c_file_name \"/out/k.cudafe1.cpp\" --gen_module_id_file --module_id_file_name \"/out/k.module_id\" \"/out/k.cpp4.ii\" \n" \
	"#$ \"$CICC_PATH/cicc\" -arch compute_80 --stub_file_name \"/out/k.stub.c\" \"/out/k.cpp1.ii\" -o \"/out/k.ptx\"\n" \
	"#$ ptxas -arch=sm_80 \"/out/k.ptx\" -o \"/out/k.cubin\" \n" \
	"#$ fatbinary --create=\"/out/k.fatbin\" --embedded-fatbin=\"/out/k.fatbin.c\" " fatbinary " \n" host
#define HOST(more) "#$ /out/cc -c -x c++ -O2 " more "\"/out/k.cudafe1.cpp\" -o \"/out/k.o\" \n"

/* A compiler that writes down how it was called, and of assembly makes a copy. */
#define CC "#!/bin/sh\n" \
	"echo \"$*\" >>/out/calls\n" \
	"case \"$*\" in\n" \
	"*' assembler '*) cp /out/host.s /out/k.o ;;\n" \
	"'-S '*) printf '.data\\nfatbinData:\\n.text\\n' >/out/host.s; echo said; echo warned >&2 ;;\n" \
	"*) echo whole >/out/k.o ;;\n" \
	"esac\n"

static bool split(const char *steps, struct buf *assembly, struct buf *object)
{
	_cleanup_nvcc_steps_ struct nvcc_steps s;
	_cleanup_err_ struct err err = { 0 };
	if (nvcc_steps_read((struct slice){ steps, strlen(steps) }, &s, &err) < 0)
		fail_msg("%s", err.msg);
	return nvcc_host_split(&s, assembly, object);
}

/* The text with a folder of this test's before /in/ and /out/. */
static void put_moved(const char *text, const struct tempdir *t, struct buf *out)
{
	for (; *text; text++) {
		if (strncmp(text, "/out/", 5) == 0 || strncmp(text, "/in/", 4) == 0)
			buf_str(out, t->path);
		buf_byte(out, *text);
	}
}

static void put_file(const struct tempdir *t, const char *name, const char *text)
{
	_cleanup_buf_ struct buf moved = BUF_INIT;
	put_moved(text, t, &moved);
	assert_int_equal(fs_write_file(t->fd, name, moved.data, moved.len, 0755, NULL), 0);
}

static void assert_file(const struct tempdir *t, const char *name, const char *text)
{
	_cleanup_buf_ struct buf got = BUF_INIT, wanted = BUF_INIT;
	put_moved(text, t, &wanted);
	assert_int_equal(fs_read_file(t->fd, name, 1 << 20, &got, NULL), 0);
	assert_string_equal(buf_slice(&got).p, wanted.data);
}

static void run(const struct tempdir *t, const struct buf *lines, struct buf *out, struct buf *messages)
{
	_cleanup_buf_ struct buf moved = BUF_INIT;
	put_moved(lines->data, t, &moved);
	const char *argv[] = { "/bin/sh", "-euc", moved.data, NULL };
	struct proc_spec spec = PROC_SPEC_INIT;
	struct proc_result result;
	spec.argv = argv;
	assert_int_equal(proc_run(&spec, out, messages, 1 << 16, &result, NULL), 0);
	assert_int_equal(result.status, 0);
}

#define LABEL "\"fatbinData:\\n\"\n"
#define COUNT "fatbinData[1]"
#define CODE ".incbin \"/out/k.fatbin\"\n"
#define BYTES "32 bytes of device code, 4 words"
#define CODE_IN_C "\".quad 0x00000000000000ff,0x0000000000000001\\n\"\n\".quad 0x00000000000000e0, 0x0000000000000008\\n\"\n"

/* fatbinary's file: the stand-in that the first run had, with device code. */
static void write_fatbin(const struct tempdir *t, const char *more)
{
	_cleanup_buf_ struct buf stand_in = BUF_INIT, real = BUF_INIT;
	assert_int_equal(fs_read_file(t->fd, "in/k.fatbin.c", 1 << 20, &stand_in, NULL), 0);
	char *code = strstr(stand_in.data, LABEL), *count = strstr(stand_in.data, COUNT);
	assert_true(code && count && code < count);
	code += strlen(LABEL);
	buf_printf(&real, "%.*s" CODE_IN_C "%.*sfatbinData[4]%s%s", (int)(code - stand_in.data), stand_in.data, (int)(count - code), code,
		count + strlen(COUNT), more);
	assert_int_equal(fs_write_file(t->fd, "out/k.fatbin.c", real.data, real.len, 0644, NULL), 0);
}

#define CALLS(object) "-S -x c++ -O2 -DX=a  b /out/k.cudafe1.cpp -o /out/host.s\n" object "\n"

static void make(struct tempdir *t, const char *more, const char *bytes, struct buf *out, struct buf *messages)
{
	_cleanup_buf_ struct buf assembly = BUF_INIT, object = BUF_INIT;
	assert_true(split(STEPS(HOST("-D'X=a  b' "), "--device-c"), &assembly, &object));
	assert_int_equal(mkdirat(t->fd, "out", 0755), 0);
	put_file(t, "out/cc", CC);
	run(t, &assembly, out, messages);
	assert_int_equal(out->len + messages->len, 0);
	assert_int_equal(renameat(t->fd, "out", t->fd, "in"), 0);
	assert_int_equal(mkdirat(t->fd, "out", 0755), 0);
	assert_int_equal(renameat(t->fd, "in/calls", t->fd, "out/calls"), 0);
	put_file(t, "out/cc", CC);
	write_fatbin(t, more);
	put_file(t, "out/k.fatbin", bytes);
	run(t, &object, out, messages);
}

static void test_code_gets_into_the_assembly(void **state)
{
	struct tempdir t = tempdir_make();
	_cleanup_buf_ struct buf out = BUF_INIT, messages = BUF_INIT;
	make(&t, "", BYTES, &out, &messages);
	assert_file(&t, "out/k.o", ".data\nfatbinData:\n" CODE ".text\n");
	assert_file(&t, "out/calls", CALLS("-c -x assembler -O2 -DX=a  b /out/host.s -o /out/k.o"));
	assert_string_equal(out.data, "said\n");
	assert_string_equal(messages.data, "warned\n");
	assert_int_equal(faccessat(t.fd, "out/" NVCC_HOST_AGAIN, F_OK, 0), -1);
	tempdir_remove(&t);
}

/* fatbinary writes something else: nothing is taken from the first run. */
static void test_another_form(void **state)
{
	static const char *const forms[][2] = { { "int more;\n", BYTES }, { "", "" }, { "", BYTES "8 more.." } };
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		struct tempdir t = tempdir_make();
		_cleanup_buf_ struct buf out = BUF_INIT, messages = BUF_INIT;
		make(&t, forms[i][0], forms[i][1], &out, &messages);
		assert_file(&t, "out/k.o", "whole\n");
		assert_file(&t, "out/calls", CALLS("-c -x c++ -O2 -DX=a  b /out/k.cudafe1.cpp -o /out/k.o"));
		assert_int_equal(out.len + messages.len, 0);
		assert_int_equal(faccessat(t.fd, "out/" NVCC_HOST_AGAIN, F_OK, 0), 0);
		tempdir_remove(&t);
	}
}

static void test_in_one_run(void **state)
{
	static const char *const hosts[] = { HOST("-g "), HOST("-ggdb "), HOST("-g3 "), HOST("-save-temps "), HOST("\"-DX=$HOME\" "),
		HOST("-frecord-gcc-switches "), HOST("-MD "), HOST("@more ") };
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
		_cleanup_free_ char *steps = mem_printf(STEPS("%s", ""), hosts[i]);
		_cleanup_buf_ struct buf assembly = BUF_INIT, object = BUF_INIT;
		assert_false(split(steps, &assembly, &object));
	}
	/* an nvcc that has the device code as text alone */
	static const char create[] = "--create=\"/out/k.fatbin\" ";
	_cleanup_free_ char *steps = mem_dup(STEPS(HOST(""), ""));
	_cleanup_buf_ struct buf assembly = BUF_INIT, object = BUF_INIT;
	assert_true(split(steps, &assembly, &object));
	memset(strstr(steps, create), ' ', strlen(create));
	assert_false(split(steps, &assembly, &object));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_gets_into_the_assembly), cmocka_unit_test(test_another_form), cmocka_unit_test(test_in_one_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
