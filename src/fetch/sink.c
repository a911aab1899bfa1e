#include "fetch/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

/* So many bytes more than wanted are still hashed (not stored), so that the error can name the hash. */
#define EXCESS (1 << 20)

/* Files from this size on have their room on disk claimed before the first byte. */
#define CLAIM_FROM (4 << 20)

void sink_open(struct sink *s, struct writer *w, int fd, const struct hash *want, int64_t size, int64_t limit)
{
	*s = (struct sink){ .writer = w, .file.fd = fd, .size = size, .limit = limit, .wanted = want };
	if (want)
		s->want = *want;
	hash_begin(&s->file.hasher);
}

int sink_settle(struct sink *s, struct err *err)
{
	int failed = writer_settle(s->writer, &s->file);
	if (s->block && !failed) {
		writer_work(s->block); /* the last piece, or all of a small file: not worth a thread */
		failed = s->file.failed;
	}
	writer_put_back(s->writer, steal_ptr(s->block));
	if (!failed)
		return 0;
	s->broken = true;
	errno = failed;
	return err_sys(err, "can't store what came");
}

void sink_close(struct sink *s)
{
	writer_put_back(s->writer, steal_ptr(s->block));
	sink_settle(s, NULL);
	buf_free(&s->body);
}

int sink_restart(struct sink *s, struct err *err)
{
	if (sink_settle(s, err) < 0)
		return -1;
	s->got = 0;
	hash_begin(&s->file.hasher);
	buf_clear(&s->body);
	if (s->file.fd >= 0 && ftruncate(s->file.fd, 0) < 0) {
		s->broken = true;
		return err_sys(err, "can't empty the file that is written");
	}
	return 0;
}

static int64_t most(const struct sink *s)
{
	if (s->size < 0)
		return s->limit;
	return s->size > INT64_MAX - EXCESS ? INT64_MAX : s->size + (s->wanted ? EXCESS : 0);
}

static int too_much(const struct sink *s, struct err *err)
{
	if (s->size < 0)
		return err_set(err, ERR_INPUT, "more than the %" PRId64 " bytes that are allowed", s->limit);
	if (!s->wanted)
		return err_set(err, ERR_INPUT, "more than the %" PRId64 " bytes that were expected", s->size);
	_cleanup_free_ char *want = hash_hex(&s->want);
	return err_set(err, ERR_HASH, "wanted sha256 %s (%" PRId64 " bytes), got far more bytes", want, s->size);
}

int sink_expect(struct sink *s, int64_t total, struct err *err)
{
	if (total > most(s))
		return too_much(s, err);
	if (s->file.fd < 0 || total < CLAIM_FROM)
		return 0;
	/* A file system that can't claim is no error; one that is full is. */
	if (fallocate(s->file.fd, FALLOC_FL_KEEP_SIZE, 0, total) < 0 && (errno == ENOSPC || errno == EDQUOT)) {
		s->broken = true;
		return err_sys(err, "can't store %" PRId64 " bytes", total);
	}
	return 0;
}

/* A full block goes to the writer; the write that failed before is told now. */
static int give_block(struct sink *s, struct err *err)
{
	writer_give(s->writer, steal_ptr(s->block));
	int failed = __atomic_load_n(&s->file.failed, __ATOMIC_RELAXED);
	return failed ? sink_settle(s, err) : 0;
}

/* keep: how many of the bytes are stored, the first ones. */
static int add_to_blocks(struct sink *s, const char *data, size_t len, size_t keep, struct err *err)
{
	for (int64_t at = s->got; len;) {
		struct writer_block *b = s->block;
		if (!b) {
			b = s->block = writer_block(s->writer);
			b->file = &s->file;
			b->at = at;
			b->len = b->keep = 0;
		}
		size_t n = len < WRITER_BLOCK - b->len ? len : WRITER_BLOCK - b->len;
		size_t kept = keep < n ? keep : n;
		memcpy(b->data + b->len, data, n);
		b->len += n;
		b->keep += kept;
		data += n;
		at += (int64_t)n;
		len -= n;
		keep -= kept;
		if (b->len == WRITER_BLOCK && give_block(s, err) < 0)
			return -1;
	}
	return 0;
}

int sink_write(struct sink *s, const void *data, size_t len, struct err *err)
{
	if ((int64_t)len > most(s) - s->got)
		return too_much(s, err);
	size_t keep = len;
	if (s->size >= 0 && (int64_t)len > s->size - s->got)
		keep = s->got < s->size ? (size_t)(s->size - s->got) : 0;
	if (s->file.fd < 0) {
		buf_add(&s->body, data, keep);
		hash_update(&s->file.hasher, data, len);
	} else if (add_to_blocks(s, data, len, keep, err) < 0) {
		return -1;
	}
	s->got += (int64_t)len;
	return 0;
}

int sink_check(struct sink *s, struct hash *got, struct err *err)
{
	if (sink_settle(s, err) < 0)
		return -1;
	struct hasher copy = s->file.hasher; /* the running one stays usable for a resumed transfer */
	hash_end(&copy, got);
	if (s->wanted && !hash_eq(&s->want, got)) {
		_cleanup_free_ char *want_hex = hash_hex(&s->want), *got_hex = hash_hex(got);
		return err_set(err, ERR_HASH, "wanted sha256 %s, got %s (%" PRId64 " bytes)",
			want_hex, got_hex, s->got);
	}
	if (s->size >= 0 && s->got != s->size)
		return err_set(err, ERR_INPUT, "%" PRId64 " bytes came where %" PRId64 " were expected",
			s->got, s->size);
	return 0;
}
