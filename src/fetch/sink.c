#include "fetch/sink.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/mem.h"

/* So many bytes more than wanted are still hashed (not stored), so that the error can name the hash. */
#define EXCESS (1 << 20)

/* Files from this size on have their room on disk claimed before the first byte. */
#define CLAIM_FROM (4 << 20)

void sink_open(struct sink *s, int fd, const struct hash *want, int64_t size, int64_t limit)
{
	*s = (struct sink){ .fd = fd, .size = size, .limit = limit, .wanted = want };
	if (want)
		s->want = *want;
	hash_begin(&s->hasher);
}

void sink_close(struct sink *s)
{
	buf_free(&s->body);
}

int sink_restart(struct sink *s, struct err *err)
{
	s->got = 0;
	hash_begin(&s->hasher);
	buf_clear(&s->body);
	if (s->fd >= 0 && ftruncate(s->fd, 0) < 0) {
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
	if (s->fd < 0 || total < CLAIM_FROM)
		return 0;
	/* A file system that can't claim is no error; one that is full is. */
	if (fallocate(s->fd, FALLOC_FL_KEEP_SIZE, 0, total) < 0 && (errno == ENOSPC || errno == EDQUOT)) {
		s->broken = true;
		return err_sys(err, "can't store %" PRId64 " bytes", total);
	}
	return 0;
}

static int store(struct sink *s, const char *data, size_t len, struct err *err)
{
	if (s->fd < 0) {
		buf_add(&s->body, data, len);
		return 0;
	}
	int64_t at = s->got;
	while (len) {
		ssize_t n = pwrite(s->fd, data, len, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			s->broken = true;
			return err_sys(err, "can't store what came (after %" PRId64 " bytes)", at);
		}
		data += n;
		at += n;
		len -= (size_t)n;
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
	if (store(s, data, keep, err) < 0)
		return -1;
	hash_update(&s->hasher, data, len);
	s->got += (int64_t)len;
	return 0;
}

int sink_check(struct sink *s, struct hash *got, struct err *err)
{
	struct hasher copy = s->hasher; /* the running one stays usable for a resumed transfer */
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
