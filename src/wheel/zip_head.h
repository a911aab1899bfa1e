/* The headers of a zip archive, byte by byte (APPNOTE 6.3). */
#ifndef FORGE_WHEEL_ZIP_HEAD_H
#define FORGE_WHEEL_ZIP_HEAD_H

#include <stdbool.h>
#include <stdint.h>
#include "core/buf.h"

#define ZIP_STORED 0
#define ZIP_DEFLATED 8
#define ZIP_NAME_MAX 0xfffe

/* What a header says of an entry. */
struct zip_head {
	const char *name;
	bool executable;
	uint16_t date, time;      /* as zip_dos_time() has them */
	uint16_t method;
	uint32_t crc;
	uint64_t size, csize, at; /* at: of its local header */
};

/* A time as DOS has it: even seconds, UTC; -1 if it is after 2107. */
int zip_dos_time(int64_t epoch, uint16_t *date, uint16_t *time);

/* Each appends to out.  The local header's length depends on name and size alone. */
void zip_head_local(const struct zip_head *h, struct buf *out);
void zip_head_central(const struct zip_head *h, struct buf *out);
/* What ends the archive: count entries, a central directory of that size which begins there. */
void zip_head_end(uint64_t count, uint64_t central_size, uint64_t central_at, struct buf *out);

#endif
