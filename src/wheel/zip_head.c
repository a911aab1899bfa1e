#include "wheel/zip_head.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SENTINEL32 0xffffffffu /* "see the zip64 field" */
#define SENTINEL16 0xffffu
#define UTF8_FLAG  0x0800
#define MADE_BY_UNIX 3

int zip_dos_time(int64_t epoch, uint16_t *date, uint16_t *dos_time)
{
	struct tm tm;
	time_t t = epoch < 315532800 ? 315532800 : epoch;
	if (!gmtime_r(&t, &tm) || tm.tm_year > 2107 - 1900)
		return -1;
	*date = (uint16_t)((tm.tm_year - 80) << 9 | (tm.tm_mon + 1) << 5 | tm.tm_mday);
	*dos_time = (uint16_t)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec / 2);
	return 0;
}

static void put16(struct buf *b, unsigned v)
{
	char bytes[2] = { (char)v, (char)(v >> 8) };
	buf_add(b, bytes, sizeof bytes);
}

static void put32(struct buf *b, uint32_t v)
{
	put16(b, v & 0xffff);
	put16(b, v >> 16);
}

static void put64(struct buf *b, uint64_t v)
{
	put32(b, (uint32_t)v);
	put32(b, (uint32_t)(v >> 32));
}

/* Of zip64's numbers the sizes go together, as the local header must have both. */
static bool sizes64(const struct zip_head *h)
{
	return h->size >= SENTINEL32 || h->csize >= SENTINEL32;
}

static bool is_ascii(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			return false;
	return true;
}

/* The fields that local and central header share, from "version needed" to the length of the name. */
static void put_common(const struct zip_head *h, bool zip64, struct buf *out)
{
	put16(out, zip64 ? 45 : 20);
	put16(out, is_ascii(h->name) ? 0 : UTF8_FLAG);
	put16(out, h->method);
	put16(out, h->time);
	put16(out, h->date);
	put32(out, h->crc);
	put32(out, sizes64(h) ? SENTINEL32 : (uint32_t)h->csize);
	put32(out, sizes64(h) ? SENTINEL32 : (uint32_t)h->size);
	put16(out, (unsigned)strlen(h->name));
}

void zip_head_local(const struct zip_head *h, struct buf *out)
{
	put32(out, 0x04034b50);
	put_common(h, sizes64(h), out);
	put16(out, sizes64(h) ? 20 : 0);
	buf_str(out, h->name);
	if (sizes64(h)) {
		put16(out, 1);
		put16(out, 16);
		put64(out, h->size);
		put64(out, h->csize);
	}
}

void zip_head_central(const struct zip_head *h, struct buf *out)
{
	bool far = h->at >= SENTINEL32;
	unsigned extra = (sizes64(h) ? 16 : 0) + (far ? 8 : 0);
	put32(out, 0x02014b50);
	put16(out, MADE_BY_UNIX << 8 | (extra ? 45 : 20));
	put_common(h, extra > 0, out);
	put16(out, extra ? extra + 4 : 0);
	put16(out, 0); /* comment */
	put16(out, 0); /* disk */
	put16(out, 0); /* internal attributes */
	put32(out, (uint32_t)(S_IFREG | (h->executable ? 0755 : 0644)) << 16);
	put32(out, far ? SENTINEL32 : (uint32_t)h->at);
	buf_str(out, h->name);
	if (!extra)
		return;
	put16(out, 1);
	put16(out, extra);
	if (sizes64(h)) {
		put64(out, h->size);
		put64(out, h->csize);
	}
	if (far)
		put64(out, h->at);
}

static void put_end64(uint64_t count, uint64_t central_size, uint64_t central_at, struct buf *out)
{
	uint64_t at = central_at + central_size;
	put32(out, 0x06064b50);
	put64(out, 44); /* of what follows */
	put16(out, MADE_BY_UNIX << 8 | 45);
	put16(out, 45);
	put32(out, 0);
	put32(out, 0);
	put64(out, count);
	put64(out, count);
	put64(out, central_size);
	put64(out, central_at);
	put32(out, 0x07064b50); /* the locator */
	put32(out, 0);
	put64(out, at);
	put32(out, 1);
}

void zip_head_end(uint64_t count, uint64_t central_size, uint64_t central_at, struct buf *out)
{
	bool many = count >= SENTINEL16, big = central_size >= SENTINEL32, far = central_at >= SENTINEL32;
	if (many || big || far)
		put_end64(count, central_size, central_at, out);
	put32(out, 0x06054b50);
	put32(out, 0); /* this disk, and the one where the directory begins */
	put16(out, many ? SENTINEL16 : (unsigned)count);
	put16(out, many ? SENTINEL16 : (unsigned)count);
	put32(out, big ? SENTINEL32 : (uint32_t)central_size);
	put32(out, far ? SENTINEL32 : (uint32_t)central_at);
	put16(out, 0); /* comment */
}
