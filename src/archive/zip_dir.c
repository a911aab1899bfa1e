/* The central directory. */
#include "archive/zip_impl.h"

#include <string.h>
#include <sys/stat.h>

#include "archive/name.h"
#include "core/buf.h"
#include "core/fs.h"

#define RECORD_SIZE   46
#define DIR_LIMIT     (32 * 1024 * 1024)
#define BOMB_SIZE     (64ULL * 1024 * 1024) /* PyPI's measure of a zip bomb: more than this … */
#define BOMB_RATIO    50                    /* … and this times the archive's own size */
#define HOST_UNIX     3

#define FLAG_ENCRYPTED  0x0001
#define FLAG_DESCRIPTOR 0x0008
#define FLAG_PATCHED    0x0020
#define FLAG_STRONG     0x0040
#define FLAG_UTF8       0x0800
#define FLAG_MASKED     0x2000

int zip_check_flags(uint16_t flags, struct err *err)
{
	if (flags & FLAG_DESCRIPTOR)
		return err_set(err, ERR_INPUT, "a data descriptor");
	if (flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_MASKED))
		return err_set(err, ERR_INPUT, "the entry is encrypted");
	if (flags & FLAG_PATCHED)
		return err_set(err, ERR_INPUT, "the entry is a patch");
	return 0;
}

static bool is_ascii(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] >= 0x80)
			return false;
	return true;
}

static bool has_drive(struct slice s)
{
	return s.n >= 2 && s.p[1] == ':' && ((s.p[0] | 0x20) >= 'a' && (s.p[0] | 0x20) <= 'z');
}

int zip_check_name(struct slice name, bool utf8_flag, struct err *err)
{
	if (name.n == 0)
		return err_set(err, ERR_INPUT, "an empty name");
	if (name_has_control(name))
		return err_set(err, ERR_INPUT, "a control byte in a name");
	if (!name_is_utf8(name))
		return err_set(err, ERR_INPUT, "a name that is not UTF-8");
	if (!utf8_flag && !is_ascii(name))
		return err_set(err, ERR_INPUT, "a name outside ASCII without the flag for UTF-8");
	if (name.p[0] == '/' || has_drive(name))
		return err_set(err, ERR_INPUT, "an absolute name");
	if (memchr(name.p, '\\', name.n))
		return err_set(err, ERR_INPUT, "a backslash in a name");
	struct slice part, rest = name;
	if (rest.p[rest.n - 1] == '/')
		rest.n--;
	for (bool more = true; more; ) {
		more = slice_cut(rest, '/', &part, &rest);
		if (part.n == 0 || slice_is(part, ".") || slice_is(part, ".."))
			return err_set(err, ERR_INPUT, "an empty part, \".\" or \"..\" in a name");
	}
	return 0;
}

static int take64(struct slice *field, uint64_t *value, struct err *err)
{
	if (*value != ZIP_MARK32)
		return 0;
	if (field->n < 8)
		return err_set(err, ERR_INPUT, "the zip64 field is missing or too short");
	*value = zip_u64((const uint8_t *)field->p);
	*field = (struct slice){ field->p + 8, field->n - 8 };
	return 0;
}

/* The sizes and the place that are written in the zip64 field: all of it, or nothing. */
static int read_zip64(struct zip_item *item, struct slice field, struct err *err)
{
	size_t before = field.n;
	if (take64(&field, &item->e.size, err) || take64(&field, &item->e.csize, err) ||
	    take64(&field, &item->local_at, err))
		return -1;
	if (field.n && field.n != before)
		return err_set(err, ERR_INPUT, "the zip64 field has more than it should");
	return 0;
}

static void set_mode(struct zip_entry *e, uint8_t host, uint32_t attributes)
{
	e->mode = host == HOST_UNIX ? attributes >> 16 : 0;
	e->link = S_ISLNK(e->mode);
}

/* One record at p, of which `left` bytes are there.  Its length, or 0 and an error. */
static size_t read_record(struct zip *z, const uint8_t *p, size_t left, struct err *err)
{
	struct zip_extra x;
	if (left < RECORD_SIZE || memcmp(p, "PK\1\2", 4) != 0) {
		err_set(err, ERR_INPUT, "the central directory is malformed");
		return 0;
	}
	size_t name_len = zip_u16(p + 28), extra_len = zip_u16(p + 30), comment_len = zip_u16(p + 32);
	if (name_len + extra_len + comment_len > left - RECORD_SIZE) {
		err_set(err, ERR_INPUT, "the central directory is cut off");
		return 0;
	}
	struct slice name = { (const char *)p + RECORD_SIZE, name_len };
	struct zip_item *item = list_push(&z->items);
	item->flags = zip_u16(p + 8);
	item->e = (struct zip_entry){ .method = zip_u16(p + 10), .crc = zip_u32(p + 16),
		.csize = zip_u32(p + 20), .size = zip_u32(p + 24) };
	item->local_at = zip_u32(p + 42);
	if (zip_check_name(name, item->flags & FLAG_UTF8, err) || zip_check_flags(item->flags, err) ||
	    zip_extra_read(p + RECORD_SIZE + name_len, extra_len, &x, err) ||
	    zip_extra_check_name(&x, name, err) || read_zip64(item, x.zip64, err))
		return 0;
	if (comment_len || zip_u16(p + 34) != 0 || (item->e.method != 0 && item->e.method != 8)) {
		err_set(err, ERR_INPUT, comment_len ? "an entry with a comment" :
			zip_u16(p + 34) ? "an entry in another part" : "a compression method that is not supported");
		return 0;
	}
	item->e.name = arena_dup_n(&z->arena, name.p, name.n);
	item->e.folder = name.p[name.n - 1] == '/';
	set_mode(&item->e, p[5], zip_u32(p + 38));
	return RECORD_SIZE + name_len + extra_len;
}

static int check_bomb(const struct zip *z, struct err *err)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < z->items.count; i++)
		if (__builtin_add_overflow(sum, z->items.items[i].e.size, &sum))
			sum = UINT64_MAX;
	if (sum > BOMB_SIZE && sum / BOMB_RATIO > z->file_size)
		return err_set(err, ERR_INPUT, "a zip bomb: %llu bytes unpacked, more than %d times its size",
			(unsigned long long)sum, BOMB_RATIO);
	return 0;
}

int zip_dir_read(struct zip *z, const struct zip_end *end, struct err *err)
{
	_cleanup_buf_ struct buf dir = BUF_INIT;
	if (end->dir_size > DIR_LIMIT)
		return err_set(err, ERR_INPUT, "a central directory of more than %d bytes", DIR_LIMIT);
	size_t left = (size_t)end->dir_size;
	const uint8_t *p = (const uint8_t *)buf_grow(&dir, left);
	if (fs_pread_full(z->fd, dir.data, left, (off_t)end->dir_at, err))
		return -1;
	while (left) {
		size_t n = read_record(z, p, left, err);
		if (n == 0)
			return err_add(err, "entry %zu", z->items.count);
		p += n;
		left -= n;
	}
	if (z->items.count != end->count)
		return err_set(err, ERR_INPUT, "the zip's end states %llu entries, its central directory has %zu",
			(unsigned long long)end->count, z->items.count);
	return check_bomb(z, err);
}
