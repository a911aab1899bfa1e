#include "archive/stream_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

ssize_t stream_fill(struct stream *s, struct err *err)
{
	off_t left = s->end - s->at;
	size_t want = left < STREAM_BLOCK ? (size_t)left : STREAM_BLOCK;
	if (want == 0)
		return 0;
	ssize_t n;
	do
		n = pread(s->fd, s->in, want, s->at);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return err_sys(err, "can't read the archive");
	if (n == 0)
		return err_set(err, ERR_INPUT, "the file became shorter while it was read");
	s->at += n;
	return n;
}

static int plain_begin(struct stream *s, struct err *err)
{
	return 0;
}

static int plain_next(struct stream *s, const uint8_t **data, size_t *len, struct err *err)
{
	ssize_t n = stream_fill(s, err);
	if (n <= 0)
		return (int)n;
	*data = s->in;
	*len = (size_t)n;
	return 1;
}

static void plain_end(struct stream *s)
{
}

static const struct stream_ops stream_plain = { "plain", plain_begin, plain_next, plain_end };

static const struct stream_ops *const all_ops[] = {
	[STREAM_PLAIN] = &stream_plain, [STREAM_GZIP] = &stream_gzip, [STREAM_XZ] = &stream_xz,
	[STREAM_BZIP2] = &stream_bzip2, [STREAM_ZSTD] = &stream_zstd,
};

static enum stream_kind kind_of(const uint8_t *p, size_t n)
{
	if (n >= 2 && p[0] == 0x1f && p[1] == 0x8b)
		return STREAM_GZIP;
	if (n >= 6 && memcmp(p, "\xfd" "7zXZ\0", 6) == 0)
		return STREAM_XZ;
	if (n >= 4 && memcmp(p, "\x28\xb5\x2f\xfd", 4) == 0)
		return STREAM_ZSTD;
	if (n >= 4 && (p[0] & 0xf0) == 0x50 && memcmp(p + 1, "\x2a\x4d\x18", 3) == 0)
		return STREAM_ZSTD; /* a skippable frame */
	if (n >= 4 && memcmp(p, "BZh", 3) == 0 && p[3] >= '1' && p[3] <= '9')
		return STREAM_BZIP2;
	return STREAM_PLAIN;
}

int stream_sniff(int fd, off_t at, off_t end, enum stream_kind *kind, struct err *err)
{
	uint8_t head[6];
	size_t want = end - at < (off_t)sizeof head ? (size_t)(end - at) : sizeof head;
	ssize_t n = pread(fd, head, want, at);
	if (n < 0)
		return err_sys(err, "can't read the archive");
	*kind = kind_of(head, (size_t)n);
	return 0;
}

struct stream *stream_open(int fd, off_t at, off_t end, enum stream_kind kind, struct err *err)
{
	struct stream *s = mem_alloc(sizeof *s);
	s->ops = all_ops[kind];
	s->fd = fd;
	s->at = at;
	s->end = end;
	s->in = mem_alloc(STREAM_BLOCK);
	if (s->ops->begin(s, err)) {
		stream_free(s);
		return NULL;
	}
	return s;
}

void stream_free(struct stream *s)
{
	if (!s)
		return;
	s->ops->end(s);
	free(s->in);
	free(s->out);
	free(s);
}

void stream_free_ptr(struct stream **s)
{
	stream_free(*s);
	*s = NULL;
}

void stream_hash(struct stream *s, struct hasher *h)
{
	s->hasher = h;
}

int stream_next(struct stream *s, const uint8_t **data, size_t *len, struct err *err)
{
	int r = s->ops->next(s, data, len, err);
	if (r > 0 && s->hasher)
		hash_update(s->hasher, *data, *len);
	if (r < 0 && s->ops != &stream_plain)
		return err_add(err, "%s", s->ops->name);
	return r;
}

int archive_decompress(int fd, uint64_t limit, stream_sink_fn *sink, void *ctx, struct err *err)
{
	struct stat st;
	enum stream_kind kind;
	if (fstat(fd, &st))
		return err_sys(err, "can't stat the file to decompress");
	if (stream_sniff(fd, 0, st.st_size, &kind, err))
		return -1;
	_cleanup_stream_ struct stream *s = stream_open(fd, 0, st.st_size, kind, err);
	if (!s)
		return -1;
	const uint8_t *data;
	size_t len;
	uint64_t total = 0;
	int r;
	while ((r = stream_next(s, &data, &len, err)) > 0) {
		if (len > limit - total)
			return err_set(err, ERR_INPUT, "decompressed content is larger than the limit of %llu bytes",
				(unsigned long long)limit);
		total += len;
		if (sink(ctx, data, len, err))
			return -1;
	}
	return r;
}
