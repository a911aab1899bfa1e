#include "archive/unpack.h"

#include <string.h>
#include <sys/stat.h>

#include "archive/name.h"
#include "archive/stream.h"
#include "archive/tar.h"
#include "archive/zip.h"
#include "core/fs.h"

/* A member is looked for among at most this much of a tar, headers and content. */
#define SEARCH_LIMIT (8ULL << 30)

/* Is raw, made clean and without its first folder, the path? */
static bool matches(struct slice raw, const char *path, struct buf *name)
{
	bool slash;
	if (name_clean(raw, name, &slash, NULL) || slash)
		return false;
	const char *first = strchr(name->data, '/');
	return first && strcmp(first + 1, path) == 0;
}

static int read_content(struct tar *tar, uint64_t size, size_t limit, struct buf *out, struct err *err)
{
	const uint8_t *data;
	size_t len;
	uint64_t at;
	int r;
	if (size > limit)
		return err_set(err, ERR_INPUT, "it is larger than the limit of %zu bytes", limit);
	char *to = buf_grow(out, (size_t)size);
	memset(to, 0, (size_t)size + 1); /* what lies between the pieces is a hole */
	while ((r = tar_data(tar, &data, &len, &at, err)) > 0)
		memcpy(to + at, data, len);
	if (r == 0)
		out->len += (size_t)size;
	return r;
}

static int from_tar(int fd, off_t size, const char *path, size_t limit, struct buf *out, bool *found,
	struct err *err)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	enum stream_kind kind;
	struct tar_entry e;
	int r;
	if (stream_sniff(fd, 0, size, &kind, err))
		return -1;
	_cleanup_stream_ struct stream *s = stream_open(fd, 0, size, kind, err);
	if (!s)
		return -1;
	_cleanup_tar_ struct tar *tar = tar_new(s, SEARCH_LIMIT);
	while ((r = tar_next(tar, &e, err)) > 0) {
		if (e.kind != TAR_FILE || !matches(e.name, path, &name))
			continue;
		*found = true;
		return read_content(tar, e.size, limit, out, err) ? err_add(err, "%s", path) : 0;
	}
	return r;
}

static int from_zip(int fd, const char *path, size_t limit, struct buf *out, bool *found, struct err *err)
{
	_cleanup_buf_ struct buf name = BUF_INIT;
	_cleanup_zip_ struct zip *z = zip_open(fd, err);
	if (!z)
		return -1;
	for (size_t i = 0; i < zip_count(z); i++) {
		const struct zip_entry *e = zip_at(z, i);
		if (e->folder || !matches(slice_of(e->name), path, &name))
			continue;
		*found = true;
		return zip_check_plain(e, err) ? -1 : zip_read(z, e, limit, out, err);
	}
	return 0;
}

int unpack_read_member(int fd, const char *path, size_t limit, struct buf *out, bool *found,
	struct err *err)
{
	char head[4] = "";
	struct stat st;
	*found = false;
	if (fstat(fd, &st))
		return err_sys(err, "can't stat the archive");
	if (st.st_size >= (off_t)sizeof head && fs_pread_full(fd, head, sizeof head, 0, err))
		return -1;
	if (memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0)
		return from_zip(fd, path, limit, out, found, err);
	return from_tar(fd, st.st_size, path, limit, out, found, err);
}
