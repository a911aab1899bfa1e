/* The shim as it is installed in a world: under which name it runs decides which tool it is. */
#include "shim/shim.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "shim/proto.h"

/* The world's gcc, told by who compiles this for it. */
#ifndef GCC_MAJOR
#define GCC_MAJOR "12"
#endif

static bool tool_of(const char *name, enum tool *tool)
{
	static const char *const cc[] = { "cc", "gcc", "gcc-" GCC_MAJOR, "x86_64-linux-gnu-gcc",
		"x86_64-linux-gnu-gcc-" GCC_MAJOR, NULL };
	static const char *const cxx[] = { "c++", "g++", "g++-" GCC_MAJOR, "x86_64-linux-gnu-g++",
		"x86_64-linux-gnu-g++-" GCC_MAJOR, NULL };
	const char *slash = strrchr(name, '/');
	name = slash ? slash + 1 : name;
	*tool = is_one_of(name, cc) ? TOOL_CC : is_one_of(name, cxx) ? TOOL_CXX : TOOL_NVCC;
	return *tool != TOOL_NVCC || strcmp(name, "nvcc") == 0;
}

/* Its own file, by the name that links end at: a link under any other name to bin/c++ is c++. */
static void find_self(struct shim *s, const char *argv0)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		die("/proc/self/exe can't be read");
	self[n] = 0;
	if (!tool_of(self, &s->tool) && !tool_of(argv0, &s->tool))
		die("%s stands in for cc, c++ and nvcc and does not know the name '%s'", self, argv0);
	*strrchr(self, '/') = 0;
	char *slash = strrchr(self, '/');
	int len = snprintf(s->nvcc, sizeof s->nvcc, "%s/nvcc.real", self);
	int more = snprintf(s->floor, sizeof s->floor, "-L%.*s/floor", slash ? (int)(slash - self) : 0, self);
	if (len >= (int)sizeof s->nvcc || more >= (int)sizeof s->floor)
		die("%s: the path is too long", self);
}

int main(int argc, char **argv)
{
	static struct shim s = { .socket = PROTO_SOCKET, .gcc = "/usr/bin/gcc-" GCC_MAJOR, .gxx = "/usr/bin/g++-" GCC_MAJOR,
		.ccbin = "/toolchain/bin/g++" };
	if (argc < 1)
		return 1;
	find_self(&s, argv[0]);
	shim_run(&s, argv);
}
