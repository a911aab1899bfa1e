/* What the writer and the reader of the NAR form share: its limits, its padding, the rule for names. */
#ifndef FORGE_DRV_NAR_NAMES_H
#define FORGE_DRV_NAR_NAMES_H

#include <stddef.h>
#include <stdint.h>
#include "core/buf.h"
#include "core/err.h"
#include "core/str.h"

#define NAR_MAGIC "nix-archive-1"
#define NAR_NAME_MAX 32768         /* bytes of a name; a file system holds 255, the form has no limit */
#define NAR_TARGET_MAX 32768       /* bytes of a link's target */
#define NAR_DEPTH_MAX 512          /* folders in one another */
#define NAR_OPEN_NAMES_MAX 262144  /* bytes of the last names in all folders that are open, together */

/* Bytes up to the next multiple of eight. */
static inline size_t nar_padding(uint64_t len)
{
	return (size_t)(-len & 7);
}

/* The last name in each folder that is open, to see that names are in order and none comes twice. */
struct nar_names {
	struct buf text;             /* the names, one after the other */
	size_t at[NAR_DEPTH_MAX];    /* where each folder's begins in text */
	size_t depth;
};

int nar_names_open(struct nar_names *n, struct err *err);
void nar_names_close(struct nar_names *n); /* a folder is open */
/* The next name in the innermost folder: refused where it is no file name or not after the one before. */
int nar_names_next(struct nar_names *n, struct slice name, struct err *err);

#endif
