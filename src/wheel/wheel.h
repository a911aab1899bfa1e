/*
 * A wheel opened and held to its own word (PEP 427, PEP 491): one .dist-info
 * folder that is METADATA's, a WHEEL of a version we know, and a RECORD that
 * lists every file with a hash and nothing else.  The files' bytes are checked
 * by whoever streams them, against wheel_row().
 */
#ifndef FORGE_WHEEL_WHEEL_H
#define FORGE_WHEEL_WHEEL_H

#include <stdbool.h>
#include "archive/zip.h"
#include "core/buf.h"
#include "core/err.h"
#include "wheel/entry_points.h"
#include "wheel/name.h"
#include "wheel/record.h"

struct wheel {
	struct zip *zip;
	char *dist_info;          /* "fancy-1.0.dist-info" */
	char *data;               /* "fancy-1.0.data" if the wheel has that folder, else NULL */
	char *name, *version;     /* as METADATA spells them; the version is a valid one */
	struct buf metadata, wheel;
	struct scripts scripts;
	struct record record;
};

int wheel_open(int fd, struct wheel *out, struct err *err); /* fd stays the caller's and open until wheel_close */
void wheel_close(struct wheel *w);
#define _cleanup_wheel_ __attribute__((cleanup(wheel_close)))

/* Does the file name say what is inside: project, version, tags, build tag? */
int wheel_check_name(const struct wheel *w, const struct wheel_name *n, struct err *err);

/* Is path "<dist-info>/<name>"?  With name NULL: anything in that folder. */
bool wheel_in_dist_info(const struct wheel *w, const char *path, const char *name);
/* RECORD itself and its signatures (RECORD.jws, RECORD.p7s), which RECORD does not hash. */
bool wheel_is_record(const struct wheel *w, const char *path);
/* The row that an entry is to be held to; NULL for RECORD and its signatures. */
const struct record_row *wheel_row(const struct wheel *w, const char *path);

#endif
