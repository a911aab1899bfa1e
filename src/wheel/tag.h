/* Compatibility tags of wheels (PEP 425, PEP 600, PEP 656). */
#ifndef FORGE_WHEEL_TAG_H
#define FORGE_WHEEL_TAG_H

#include <stdbool.h>
#include "core/err.h"
#include "core/str.h"

/* The three parts of a tag set: alternatives joined by dots, none empty. */
int tag_parts_check(struct slice python, struct slice abi, struct slice platform, struct err *err);

/* Every single tag of a compressed set, "cp313-cp313-linux_x86_64", sorted and without doubles, added to out. */
void tag_expand(const char *python, const char *abi, const char *platform, struct str_list *out);

/* "py2.py3-none-any" as WHEEL writes it. */
int tag_parse(struct slice text, struct str_list *out, struct err *err);

/* Change one part: "" keeps it, "+x.y" adds, "-x" removes, anything else replaces; sorted; owned by the caller. */
char *tag_change(const char *old, const char *change);

/* May a wheel with these parts be installed by Python "3.13" or, free-threaded, "3.14t"?  The error says why not. */
int tag_agrees_with_python(const char *python, const char *abi, const char *version, struct err *err);

/* Does the registry take uploads for this platform part (a dot joins several)? */
bool tag_platform_accepted(const char *platform);

/* The platform tags a machine with glibc 2.minor takes, best first, the old aliases too (PEP 600). */
void tag_manylinux_accepted(const char *arch, int minor, struct str_list *out);

#endif
