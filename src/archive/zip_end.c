/* The end of a zip: end record, and before it zip64 locator and zip64 end record. */
#include "archive/zip_impl.h"

#include <string.h>

#include "core/fs.h"

#define END_SIZE     22
#define LOCATOR_SIZE 20
#define END64_SIZE   56
#define COMMENT_MAX  65535
#define TAIL_MAX     (END_SIZE + COMMENT_MAX)

static int read_tail(int fd, uint64_t file_size, uint8_t **tail, size_t *len, struct err *err)
{
	*len = file_size < TAIL_MAX ? (size_t)file_size : TAIL_MAX;
	*tail = mem_alloc(*len + 1);
	return fs_pread_full(fd, *tail, *len, (off_t)(file_size - *len), err);
}

static bool is_end_mark(const uint8_t *p)
{
	return memcmp(p, "PK\5\6", 4) == 0;
}

int zip_ends_like_one(int fd, uint64_t file_size, struct err *err)
{
	_cleanup_free_ uint8_t *tail = NULL;
	size_t n;
	if (read_tail(fd, file_size, &tail, &n, err))
		return -1;
	for (size_t i = 0; i + END_SIZE <= n; i++)
		if (is_end_mark(tail + i) && zip_u16(tail + i + 20) == n - i - END_SIZE)
			return 1;
	return 0;
}

/* The last end record, which is the one that every reader finds: its place in the file. */
static int find_end(int fd, uint64_t file_size, uint8_t record[END_SIZE], uint64_t *at, struct err *err)
{
	_cleanup_free_ uint8_t *tail = NULL;
	size_t n;
	if (read_tail(fd, file_size, &tail, &n, err))
		return -1;
	if (n < END_SIZE)
		return err_set(err, ERR_INPUT, "not a zip file");
	size_t i = n - END_SIZE;
	while (i && !is_end_mark(tail + i))
		i--;
	if (!is_end_mark(tail + i))
		return err_set(err, ERR_INPUT, "not a zip file");
	if (zip_u16(tail + i + 20) != n - i - END_SIZE)
		return err_set(err, ERR_INPUT, "the zip has bytes behind its end, or is cut off");
	memcpy(record, tail + i, END_SIZE);
	*at = file_size - n + i;
	return 0;
}

/* The fields of the two records must say the same, or the old one "look there". */
static bool agrees(uint64_t old, uint64_t mark, uint64_t new)
{
	return old == new || old == mark;
}

/* The zip64 records before an end record at end_at: 1 read, 0 there are none. */
static int read_end64(int fd, uint64_t end_at, struct zip_end *end, uint64_t *at, struct err *err)
{
	uint8_t p[END64_SIZE + LOCATOR_SIZE];
	if (end_at < LOCATOR_SIZE)
		return 0;
	const uint8_t *locator = p + END64_SIZE;
	if (fs_pread_full(fd, p + END64_SIZE, LOCATOR_SIZE, (off_t)(end_at - LOCATOR_SIZE), err))
		return -1;
	if (memcmp(locator, "PK\6\7", 4) != 0)
		return 0;
	if (end_at < sizeof p || zip_u64(locator + 8) != end_at - sizeof p ||
	    zip_u32(locator + 4) != 0 || zip_u32(locator + 16) > 1)
		return err_set(err, ERR_INPUT, "the zip64 locator does not point to the record before it");
	*at = end_at - sizeof p;
	if (fs_pread_full(fd, p, END64_SIZE, (off_t)*at, err))
		return -1;
	if (memcmp(p, "PK\6\6", 4) != 0 || zip_u64(p + 4) != END64_SIZE - 12 ||
	    zip_u32(p + 16) != 0 || zip_u32(p + 20) != 0 || zip_u64(p + 24) != zip_u64(p + 32))
		return err_set(err, ERR_INPUT, "the zip64 end record is malformed");
	*end = (struct zip_end){ zip_u64(p + 32), zip_u64(p + 48), zip_u64(p + 40) };
	return 1;
}

int zip_end_read(int fd, uint64_t file_size, struct zip_end *end, struct err *err)
{
	uint8_t p[END_SIZE] = { 0 };
	uint64_t at = 0;
	if (find_end(fd, file_size, p, &at, err))
		return -1;
	struct zip_end old = { zip_u16(p + 10), zip_u32(p + 16), zip_u32(p + 12) };
	if (zip_u16(p + 4) != 0 || zip_u16(p + 6) != 0 || zip_u16(p + 8) != zip_u16(p + 10))
		return err_set(err, ERR_INPUT, "the zip is one of several parts");
	*end = old;
	int r = read_end64(fd, at, end, &at, err);
	if (r < 0)
		return -1;
	if (r && (!agrees(old.count, ZIP_MARK16, end->count) || !agrees(old.dir_at, ZIP_MARK32, end->dir_at) ||
		  !agrees(old.dir_size, ZIP_MARK32, end->dir_size)))
		return err_set(err, ERR_INPUT, "the zip's end records disagree");
	if (end->dir_at > at || end->dir_size != at - end->dir_at)
		return err_set(err, ERR_INPUT, "the zip's central directory is not where its end says");
	return 0;
}
