/*
 * What a project's sources ask for (PEP 518, PEP 621, core metadata).  Of TOML
 * only what is needed is read (toml.h).
 */
#ifndef FORGE_LOCK_PYPROJECT_H
#define FORGE_LOCK_PYPROJECT_H

#include <stdbool.h>
#include "core/err.h"
#include "core/str.h"

#define PYPROJECT_FILE  "pyproject.toml"
#define PYPROJECT_LIMIT (4u << 20) /* bytes, of it and of PKG-INFO */

/* The strings of build-system.requires, unchecked.  Without that table or key: "setuptools>=40.8.0" (PEP 517).
 * A value of another form is an error that names the line. */
int pyproject_requires(struct slice toml, struct str_list *out, struct err *err);

/* project.dependencies as pkginfo_requires() gives them.  *stated false, and no list: that file doesn't tell, since it
 * has no table [project] or calls them dynamic (a setup.py works them out). */
int pyproject_dependencies(struct slice toml, struct str_list *out, bool *stated, struct err *err);

/* Requires-Dist of PKG-INFO, without those of extras; each in one spelling, sorted. */
int pkginfo_requires(struct slice pkginfo, struct str_list *out, struct err *err);

#endif
