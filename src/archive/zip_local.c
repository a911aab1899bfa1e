/* Local file headers, compared with the central directory. */
#include "archive/zip_impl.h"

#include <string.h>

#include "core/buf.h"
#include "core/fs.h"

#define HEADER_SIZE 30

/*
 * The sizes where the header says "see the zip64 field".  APPNOTE 4.5.3 wants both of them there;
 * for stored entries, whose sizes are the same, one is enough (as PyPI has it).
 */
static int read_zip64(uint16_t method, struct slice field, uint64_t *csize, uint64_t *size, struct err *err)
{
	bool want_csize = *csize == ZIP_MARK32, want_size = *size == ZIP_MARK32;
	if (!want_csize && !want_size)
		return 0;
	bool both = want_csize && want_size;
	if (field.n == 0 || (field.n == 8 && method != 0) || (field.n > 8 && !both))
		return err_set(err, ERR_INPUT, "the zip64 field does not fit the local header");
	const uint8_t *p = (const uint8_t *)field.p;
	if (want_size)
		*size = zip_u64(p);
	if (want_csize)
		*csize = zip_u64(field.n > 8 ? p + 8 : p);
	return 0;
}

static int compare(const struct zip_item *item, const uint8_t *p, const struct zip_extra *x, struct err *err)
{
	uint64_t csize = zip_u32(p + 18), size = zip_u32(p + 22);
	uint16_t flags = zip_u16(p + 6), method = zip_u16(p + 8);
	if (zip_check_flags(flags, err) || read_zip64(method, x->zip64, &csize, &size, err))
		return -1;
	if (csize != item->e.csize || size != item->e.size)
		return err_set(err, ERR_INPUT, "local header and central directory state different sizes");
	if (method != item->e.method || flags != item->flags || zip_u32(p + 14) != item->e.crc)
		return err_set(err, ERR_INPUT, "local header and central directory disagree");
	return 0;
}

int zip_local_read(struct zip *z, struct zip_item *item, struct err *err)
{
	_cleanup_buf_ struct buf b = BUF_INIT;
	size_t name_len = strlen(item->e.name), first = HEADER_SIZE + name_len;
	struct zip_extra x;
	if (item->local_at > z->file_size || z->file_size - item->local_at < first)
		return err_set(err, ERR_INPUT, "its local header is missing");
	buf_grow(&b, first);
	if (fs_pread_full(z->fd, b.data, first, (off_t)item->local_at, err))
		return -1;
	const uint8_t *p = (const uint8_t *)b.data;
	if (memcmp(p, "PK\3\4", 4) != 0)
		return err_set(err, ERR_INPUT, "its local header is missing");
	if (zip_u16(p + 26) != name_len || memcmp(p + HEADER_SIZE, item->e.name, name_len) != 0)
		return err_set(err, ERR_INPUT, "its local header has another name");
	size_t extra_len = zip_u16(p + 28);
	b.len = first;
	uint8_t *extra = (uint8_t *)buf_grow(&b, extra_len);
	if (extra_len && fs_pread_full(z->fd, extra, extra_len, (off_t)(item->local_at + first), err))
		return -1;
	p = (const uint8_t *)b.data;
	struct slice name = { item->e.name, name_len };
	if (zip_extra_read(extra, extra_len, &x, err) || zip_extra_check_name(&x, name, err) ||
	    compare(item, p, &x, err))
		return -1;
	item->e.data_at = item->local_at + first + extra_len;
	return 0;
}
