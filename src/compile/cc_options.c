/* gcc's and g++'s options, as of gcc 12.  An option that is not here has its command run in place. */
#include "compile/option.h"

#define PLACE(name, form, why) { name, OPTION_##form, USE_PLACE, why }
#define KEY(name) { name, OPTION_EXACT, USE_KEY, NULL }
#define KEY_JOINED(name) { name, OPTION_JOINED, USE_KEY, NULL }
#define SWITCH(name) { name, OPTION_NEGATABLE, USE_KEY, NULL }
#define DEBUG(name) { name, OPTION_EXACT, USE_DEBUG, NULL }
#define OTHER(name, form, use) { name, OPTION_##form, USE_##use, NULL }

static const struct option options[] = {
	OTHER("-c", EXACT, COMPILE), OTHER("-o", EITHER, OBJECT), OTHER("-x", EITHER, LANGUAGE),

	/* not one source to one object */
	PLACE("-E", EXACT, "it only preprocesses"), PLACE("-S", EXACT, "it writes assembler"),
	PLACE("-M", EXACT, "it only lists dependencies"), PLACE("-MM", EXACT, "it only lists dependencies"),
	PLACE("-MG", EXACT, "-MG takes missing headers for generated ones"),
	PLACE("-fsyntax-only", EXACT, "it makes no object"), PLACE("-save-temps", EXACT, "it keeps temporary files"),
	PLACE("-save-temps=", JOINED, "it keeps temporary files"), PLACE("-v", EXACT, "it shows its steps"),
	PLACE("-###", EXACT, "it shows its steps"), PLACE("--version", EXACT, "it asks for the version"),
	PLACE("-dumpversion", EXACT, "it asks for the version"), PLACE("-dumpmachine", EXACT, "it asks for the target"),
	PLACE("--help", EXACT, "it asks for help"),
	PLACE("-print-", JOINED, "it asks the compiler"), PLACE("-specs=", JOINED, "it has specs of its own"),
	PLACE("-wrapper", SEPARATE, "it has the compiler run under another program"),
	PLACE("-fplugin=", JOINED, "it loads a plugin into the compiler"),
	PLACE("-fplugin-arg-", JOINED, "it loads a plugin into the compiler"),
	PLACE("--coverage", EXACT, "it writes notes of coverage"), PLACE("-ftest-coverage", EXACT, "it writes notes of coverage"),
	PLACE("-fprofile-", JOINED, "it reads or writes a profile"), PLACE("-fauto-profile", EXACT, "it reads a profile"),
	PLACE("-fauto-profile=", JOINED, "it reads a profile"), PLACE("-fbranch-probabilities", EXACT, "it reads a profile"),
	PLACE("-flto", EXACT, "-flto puts random names into the object"),
	PLACE("-flto=", JOINED, "-flto puts random names into the object"),
	PLACE("-fmodules-ts", EXACT, "it uses C++ modules"), PLACE("-fmodule-", JOINED, "it uses C++ modules"),
	PLACE("-gsplit-dwarf", EXACT, "it writes a second file"), PLACE("-fdump-", JOINED, "it writes a second file"),
	PLACE("-fstack-usage", EXACT, "it writes a second file"), PLACE("-fcallgraph-info", EXACT, "it writes a second file"),
	PLACE("-fpch-preprocess", EXACT, "it uses precompiled headers"),
	PLACE("-Wa,", JOINED, "it has options for the assembler"), PLACE("-Wp,", JOINED, "it has options for the preprocessor"),
	PLACE("-Xassembler", SEPARATE, "it has options for the assembler"),
	PLACE("-Xpreprocessor", SEPARATE, "it has options for the preprocessor"),
	PLACE("-B", EITHER, "it has the compiler's programs searched elsewhere"),
	PLACE("--sysroot", SEPARATE, "it has a root of its own"), PLACE("--sysroot=", JOINED, "it has a root of its own"),
	PLACE("-isysroot", EITHER, "it has a root of its own"),

	/* what the preprocessor alone sees */
	OTHER("-D", EITHER, TEXT), OTHER("-U", EITHER, TEXT), OTHER("-undef", EXACT, TEXT),
	OTHER("-nostdinc", EXACT, TEXT), OTHER("-nostdinc++", EXACT, TEXT),
	OTHER("-Wp,-D", JOINED, TEXT), OTHER("-Wp,-U", JOINED, TEXT),
	OTHER("-I", EITHER, PATH), OTHER("-isystem", EITHER, PATH), OTHER("-iquote", EITHER, PATH),
	OTHER("-idirafter", EITHER, PATH), OTHER("-include", EITHER, PATH), OTHER("-imacros", EITHER, PATH),

	/* dependencies on the side */
	OTHER("-MD", EXACT, DEPS), OTHER("-MMD", EXACT, DEPS), OTHER("-MP", EXACT, DEPS_MORE),
	OTHER("-MF", EITHER, DEPS_FILE), OTHER("-MT", EITHER, DEPS_TARGET), OTHER("-MQ", EITHER, DEPS_QUOTED),

	/* for the link that is not done */
	OTHER("-L", EITHER, LINK), OTHER("-Wl,", JOINED, LINK), OTHER("-Xlinker", SEPARATE, LINK),
	OTHER("-fuse-ld=", JOINED, LINK), OTHER("-pipe", EXACT, LINK),
	{ "-l", OPTION_EITHER, USE_KEY, NULL }, /* the compiler warns of it */
	KEY("-shared"), KEY("-static"), KEY("-static-libgcc"), KEY("-static-libstdc++"), KEY("-rdynamic"), KEY("-pie"),
	KEY("-no-pie"), KEY("-nostdlib"), KEY("-nodefaultlibs"), KEY("-nostartfiles"), KEY("-s"),

	/* language, optimisation, warnings */
	KEY_JOINED("-std="), KEY("-ansi"), KEY("-pedantic"), KEY("-pedantic-errors"), KEY("-w"), KEY("-pthread"), KEY("-pg"),
	KEY("-O"), KEY("-O0"), KEY("-O1"), KEY("-O2"), KEY("-O3"), KEY("-Os"), KEY("-Og"), KEY("-Oz"), KEY("-Ofast"),
	KEY("-W"), KEY_JOINED("-W"), KEY("-Wa,--noexecstack"), { "--param", OPTION_SEPARATE, USE_KEY, NULL }, KEY_JOINED("--param="),

	/* debug information */
	KEY("-g0"), DEBUG("-g"), DEBUG("-g1"), DEBUG("-g2"), DEBUG("-g3"), DEBUG("-ggdb3"), DEBUG("-ggdb"), DEBUG("-ggdb1"), DEBUG("-ggdb2"), KEY("-ggdb0"),
	DEBUG("-gdwarf"), DEBUG("-gdwarf-2"), DEBUG("-gdwarf-3"), DEBUG("-gdwarf-4"), DEBUG("-gdwarf-5"),
	DEBUG("-gstrict-dwarf"), DEBUG("-gno-strict-dwarf"), DEBUG("-gz"), DEBUG("-gz=none"), DEBUG("-gz=zlib"),
	DEBUG("-gcolumn-info"), DEBUG("-gno-column-info"), DEBUG("-grecord-gcc-switches"), DEBUG("-gno-record-gcc-switches"),

	/* the machine */
	OTHER("-march=", JOINED, TUNE), OTHER("-mtune=", JOINED, TUNE), OTHER("-mcpu=", JOINED, TUNE),
	KEY("-m32"), KEY("-m64"), KEY("-mx32"), KEY_JOINED("-mcmodel="), KEY_JOINED("-mfpmath="), KEY_JOINED("-mabi="),
	KEY_JOINED("-mtls-dialect="), KEY_JOINED("-mstack-protector-guard"), KEY_JOINED("-mpreferred-stack-boundary="),
	KEY_JOINED("-mprefer-vector-width="), KEY_JOINED("-mindirect-branch="), KEY_JOINED("-mfunction-return="),
	KEY_JOINED("-mbranch-cost="), KEY_JOINED("-mno-sse"), KEY_JOINED("-mno-avx"), KEY_JOINED("-msse"), KEY_JOINED("-mavx"),
	SWITCH("-msse"), SWITCH("-mavx"),
	SWITCH("-mmmx"), SWITCH("-m3dnow"), SWITCH("-mssse3"), SWITCH("-mfma"), SWITCH("-mfma4"), SWITCH("-mf16c"),
	SWITCH("-mbmi"), SWITCH("-mbmi2"), SWITCH("-mlzcnt"), SWITCH("-mpopcnt"), SWITCH("-mabm"), SWITCH("-maes"), SWITCH("-mvaes"),
	SWITCH("-mpclmul"), SWITCH("-mvpclmulqdq"), SWITCH("-msha"), SWITCH("-mgfni"), SWITCH("-mrdrnd"), SWITCH("-mrdseed"),
	SWITCH("-madx"), SWITCH("-mcx16"), SWITCH("-mmovbe"), SWITCH("-msahf"), SWITCH("-mxsave"), SWITCH("-mxsaveopt"),
	SWITCH("-mxsavec"), SWITCH("-mfsgsbase"), SWITCH("-mprfchw"), SWITCH("-mclflushopt"), SWITCH("-mclwb"), SWITCH("-mxop"),
	SWITCH("-mtbm"), SWITCH("-mcrc32"), SWITCH("-mamx-tile"), SWITCH("-mamx-int8"), SWITCH("-mamx-bf16"), SWITCH("-mvzeroupper"),
	SWITCH("-mred-zone"), SWITCH("-momit-leaf-frame-pointer"), SWITCH("-mstackrealign"), SWITCH("-mshstk"),
	SWITCH("-mrecip"), SWITCH("-mieee-fp"), SWITCH("-mgeneral-regs-only"), SWITCH("-mindirect-branch-register"),

	/* code generation */
	SWITCH("-fPIC"), SWITCH("-fpic"), SWITCH("-fPIE"), SWITCH("-fpie"), SWITCH("-fplt"), SWITCH("-fcommon"),
	SWITCH("-fexceptions"), SWITCH("-frtti"), SWITCH("-fopenmp"), SWITCH("-fopenmp-simd"),
	SWITCH("-fwrapv"), SWITCH("-fwrapv-pointer"), SWITCH("-ftrapv"), SWITCH("-fstrict-aliasing"), SWITCH("-fstrict-overflow"),
	SWITCH("-ffast-math"), SWITCH("-fmath-errno"), SWITCH("-ftrapping-math"), SWITCH("-funsafe-math-optimizations"),
	SWITCH("-ffinite-math-only"), SWITCH("-fassociative-math"), SWITCH("-freciprocal-math"), SWITCH("-fsigned-zeros"),
	SWITCH("-frounding-math"), SWITCH("-fsignaling-nans"), SWITCH("-fcx-limited-range"), SWITCH("-ffloat-store"),
	KEY_JOINED("-ffp-contract="), KEY_JOINED("-fexcess-precision="), SWITCH("-fcx-fortran-rules"),
	SWITCH("-fomit-frame-pointer"), SWITCH("-funroll-loops"), SWITCH("-funroll-all-loops"), SWITCH("-fpeel-loops"),
	SWITCH("-fprefetch-loop-arrays"), SWITCH("-finline"), SWITCH("-finline-functions"), SWITCH("-finline-small-functions"),
	SWITCH("-finline-functions-called-once"), KEY_JOINED("-finline-limit="), SWITCH("-fkeep-inline-functions"),
	SWITCH("-ftree-vectorize"), SWITCH("-ftree-slp-vectorize"), SWITCH("-ftree-loop-vectorize"), KEY_JOINED("-fvect-cost-model="),
	KEY_JOINED("-fsimd-cost-model="), SWITCH("-ftree-vrp"), SWITCH("-fgcse"), SWITCH("-fgcse-after-reload"), SWITCH("-fivopts"),
	SWITCH("-fsplit-loops"), SWITCH("-fipa-cp-clone"), SWITCH("-fipa-pta"), SWITCH("-fipa-icf"), SWITCH("-fipa-sra"),
	SWITCH("-fschedule-insns"), SWITCH("-fschedule-insns2"), SWITCH("-freorder-blocks"), SWITCH("-freorder-functions"),
	SWITCH("-fcrossjumping"), SWITCH("-fthread-jumps"), SWITCH("-ftoplevel-reorder"), SWITCH("-fsection-anchors"),
	SWITCH("-fdelete-null-pointer-checks"), SWITCH("-fisolate-erroneous-paths-dereference"), SWITCH("-foptimize-sibling-calls"),
	SWITCH("-falign-functions"), SWITCH("-falign-loops"), SWITCH("-falign-jumps"), SWITCH("-falign-labels"),
	KEY_JOINED("-falign-functions="), KEY_JOINED("-falign-loops="), KEY_JOINED("-falign-jumps="), KEY_JOINED("-falign-labels="),
	SWITCH("-ffunction-sections"), SWITCH("-fdata-sections"), SWITCH("-fmerge-constants"), SWITCH("-fmerge-all-constants"),
	SWITCH("-fstack-protector"), SWITCH("-fstack-protector-strong"), SWITCH("-fstack-protector-all"),
	SWITCH("-fstack-protector-explicit"), SWITCH("-fstack-clash-protection"), SWITCH("-fstack-check"),
	SWITCH("-fcf-protection"), KEY_JOINED("-fcf-protection="), KEY_JOINED("-ftrivial-auto-var-init="), KEY_JOINED("-fzero-call-used-regs="),
	SWITCH("-fasynchronous-unwind-tables"), SWITCH("-funwind-tables"), SWITCH("-fnon-call-exceptions"),
	SWITCH("-fsemantic-interposition"), KEY_JOINED("-fvisibility="), SWITCH("-fvisibility-inlines-hidden"),
	SWITCH("-fvisibility-ms-compat"), KEY_JOINED("-ftls-model="), SWITCH("-fthreadsafe-statics"), SWITCH("-fuse-cxa-atexit"),
	SWITCH("-fshort-enums"), SWITCH("-fshort-wchar"), SWITCH("-fsigned-char"), SWITCH("-funsigned-char"),
	SWITCH("-fsigned-bitfields"), SWITCH("-funsigned-bitfields"), SWITCH("-fpack-struct"), SWITCH("-ffreestanding"),
	SWITCH("-fhosted"), SWITCH("-fbuiltin"), KEY_JOINED("-fno-builtin-"), SWITCH("-fgnu89-inline"), SWITCH("-fident"),
	SWITCH("-fjump-tables"), SWITCH("-fverbose-asm"), SWITCH("-flifetime-dse"), KEY_JOINED("-flifetime-dse="),
	SWITCH("-fsized-deallocation"), SWITCH("-faligned-new"), KEY_JOINED("-faligned-new="), SWITCH("-fchar8_t"), SWITCH("-fcoroutines"),
	SWITCH("-fconcepts"), SWITCH("-fpermissive"), SWITCH("-fms-extensions"), SWITCH("-fplan9-extensions"), SWITCH("-fgnu-keywords"),
	SWITCH("-fimplicit-templates"), SWITCH("-fimplicit-inline-templates"), SWITCH("-fabi-version"), KEY_JOINED("-fabi-version="),
	KEY_JOINED("-fabi-compat-version="), SWITCH("-fnew-inheriting-ctors"), KEY_JOINED("-ftemplate-depth="), KEY_JOINED("-ftemplate-depth-"),
	KEY_JOINED("-fconstexpr-depth="), KEY_JOINED("-fconstexpr-loop-limit="), KEY_JOINED("-fconstexpr-ops-limit="),
	KEY_JOINED("-ftemplate-backtrace-limit="), SWITCH("-fstrict-enums"), SWITCH("-felide-constructors"), SWITCH("-fenforce-eh-specs"),
	SWITCH("-fnothrow-opt"), SWITCH("-fdeclone-ctor-dtor"), SWITCH("-fextern-tls-init"), SWITCH("-fgnu-unique"), SWITCH("-fweak"),
	KEY_JOINED("-fsanitize="), KEY_JOINED("-fno-sanitize="), KEY_JOINED("-fsanitize-recover"), KEY_JOINED("-fno-sanitize-recover"),
	SWITCH("-fsanitize-recover"),
	SWITCH("-fsanitize-undefined-trap-on-error"), SWITCH("-finstrument-functions"), KEY_JOINED("-fpatchable-function-entry="),
	KEY_JOINED("-frandom-seed="), SWITCH("-fdollars-in-identifiers"),
	SWITCH("-fextended-identifiers"), KEY_JOINED("-finput-charset="), KEY_JOINED("-fexec-charset="), KEY_JOINED("-ftabstop="),
	SWITCH("-fdebug-types-section"), SWITCH("-feliminate-unused-debug-types"), SWITCH("-feliminate-unused-debug-symbols"),
	SWITCH("-fvar-tracking"), SWITCH("-fvar-tracking-assignments"), SWITCH("-fworking-directory"), SWITCH("-fmerge-debug-strings"),
	OTHER("-ffile-prefix-map=", JOINED, DEBUG), OTHER("-fdebug-prefix-map=", JOINED, DEBUG),
	OTHER("-fmacro-prefix-map=", JOINED, TEXT), SWITCH("-fanalyzer"), SWITCH("-fmax-errors"), KEY_JOINED("-fmax-errors="),
	KEY_JOINED("-fmessage-length="), SWITCH("-fdiagnostics-color"), KEY_JOINED("-fdiagnostics-color="),
	SWITCH("-fdiagnostics-show-option"), SWITCH("-fdiagnostics-show-caret"), KEY_JOINED("-fdiagnostics-show-location="),
	SWITCH("-fdiagnostics-show-template-tree"), SWITCH("-fshow-column"), SWITCH("-ftrack-macro-expansion"),
	KEY_JOINED("-ftrack-macro-expansion="),
};

const struct option_table cc_options = { options, sizeof options / sizeof *options };
