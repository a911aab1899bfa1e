/*
 * What a symbol version, a library or a symbol says about the oldest machine a
 * binary runs on: the manylinux policies (PEP 600; the rule is auditwheel's).
 * A floor is a place in the row of policies, oldest first; the floor of a wheel
 * is the highest of its parts'.
 */
#ifndef FORGE_WHEEL_POLICY_H
#define FORGE_WHEEL_POLICY_H

#include <stdbool.h>

#define POLICY_NONE 1000 /* no policy allows it */

/* "GLIBC_2.14" on an architecture; a family that the policies don't know floors nothing (0). */
int policy_of_version(const char *arch, const char *version);
/* A needed library that the wheel does not hold; the dynamic loader floors nothing. */
int policy_of_library(const char *soname);
/* A symbol taken from a library. */
int policy_of_symbol(const char *library, const char *symbol);
bool policy_knows_symbol(const char *symbol); /* of any library */

/* Libraries that other wheels (torch, the nvidia-* family) or the GPU's driver bring: a CUDA extension needs
 * them by design and finds them in the process, so they floor nothing; its requirements name who brings them. */
bool policy_from_other_wheel(const char *soname);

/* "manylinux_2_17_x86_64", or "linux_x86_64" where no policy of that architecture reaches; owned by the caller. */
char *policy_platform(const char *arch, int floor);

#endif
