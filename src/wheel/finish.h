/*
 * The finish step: from the wheel a build made to the wheel forge gives out
 * (DESIGN 9): canonical zip, RECORD rebuilt, version injected, tags proven.
 */
#ifndef FORGE_WHEEL_FINISH_H
#define FORGE_WHEEL_FINISH_H

#include <stdint.h>
#include "core/err.h"
#include "core/hash.h"

enum wheel_label_kind {
	WHEEL_LABEL_NONE,
	WHEEL_LABEL_LOCAL, /* 2.8.3 -> 2.8.3+text (PEP 440 local version) */
	WHEEL_LABEL_BUILD, /* file name and WHEEL get the build tag (PEP 427); must begin with a digit */
};

struct wheel_finish {
	int from;                     /* folder with the one .whl that the build left */
	int to;                       /* folder that gets the finished wheel */
	const char *name, *version;   /* what the recipe declares: the wheel must agree (PEP 503, PEP 440) */
	enum wheel_label_kind label;
	const char *label_text;
	int64_t epoch;                /* SOURCE_DATE_EPOCH for the entries' times; before 1980 counts as 1980 */
	const char *python;           /* "3.13": a cpXY tag must agree; NULL: any */
	const char *tmp;              /* folder for spill files */
};

struct wheel_finished {
	char *file;                   /* the true file name, PEP 427 escaping */
	struct hash sha256;
	int64_t size;
	char *platform;               /* the platform tag and, in *why, the symbol that set it */
	char *why;
};
void wheel_finished_free(struct wheel_finished *f);

/* Errors name the file in the wheel: no wheel, two wheels, not a zip, wrong name or version, RECORD
 * that lists what is not there, a file outside RECORD, a tag that contradicts the binary. */
int wheel_finish(const struct wheel_finish *spec, struct wheel_finished *out, struct err *err);

#endif
