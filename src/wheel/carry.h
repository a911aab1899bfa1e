/* One file's way from a built wheel into the finished one. */
#ifndef FORGE_WHEEL_CARRY_H
#define FORGE_WHEEL_CARRY_H

#include "core/err.h"
#include "core/hash.h"
#include "wheel/truth.h"
#include "wheel/wheel.h"
#include "wheel/zip_write.h"

struct carrier {
	const struct wheel *from;
	struct zip_writer *to;
	struct truth *truth;
	const char *tmp;   /* folder for the copy that an ELF file is read from */
	int *spill;        /* that copy, made when first needed and used again; -1 before; the caller's to close */
};

/* Write the entry under its new name, held to RECORD as it streams; an ELF file is added to the truth.
 * *hash is its SHA-256. */
int carry(const struct carrier *c, const struct zip_entry *e, const char *new_name, struct hash *hash,
	struct err *err);

#endif
