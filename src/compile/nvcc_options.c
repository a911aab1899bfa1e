/* nvcc's options, as of 12.0 to 13.0.  An option that is not here has its command run in place. */
#include "compile/option.h"

#include <string.h>

#define FLAG(name) { name, OPTION_NVCC_FLAG, USE_KEY, NULL }
#define VALUE(name) { name, OPTION_NVCC_VALUE, USE_KEY, NULL }
#define OTHER(name, form, use) { name, OPTION_##form, USE_##use, NULL }
#define PLACE(name, form, why) { name, OPTION_NVCC_##form, USE_PLACE, why }

static const struct option options[] = {
	OTHER("c", NVCC_FLAG, COMPILE), OTHER("compile", NVCC_FLAG, COMPILE), OTHER("dc", NVCC_FLAG, COMPILE),
	OTHER("device-c", NVCC_FLAG, COMPILE), OTHER("dw", NVCC_FLAG, COMPILE), OTHER("device-w", NVCC_FLAG, COMPILE),
	OTHER("o", NVCC_VALUE, OBJECT), OTHER("output-file", NVCC_VALUE, OBJECT),
	OTHER("x", NVCC_VALUE, LANGUAGE),

	PLACE("E", FLAG, "it only preprocesses"), PLACE("preprocess", FLAG, "it only preprocesses"),
	PLACE("M", FLAG, "it only lists dependencies"), PLACE("generate-dependencies", FLAG, "it only lists dependencies"),
	PLACE("MM", FLAG, "it only lists dependencies"),
	PLACE("generate-nonsystem-dependencies", FLAG, "it only lists dependencies"),
	PLACE("cubin", FLAG, "it makes no object"), PLACE("fatbin", FLAG, "it makes no object"),
	PLACE("ptx", FLAG, "it makes no object"), PLACE("cuda", FLAG, "it makes no object"),
	PLACE("optix-ir", FLAG, "it makes no object"), PLACE("ltoir", FLAG, "it makes no object"),
	PLACE("lib", FLAG, "it makes a library"), PLACE("link", FLAG, "it links"), PLACE("dlink", FLAG, "it links"),
	PLACE("device-link", FLAG, "it links"), PLACE("run", FLAG, "it runs what it made"),
	PLACE("keep", FLAG, "it keeps temporary files"), PLACE("save-temps", FLAG, "it keeps temporary files"),
	PLACE("keep-dir", VALUE, "it keeps temporary files"), PLACE("dryrun", FLAG, "it shows its steps"),
	PLACE("verbose", FLAG, "it shows its steps"), PLACE("v", FLAG, "it shows its steps"),
	PLACE("version", FLAG, "it asks for the version"), PLACE("V", FLAG, "it asks for the version"),
	PLACE("help", FLAG, "it asks for help"), PLACE("h", FLAG, "it asks for help"),
	PLACE("time", VALUE, "it writes a second file"), PLACE("fdevice-time-trace", VALUE, "it writes a second file"),
	PLACE("options-file", VALUE, "it has a file of options"), PLACE("optf", VALUE, "it has a file of options"),
	PLACE("G", FLAG, "-G puts the names of temporary files into the object"),
	PLACE("device-debug", FLAG, "--device-debug puts the names of temporary files into the object"),
	OTHER("g", NVCC_FLAG, DEBUG), OTHER("debug", NVCC_FLAG, DEBUG),

	/* what the preprocessor alone sees */
	OTHER("-D", JOINED, TEXT), OTHER("D", NVCC_VALUE, TEXT), OTHER("define-macro", NVCC_VALUE, TEXT),
	OTHER("-U", JOINED, TEXT), OTHER("U", NVCC_VALUE, TEXT), OTHER("undefine-macro", NVCC_VALUE, TEXT),
	OTHER("-I", JOINED, PATH), OTHER("I", NVCC_VALUE, PATH), OTHER("include-path", NVCC_VALUE, PATH),
	OTHER("isystem", NVCC_VALUE, PATH), OTHER("system-include", NVCC_VALUE, PATH),
	OTHER("include", NVCC_VALUE, PATH), OTHER("pre-include", NVCC_VALUE, PATH),

	/* dependencies on the side */
	OTHER("MD", NVCC_FLAG, DEPS), OTHER("generate-dependencies-with-compile", NVCC_FLAG, DEPS),
	OTHER("MMD", NVCC_FLAG, DEPS), OTHER("generate-nonsystem-dependencies-with-compile", NVCC_FLAG, DEPS),
	OTHER("MP", NVCC_FLAG, DEPS_MORE), OTHER("generate-dependency-targets", NVCC_FLAG, DEPS_MORE),
	OTHER("MF", NVCC_VALUE, DEPS_FILE), OTHER("dependency-output", NVCC_VALUE, DEPS_FILE),
	OTHER("MT", NVCC_VALUE, DEPS_TARGET), OTHER("dependency-target-name", NVCC_VALUE, DEPS_TARGET),

	/* the link (-lNAME is not taken: -lto, -ldir and more are options), and how many things nvcc does at once */
	OTHER("-L", JOINED, LINK), OTHER("L", NVCC_VALUE, LINK), OTHER("library-path", NVCC_VALUE, LINK),
	OTHER("l", NVCC_VALUE, LINK), OTHER("library", NVCC_VALUE, LINK),
	OTHER("t", NVCC_VALUE, JOBS), OTHER("-t", NUMBER, JOBS), OTHER("threads", NVCC_VALUE, JOBS),
	VALUE("cudart"), VALUE("cudadevrt"), FLAG("shared"),

	/* the other compilers */
	OTHER("ccbin", NVCC_VALUE, CCBIN), OTHER("compiler-bindir", NVCC_VALUE, CCBIN),
	OTHER("Xcompiler", NVCC_VALUE, HOST), OTHER("compiler-options", NVCC_VALUE, HOST),
	OTHER("Xptxas", NVCC_VALUE, TOOL), OTHER("ptxas-options", NVCC_VALUE, TOOL),
	OTHER("Xfatbin", NVCC_VALUE, TOOL), OTHER("fatbin-options", NVCC_VALUE, TOOL),
	OTHER("Xcudafe", NVCC_VALUE, TOOL), OTHER("cudafe-options", NVCC_VALUE, TOOL),
	OTHER("forward-unknown-to-host-compiler", NVCC_FLAG, FORWARD),
	FLAG("allow-unsupported-compiler"),

	/* architectures */
	OTHER("gencode", NVCC_VALUE, ARCH), OTHER("generate-code", NVCC_VALUE, ARCH), OTHER("arch", NVCC_VALUE, ARCH),
	OTHER("gpu-architecture", NVCC_VALUE, ARCH), OTHER("code", NVCC_VALUE, ARCH), OTHER("gpu-code", NVCC_VALUE, ARCH),

	/* code */
	{ "-O", OPTION_JOINED, USE_KEY, NULL }, VALUE("O"), VALUE("optimize"), VALUE("Ofc"), VALUE("Ofast-compile"),
	VALUE("dopt"), VALUE("std"), FLAG("m64"), VALUE("machine"), VALUE("m"), OTHER("lineinfo", NVCC_FLAG, LINES), OTHER("generate-line-info", NVCC_FLAG, LINES),
	OTHER("src-in-ptx", NVCC_FLAG, LINES), OTHER("source-in-ptx", NVCC_FLAG, LINES),
	VALUE("rdc"), VALUE("relocatable-device-code"), VALUE("maxrregcount"), FLAG("use_fast_math"), VALUE("ftz"),
	VALUE("prec-div"), VALUE("prec-sqrt"), VALUE("fmad"), FLAG("extra-device-vectorization"), FLAG("restrict"),
	FLAG("keep-device-functions"), VALUE("default-stream"), FLAG("expt-relaxed-constexpr"), FLAG("extended-lambda"),
	FLAG("expt-extended-lambda"), FLAG("nohdinitlist"), FLAG("no-host-device-initializer-list"),
	FLAG("nohdmoveforward"), FLAG("no-host-device-move-forward"), FLAG("noeh"), FLAG("no-exceptions"),
	FLAG("no-align-double"), VALUE("ftemplate-depth"), VALUE("ftemplate-backtrace-limit"), FLAG("ewp"),
	FLAG("extensible-whole-program"), FLAG("no-compress"), VALUE("compress-mode"), VALUE("static-global-template-stub"),
	VALUE("device-entity-has-hidden-visibility"), VALUE("split-compile"), VALUE("split-compile-extended"),
	FLAG("objtemp"), FLAG("objdir-as-tempdir"), VALUE("frandom-seed"), VALUE("jtd"), VALUE("jump-table-density"),
	VALUE("device-stack-protector"),

	/* messages */
	FLAG("w"), FLAG("disable-warnings"), FLAG("Wreorder"), FLAG("Wdefault-stream-launch"), FLAG("Wmissing-launch-bounds"),
	FLAG("Wext-lambda-captures-this"), FLAG("Wno-deprecated-declarations"), FLAG("Wno-deprecated-gpu-targets"),
	VALUE("Werror"), FLAG("res-usage"), FLAG("resource-usage"), FLAG("err-no"), FLAG("display-error-number"),
	FLAG("no-err-no"), FLAG("no-display-error-number"), VALUE("diag-error"), VALUE("diag-suppress"), VALUE("diag-warn"),
	VALUE("opt-info"), VALUE("optimization-info"), VALUE("brief-diag"), VALUE("brief-diagnostics"),
};

const struct option_table nvcc_options = { options, sizeof options / sizeof *options };

/* What stands behind -Xptxas and its like; a name that ends in "=" takes any value. */
static const struct { char tool; const char *word; } tool_options[] = {
	{ 'p', "-v" }, { 'p', "--verbose" }, { 'p', "-w" }, { 'p', "--disable-warnings" }, { 'p', "-O0" }, { 'p', "-O1" },
	{ 'p', "-O2" }, { 'p', "-O3" }, { 'p', "-O4" }, { 'p', "-O=" }, { 'p', "--opt-level=" }, { 'p', "-warn-spills" },
	{ 'p', "--warn-on-spills" }, { 'p', "-warn-lmem-usage" }, { 'p', "--warn-on-local-memory-usage" },
	{ 'p', "-warn-double-usage" }, { 'p', "--warn-on-double-precision-use" }, { 'p', "-dlcm=" }, { 'p', "--def-load-cache=" },
	{ 'p', "-dscm=" }, { 'p', "--def-store-cache=" }, { 'p', "-fmad=" }, { 'p', "--fmad=" }, { 'p', "-maxrregcount=" },
	{ 'p', "--maxrregcount=" }, { 'p', "-allow-expensive-optimizations=" }, { 'p', "--allow-expensive-optimizations=" },
	{ 'p', "-register-usage-level=" }, { 'p', "--register-usage-level=" }, { 'p', "-disable-optimizer-constants" },
	{ 'p', "--disable-optimizer-constants" }, { 'p', "-lineinfo" }, { 'p', "--generate-line-info" },
	{ 'f', "-compress-all" }, { 'f', "--compress-all" }, { 'f', "-compress=" }, { 'f', "--compress=" },
	{ 'f', "-compress-mode=" }, { 'f', "--compress-mode=" }, { 'f', "-no-compress" }, { 'f', "--no-compress" },
	{ 'c', "--diag_suppress=" }, { 'c', "--diag_error=" }, { 'c', "--diag_warning=" }, { 'c', "--diag_remark=" },
	{ 'c', "--diag_default=" }, { 'c', "--display_error_number" }, { 'c', "--promote_warnings" },
	{ 'c', "--no_warnings" }, { 'c', "-w" },
};

bool option_of_tool(const char *option_name, const char *word)
{
	char tool = strstr(option_name, "ptxas") ? 'p' : strstr(option_name, "fatbin") ? 'f' : 'c';
	for (size_t i = 0; i < sizeof tool_options / sizeof *tool_options; i++) {
		const char *known = tool_options[i].word;
		size_t n = strlen(known);
		if (tool_options[i].tool != tool)
			continue;
		if (known[n - 1] == '=' ? strncmp(word, known, n) == 0 && word[n] : strcmp(word, known) == 0)
			return true;
	}
	return false;
}
