/* Inside the zip reader.  Only zip*.c includes this. */
#ifndef FORGE_ARCHIVE_ZIP_IMPL_H
#define FORGE_ARCHIVE_ZIP_IMPL_H

#include <zlib.h>
#include "archive/zip.h"
#include "core/arena.h"
#include "core/list.h"
#include "core/str.h"

#define ZIP_BLOCK (128 * 1024)
#define ZIP_MARK32 0xffffffffu /* "see the zip64 field" */
#define ZIP_MARK16 0xffffu

struct zip_item {
	struct zip_entry e;
	uint64_t local_at; /* of its local header */
	uint16_t flags;
};

struct zip {
	int fd;
	uint64_t file_size;
	struct arena arena;            /* the names */
	LIST(struct zip_item) items;   /* in the order of the central directory */
	struct zip_item **by_name;     /* sorted, items.count of them */
	z_stream inflate;
	bool inflate_ready;
	uint8_t *in, *out;             /* ZIP_BLOCK each, made at first use */
};

/* Little-endian fields. */
static inline uint16_t zip_u16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
static inline uint32_t zip_u32(const uint8_t *p) { return zip_u16(p) | (uint32_t)zip_u16(p + 2) << 16; }
static inline uint64_t zip_u64(const uint8_t *p) { return zip_u32(p) | (uint64_t)zip_u32(p + 4) << 32; }

/* zip_end.c: where the central directory is.  It ends where the end records begin. */
struct zip_end {
	uint64_t count, dir_at, dir_size;
};
int zip_end_read(int fd, uint64_t file_size, struct zip_end *end, struct err *err);

/* zip_dir.c: the entries, but for data_at. */
int zip_dir_read(struct zip *z, const struct zip_end *end, struct err *err);
int zip_check_name(struct slice name, bool utf8_flag, struct err *err);
int zip_check_flags(uint16_t flags, struct err *err);

/* zip_local.c: read the local header of an entry, compare it, set data_at. */
int zip_local_read(struct zip *z, struct zip_item *item, struct err *err);

/* zip_extra.c: the extra fields of a header. */
struct zip_extra {
	struct slice zip64;   /* the content of field 0x0001; p NULL: none */
	struct slice unicode; /* the name in field 0x7075; p NULL: none */
};
int zip_extra_read(const uint8_t *p, size_t len, struct zip_extra *x, struct err *err);
int zip_extra_check_name(const struct zip_extra *x, struct slice name, struct err *err);

#endif
