#include "wheel/policy.h"

#include <string.h>

#include "core/mem.h"
#include "core/str.h"
#include "wheel/manylinux_policy.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Is word one of the words of a list that is separated by spaces? */
static bool holds(const char *list, const char *word)
{
	struct slice rest = slice_of(list), one;
	bool more = true;
	while (more) {
		more = slice_cut(rest, ' ', &one, &rest);
		if (slice_is(one, word))
			return true;
	}
	return false;
}

static bool family_known(struct slice family)
{
	for (size_t i = 0; i < COUNT(policy_families); i++)
		if (slice_is(family, policy_families[i]))
			return true;
	return false;
}

int policy_of_version(const char *arch, const char *version)
{
	struct slice family, number;
	if (!slice_cut(slice_of(version), '_', &family, &number) || !family_known(family))
		return 0;
	/* number runs to the end of version, so it ends in NUL. */
	for (size_t i = 0; i < COUNT(policy_added); i++)
		if (str_eq(policy_added[i].arch, arch) && slice_is(family, policy_added[i].family) &&
		    holds(policy_added[i].versions, number.p))
			return policy_added[i].since;
	return POLICY_NONE;
}

int policy_of_library(const char *soname)
{
	if (str_starts(soname, "ld-linux") || str_eq(soname, "ld64.so.1") || str_eq(soname, "ld64.so.2"))
		return 0;
	for (size_t i = 0; i < COUNT(policy_libraries); i++)
		if (str_eq(policy_libraries[i].name, soname))
			return policy_libraries[i].since;
	return POLICY_NONE;
}

int policy_of_symbol(const char *library, const char *symbol)
{
	for (size_t i = 0; i < COUNT(policy_symbols); i++)
		if (str_eq(policy_symbols[i].library, library) && holds(policy_symbols[i].symbols, symbol))
			return policy_symbols[i].since < COUNT(policy_names) ? policy_symbols[i].since : POLICY_NONE;
	return 0;
}

bool policy_knows_symbol(const char *symbol)
{
	for (size_t i = 0; i < COUNT(policy_symbols); i++)
		if (holds(policy_symbols[i].symbols, symbol))
			return true;
	return false;
}

bool policy_from_other_wheel(const char *soname)
{
	static const char *const prefixes[] = {
		"libtorch", "libc10", "libshm.so",                                             /* torch */
		"libcuda.so", "libnvidia-",                                                   /* the driver */
		"libcudart.so", "libcublas", "libcudnn", "libcufft", "libcufile", "libcupti", /* nvidia-* */
		"libcurand", "libcusolver", "libcusparse", "libcutensor", "libnccl", "libnvJitLink", "libnvToolsExt", "libnvrtc",
		"libnvshmem", "libnvvm", "libnpp", "libnvjpeg", "libnvblas", "libnvfatbin",
	};
	for (size_t i = 0; i < COUNT(prefixes); i++)
		if (str_starts(soname, prefixes[i]))
			return true;
	return false;
}

char *policy_platform(const char *arch, int floor)
{
	for (size_t i = 0; i < COUNT(policy_arches); i++) {
		const struct policy_arch *a = &policy_arches[i];
		if (!str_eq(a->name, arch) || floor > a->last)
			continue;
		return mem_printf("%s_%s", policy_names[floor < a->first ? a->first : floor], arch);
	}
	return mem_printf("linux_%s", arch);
}
