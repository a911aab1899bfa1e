/* Streams by content, the tar reader over them, and the ar of Debian packages. */
#include <stddef.h>
#include <stdint.h>

#include "archive/deb.h"
#include "archive/name.h"
#include "archive/stream.h"
#include "archive/tar.h"
#include "support/tar_make.h"
#include "support/zip_make.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void read_entry(struct tar *t, const struct tar_entry *e, struct err *err)
{
	const uint8_t *piece;
	size_t n;
	uint64_t at, end = 0;
	bool slash;
	struct buf name = BUF_INIT;
	while (tar_data(t, &piece, &n, &at, err) > 0) {
		/* Pieces rise and stay in the file; only files have any. */
		if (n == 0 || at < end || at + n > e->size || e->kind != TAR_FILE)
			__builtin_trap();
		end = at + n;
	}
	if (name_clean(e->name, &name, &slash, err) == 0)
		name_check_target(name.data, e->target.p, err);
	buf_free(&name);
}

static void read_all(const void *data, size_t len)
{
	int fd = file_of(data, len);
	struct err err = { 0 };
	enum stream_kind kind;
	struct tar_entry e;
	off_t at = 0, end = (off_t)len;
	deb_find_data(fd, &at, &end, &err);
	if (stream_sniff(fd, at, end, &kind, &err))
		__builtin_trap();
	struct stream *s = stream_open(fd, at, end, kind, &err);
	struct tar *t = s ? tar_new(s, 16 << 20) : NULL;
	while (t && tar_next(t, &e, &err) > 0)
		read_entry(t, &e, &err);
	tar_free(t);
	stream_free(s);
	err_clear(&err);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	read_all(data, len);
	/* Once more with every header's checksum made right: a changed byte must not stop at that. */
	char *copy = malloc(len + 1);
	memcpy(copy, data, len);
	bool changed = false;
	for (size_t i = 0; i + 512 <= len; i += 512)
		if (memcmp(copy + i + 257, "ustar", 5) == 0) {
			tar_make_sum(copy + i);
			changed = true;
		}
	if (changed)
		read_all(copy, len);
	free(copy);
	return 0;
}
