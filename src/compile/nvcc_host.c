#include "compile/nvcc_host.h"

#include <string.h>

#include "compile/command.h"
#include "compile/nvcc_key.h"

#define ASSEMBLY_OUT COMPILE_OUT "/" NVCC_ASSEMBLY
#define ASSEMBLY_IN NVCC_IN "/" NVCC_ASSEMBLY

/* fatbinary's file of CUDA 12 and 13 without the lines of device code, and with 1 for the count of its words: what
 * differs for code that is yet to be linked is the section and the name that it goes by. */
#define STAND_IN(section, name, declared) \
	"#ifndef __SKIP_INTERNAL_FATBINARY_HEADERS\n" \
	"#include \"fatbinary_section.h\"\n" \
	"#endif\n" \
	"#define __CUDAFATBINSECTION  \".nvFatBinSegment\"\n" \
	"#define __CUDAFATBINDATASECTION  \"" section "\"\n" \
	"asm(\n" \
	"\".section " section ", \\\"a\\\"\\n\"\n" \
	"\".align 8\\n\"\n" \
	"\"fatbinData:\\n\"\n" \
	"\".text\\n\");\n" \
	"#ifdef __cplusplus\n" \
	"extern \"C\" {\n" \
	"#endif\n" \
	"extern const unsigned long long fatbinData[1];\n" \
	"#ifdef __cplusplus\n" \
	"}\n" \
	"#endif\n" \
	"#ifdef __cplusplus\n" \
	"extern \"C\" {\n" \
	"#endif\n" \
	name declared " __attribute__ ((aligned (8))) __attribute__ ((section (__CUDAFATBINSECTION)))= \n" \
	"\t{ 0x466243b1, 1, fatbinData, 0 };\n" \
	"#ifdef __cplusplus\n" \
	"}\n" \
	"#endif\n"
#define NAME_OF_MODULE \
	"#undef __FATIDNAME_CORE\n" \
	"#undef __FATIDNAME\n" \
	"#define __FATIDNAME_CORE(x) __fatbinwrap##x\n" \
	"#define __FATIDNAME(x) __FATIDNAME_CORE(x)\n"

static const char stand_in[] = STAND_IN(".nv_fatbin", "", "static const __fatBinC_Wrapper_t __fatDeviceText");
static const char stand_in_to_link[] = STAND_IN("__nv_relfatbin", NAME_OF_MODULE,
	"extern const __fatBinC_Wrapper_t __FATIDNAME(__NV_MODULE_ID)");

/* Does the object hang on whether it was made in one run?  Debug information of assembly is another than that of C++,
 * and switches may be written down. */
static bool is_one_run(const struct nvcc_step *host)
{
	static const char *const with[] = { "-g", "-save-temps", "-frecord-gcc-switches", "-fcompare-debug", "-specs", "-M", "-E", "-S", "@" };
	for (size_t i = 0; i < host->words.count; i++) {
		if (strchr(host->words.items[i], '$'))
			return true; /* the shell's to fill in */
		for (size_t k = 0; k < sizeof with / sizeof *with; k++)
			if (str_starts(host->words.items[i], with[k]))
				return true;
	}
	return false;
}

static void put_word(struct buf *out, const char *word)
{
	buf_byte(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			buf_str(out, "'\\''");
		else
			buf_byte(out, *word);
	buf_str(out, "' ");
}

/* The host's command with other files, mode and language. */
static void put_command(struct buf *out, const struct nvcc_step *host, const char *mode, const char *language, const char *reads,
	const char *writes)
{
	for (size_t i = 0; i < host->words.count; i++) {
		const char *word = host->words.items[i], *before = i ? host->words.items[i - 1] : "";
		put_word(out, strcmp(word, "-c") == 0 ? mode : strcmp(word, host->reads) == 0 ? reads :
			strcmp(before, "-x") == 0 ? language : strcmp(before, "-o") == 0 ? writes : word);
	}
}

/* The device code as fatbinary has written it both ways, as text for C and as bytes, is put behind its label. */
static void put_join(struct buf *object, const char *text, const char *fatbin, const char *bytes)
{
	buf_printf(object, "words=$(tail -c 2000 %s | sed -n 's/^.* fatbinData\\[\\([0-9]*\\)\\];$/\\1/p')\n", fatbin);
	buf_printf(object, "if [ \"$(sed -e '/^\"\\.quad 0x/d' -e 's/ fatbinData\\[[0-9]*\\];/ fatbinData[1];/' %s)\" = '%.*s' ] &&\n"
		"\t[ \"$(sed -n '/^fatbinData:$/p' " ASSEMBLY_IN ")\" = fatbinData: ] &&\n"
		"\t[ $((${words:-0} * 8)) = \"$(wc -c <%s)\" ]; then\n", fatbin, (int)strlen(text) - 1, text, bytes);
	buf_printf(object, "echo '.incbin \"%s\"' >" COMPILE_OUT "/device.s\n"
		"sed '/^fatbinData:$/r " COMPILE_OUT "/device.s' " ASSEMBLY_IN " >" ASSEMBLY_OUT "\n"
		"cat " NVCC_IN "/host.out\ncat " NVCC_IN "/host.err >&2\n", bytes);
}

bool nvcc_host_split(const struct nvcc_steps *s, struct buf *assembly, struct buf *object)
{
	const struct nvcc_step *host = nvcc_step_find(s, NVCC_HOST);
	const struct nvcc_step *fatbinary = nvcc_step_find(s, NVCC_FATBINARY);
	const char *fatbin = fatbinary->writes, *bytes = fatbinary->creates;
	const char *text = str_list_has(&fatbinary->words, "--device-c") ? stand_in_to_link : stand_in;
	if (is_one_run(host) || !bytes)
		return false;
	buf_printf(assembly, "cat >%s <<'END'\n%sEND\n", fatbin, text);
	put_command(assembly, host, "-S", "c++", host->reads, ASSEMBLY_OUT);
	buf_str(assembly, ">" COMPILE_OUT "/host.out 2>" COMPILE_OUT "/host.err\n");
	put_join(object, text, fatbin, bytes);
	put_command(object, host, "-c", "assembler", ASSEMBLY_OUT, host->writes);
	buf_printf(object, "\nelse\n>" COMPILE_OUT "/" NVCC_HOST_AGAIN "\n%s\nfi\n", host->line);
	return true;
}
