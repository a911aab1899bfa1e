/*
 * Names of projects (PEP 508, PEP 503), wheel files (PEP 427, PEP 491) and
 * source archives (PEP 625).
 */
#ifndef FORGE_WHEEL_NAME_H
#define FORGE_WHEEL_NAME_H

#include <stdbool.h>
#include "core/err.h"
#include "core/str.h"

/* PEP 508: ASCII letters, digits and -_. with a letter or digit at both ends. */
bool wheel_name_valid(struct slice name);

/* PEP 503 normalised project name; owned by the caller. */
char *wheel_normalise_name(const char *name);

/* The name part of a file name: normalised, with _ for - (PEP 625, PEP 427 as amended); owned. */
char *wheel_escape_name(const char *name);

/* {name}-{version}(-{build})-{python}-{abi}-{platform}.whl; every string is owned. */
struct wheel_name {
	char *name;     /* as spelled in the file name */
	char *project;  /* normalised (PEP 503) */
	char *version;  /* normalised (PEP 440) */
	char *build;    /* NULL if none; begins with a digit */
	char *python;   /* "py2.py3", lower case */
	char *abi;
	char *platform;
};
int wheel_name_parse(const char *file, struct wheel_name *out, struct err *err);
void wheel_name_free(struct wheel_name *n);
#define _cleanup_wheel_name_ __attribute__((cleanup(wheel_name_free)))

/* The canonical file name: escaped project, normalised version; owned by the caller. */
char *wheel_name_format(const struct wheel_name *n);

/* PEP 427: begins with a digit, holds letters, digits, '_' and '.'. */
bool wheel_build_valid(struct slice build);

/* {name}-{version}.tar.gz or .zip; *project normalised, *version normalised, both owned. */
int sdist_name_parse(const char *file, char **project, char **version, struct err *err);

/* Would the registry take a file of this name for this project and version?  The error says the right name or why. */
int wheel_upload_check(const char *project, const char *version, const char *file, struct err *err);

#endif
