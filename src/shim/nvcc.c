/* nvcc in forge's worlds: the same source and flags give the same bytes.
 *   -objtemp       temporary files beside the object, under names that follow from it
 *   -frandom-seed  else cudafe++'s process id gets into symbol names
 *   -ccbin         forge's compiler wrapper
 * What the caller gives of these stays. */
#include "shim/shim.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Left out of the seed: options that don't change code, or whose values are places: the output (setup.py puts
 * the Python version there), folders of headers (Python's own differ by version), what nvcc does in parallel,
 * what it prints and keeps, how debug information names folders, and what is added here anyway.  So one source
 * compiled for two Pythons gets one seed.  And the architectures: an architecture's code is to be the same whichever
 * others are compiled with it. */
static const char *const skipped_with_value[] = {
	"-o", "--output-file", "-odir", "--output-directory", "-MF", "--dependency-output", "-MT",
	"--dependency-target-name", "-MQ", "-t", "--threads", "-split-compile", "--split-compile",
	"-I", "--include-path", "-isystem", "--system-include", "-keep-dir", "--keep-dir",
	"-ccbin", "--compiler-bindir", "-time", "--time", "-gencode", "--generate-code", "-arch", "--gpu-architecture",
	"-code", "--gpu-code", NULL,
};
static const char *const skipped[] = {
	"-M", "-MM", "-MD", "-MMD", "-MP", "--generate-dependencies", "--generate-nonsystem-dependencies",
	"--generate-dependencies-with-compile", "--generate-nonsystem-dependencies-with-compile",
	"--generate-dependency-targets", "-dryrun", "--dryrun", "-v", "--verbose", "-keep", "--keep",
	"-save-temps", "--save-temps", "-objtemp", "--objdir-as-tempdir", NULL,
};
/* With the value in the same argument: "-I/x", "--threads=4". */
static const char *const skipped_joined[] = {
	"-I", "-isystem=", "--include-path=", "--system-include=", "-o=", "--output-file=", "-odir=",
	"--output-directory=", "-MF=", "--dependency-output=", "-MT=", "--dependency-target-name=", "-t=",
	"--threads=", "-split-compile=", "--split-compile=", "-keep-dir=", "--keep-dir=", "-ccbin=",
	"--compiler-bindir=", "-time=", "--time=", "-gencode=", "--generate-code=", "-arch=", "--gpu-architecture=",
	"-code=", "--gpu-code=", "-Xcompiler=-fdebug-prefix-map=", "-t0", "-t1", "-t2", "-t3", "-t4", "-t5", "-t6", "-t7", "-t8", "-t9", NULL,
};

static bool starts_with_one_of(const char *text, const char *const *list)
{
	for (; *list; list++)
		if (starts_with(text, *list))
			return true;
	return false;
}

static bool is_source(const char *arg)
{
	static const char *const ends[] = { ".cu", ".c", ".cc", ".cpp", ".cxx", ".ptx", NULL };
	if (arg[0] == '-')
		return false;
	for (const char *const *end = ends; *end; end++)
		if (ends_with(arg, *end))
			return true;
	return false;
}

/* FNV-1a: a seed has to differ where the command differs, nothing more is asked of it. */
struct seed {
	unsigned __int128 state;
};

static void seed_byte(struct seed *s, unsigned char byte)
{
	const unsigned __int128 prime = (unsigned __int128)1 << 88 | 0x13b;
	s->state = (s->state ^ byte) * prime;
}

static void seed_text(struct seed *s, const char *text)
{
	do
		seed_byte(s, (unsigned char)*text);
	while (*text++);
}

/* A source by its absolute path without "." and "..": setup.py and ninja name the same file from folders that
 * carry the Python version. By text alone: what a link points to does not matter, only that it is stable. */
static void seed_path(struct seed *s, const char *path)
{
	char cwd[PATH_MAX] = "", *save = NULL;
	if (path[0] != '/' && !getcwd(cwd, sizeof cwd))
		cwd[0] = 0;
	size_t size = strlen(cwd) + strlen(path) + 2;
	char *all = must(malloc(size)), *out = must(calloc(1, size)), *end = out;
	snprintf(all, size, "%s/%s", cwd, path);
	for (char *part = strtok_r(all, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		if (strcmp(part, ".") == 0)
			continue;
		if (strcmp(part, "..") == 0) {
			while (end > out && *--end != '/')
				;
			*end = 0;
			continue;
		}
		*end++ = '/';
		end = stpcpy(end, part);
	}
	seed_text(s, out);
	free(all);
	free(out);
}

static void seed_of(char **argv, char *text, size_t size)
{
	struct seed s = { (unsigned __int128)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d };
	for (char **arg = argv + 1; *arg; arg++) {
		if (is_one_of(*arg, skipped_with_value)) {
			if (!*++arg)
				break;
		} else if (is_source(*arg)) {
			seed_path(&s, *arg);
		} else if (!is_one_of(*arg, skipped) && !starts_with_one_of(*arg, skipped_joined)) {
			seed_text(&s, *arg);
		}
	}
	static const char *const more[] = { "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS" };
	for (size_t i = 0; i < 2; i++) {
		const char *flags = getenv(more[i]);
		seed_text(&s, flags ? flags : "");
	}
	snprintf(text, size, "-frandom-seed=forge-%016llx%016llx", (unsigned long long)(s.state >> 64),
		(unsigned long long)s.state);
}

static bool gives(char **argv, const char *const *alone, const char *const *joined)
{
	for (argv++; *argv; argv++)
		if (is_one_of(*argv, alone) || starts_with_one_of(*argv, joined))
			return true;
	return false;
}

static bool compiles(char **argv)
{
	static const char *const language[] = { "-x", "--x", NULL }, *const joined[] = { "-x=", "--x=", NULL };
	for (char **arg = argv + 1; *arg; arg++)
		if (is_source(*arg))
			return true;
	return gives(argv, language, joined);
}

void nvcc_args(const struct shim *s, char **argv, struct args *out)
{
	static char seed[64];
	static const char *const ccbin[] = { "-ccbin", "--compiler-bindir", NULL };
	static const char *const ccbin_joined[] = { "-ccbin=", "--compiler-bindir=", NULL };
	static const char *const objtemp[] = { "-objtemp", "--objdir-as-tempdir", NULL };
	static const char *const seeds[] = { "-frandom-seed", "--frandom-seed", NULL };
	static const char *const seeds_joined[] = { "-frandom-seed=", "--frandom-seed=", NULL };
	static const char *const none[] = { NULL };
	if (!gives(argv, ccbin, ccbin_joined)) {
		args_push(out, "-ccbin");
		args_push(out, s->ccbin);
	}
	if (compiles(argv)) {
		if (!gives(argv, objtemp, none))
			args_push(out, "-objtemp");
		if (!gives(argv, seeds, seeds_joined)) {
			seed_of(argv, seed, sizeof seed);
			args_push(out, seed);
		}
	}
	for (argv++; *argv; argv++)
		args_push(out, *argv);
}
