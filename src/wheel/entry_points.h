/* entry_points.txt: the scripts an installer makes ("Entry points specification"). */
#ifndef FORGE_WHEEL_ENTRY_POINTS_H
#define FORGE_WHEEL_ENTRY_POINTS_H

#include <stdbool.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/list.h"
#include "core/str.h"

struct script {
	char *name;    /* a file name: word characters, dots and dashes */
	char *module;  /* "pkg.cli", identifiers joined by dots */
	char *attr;    /* "main" or "App.run" */
	bool gui;
};

struct scripts {
	LIST(struct script) items;
};

/* The console and gui scripts; other groups are skipped unread.  A script that can't be written or run is refused. */
int scripts_parse(struct slice text, struct scripts *out, struct err *err);
void scripts_free(struct scripts *s);
#define _cleanup_scripts_ __attribute__((cleanup(scripts_free)))

/* The text of bin/<name>: the same bytes for the same entry, always. */
void script_write(const struct script *s, const char *python, struct buf *out);

#endif
