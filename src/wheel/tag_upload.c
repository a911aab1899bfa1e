/* The platform tags that the Python index takes uploads for. */
#include <string.h>

#include "core/mem.h"
#include "wheel/tag.h"

static bool one_of(const char *text, const char *const *set)
{
	for (; *set; set++)
		if (str_eq(text, *set))
			return true;
	return false;
}

/* "_12_" at *p: a number of at most four digits between underscores; *p moves behind it. */
static bool number(const char **p, int *n)
{
	const char *s = *p;
	*n = 0;
	for (; *s >= '0' && *s <= '9' && s - *p < 4; s++)
		*n = *n * 10 + (*s - '0');
	if (s == *p || *s != '_')
		return false;
	*p = s + 1;
	return true;
}

static bool after(const char **p, const char *prefix)
{
	if (!str_starts(*p, prefix))
		return false;
	*p += strlen(prefix);
	return true;
}

static bool linux_accepted(const char *p)
{
	static const char *const both[] = {
		"x86_64", "i686", "aarch64", "armv7l", "ppc64le", "s390x", "riscv64", NULL,
	};
	int major, minor;
	if (after(&p, "manylinux_"))
		return number(&p, &major) && number(&p, &minor) && (one_of(p, both) || str_eq(p, "ppc64"));
	return after(&p, "musllinux_") && number(&p, &major) && number(&p, &minor) && one_of(p, both);
}

static bool apple_accepted(const char *p)
{
	static const char *const macs[] = {
		"ppc", "ppc64", "i386", "x86_64", "arm64", "intel", "fat", "fat3", "fat64", "universal",
		"universal2", NULL,
	};
	static const char *const phones[] = {
		"arm64_iphoneos", "arm64_iphonesimulator", "x86_64_iphonesimulator", NULL,
	};
	int major, minor;
	if (after(&p, "ios_"))
		return number(&p, &major) && number(&p, &minor) && one_of(p, phones);
	if (!after(&p, "macosx_") || !number(&p, &major) || !number(&p, &minor) || !one_of(p, macs))
		return false;
	/* From macOS 11 on, Python's platform tags carry the minor version 0; 26 follows 15. */
	return major == 10 || (((major >= 11 && major <= 15) || major == 26) && minor == 0);
}

static bool other_accepted(const char *p)
{
	static const char *const androids[] = { "armeabi_v7a", "arm64_v8a", "x86", "x86_64", NULL };
	int major, minor;
	if (after(&p, "android_"))
		return number(&p, &major) && one_of(p, androids);
	return after(&p, "pyemscripten_") && number(&p, &major) && number(&p, &minor) && str_eq(p, "wasm32");
}

static bool accepted(const char *p)
{
	static const char *const fixed[] = {
		"any", "win32", "win_amd64", "win_arm64", "win_ia64", "linux_armv6l", "linux_armv7l",
		"manylinux1_x86_64", "manylinux1_i686", "manylinux2010_x86_64", "manylinux2010_i686",
		"manylinux2014_x86_64", "manylinux2014_i686", "manylinux2014_aarch64", "manylinux2014_armv7l",
		"manylinux2014_ppc64", "manylinux2014_ppc64le", "manylinux2014_s390x", NULL,
	};
	return one_of(p, fixed) || linux_accepted(p) || apple_accepted(p) || other_accepted(p);
}

bool tag_platform_accepted(const char *platform)
{
	struct slice rest = slice_of(platform), one;
	bool more = true;
	while (more) {
		more = slice_cut(rest, '.', &one, &rest);
		_cleanup_free_ char *text = mem_dup_n(one.p, one.n);
		if (!accepted(text))
			return false;
	}
	return true;
}
