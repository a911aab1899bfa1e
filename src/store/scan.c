#include "store/scan.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define D STORE_PATH_DIGEST

/* Nix's base-32 alphabet: digits and lower-case letters without e, o, t, u. */
static const bool is_digit[256] = {
	['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1,
	['9'] = 1, ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1, ['i'] = 1,
	['j'] = 1, ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1,
	['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1,
};

/* A digest is as good as random, so any eight of its bytes spread it. */
static uint32_t slot_of(const struct scan *s, const char *digest)
{
	uint64_t key;
	memcpy(&key, digest, sizeof key);
	return (uint32_t)((key * 0x9e3779b97f4a7c15ULL) >> (64 - s->bits));
}

static struct scan_digest *find(const struct scan *s, const char *digest)
{
	uint32_t mask = (1U << s->bits) - 1;
	for (uint32_t at = slot_of(s, digest); s->table[at]; at = (at + 1) & mask) {
		struct scan_digest *d = &s->digests[s->table[at] - 1];
		if (memcmp(d->text, digest, D) == 0)
			return d;
	}
	return NULL;
}

static void insert(struct scan *s, size_t index)
{
	uint32_t mask = (1U << s->bits) - 1, at = slot_of(s, s->digests[index].text);
	while (s->table[at])
		at = (at + 1) & mask;
	s->table[at] = (uint32_t)index + 1;
}

static void grow(struct scan *s)
{
	s->cap = s->cap ? s->cap * 2 : 64;
	s->digests = mem_resize(s->digests, s->cap, sizeof *s->digests);
	for (s->bits = 4; (1UL << s->bits) < s->cap * 4;)
		s->bits++;
	free(s->table);
	s->table = mem_alloc(sizeof *s->table << s->bits);
	for (size_t i = 0; i < s->count; i++)
		insert(s, i);
}

size_t scan_add(struct scan *s, const char *digest)
{
	if (s->count == s->cap)
		grow(s);
	struct scan_digest *there = find(s, digest);
	if (there)
		return (size_t)(there - s->digests);
	struct scan_digest *d = &s->digests[s->count];
	memset(d, 0, sizeof *d);
	memcpy(d->text, digest, D);
	insert(s, s->count);
	return s->count++;
}

/*
 * All windows of 32 digits in p.  The last byte of a window is looked at first: whatever is no
 * digit moves the window behind it, so that most bytes of a binary are never read.  In a long run of
 * digits only the new last byte of each window is.
 */
static void search(struct scan *s, const char *p, size_t len, uint64_t offset)
{
	size_t from = 0, known = 0; /* the window; bytes from..known are digits */
	while (from + D <= len) {
		size_t at = from + D;
		while (at > known && is_digit[(unsigned char)p[at - 1]])
			at--;
		if (at > known) {
			from = known = at;
			continue;
		}
		known = from + D;
		struct scan_digest *d = find(s, p + from);
		if (d && !d->found) {
			d->found = true;
			d->at = offset + from;
		}
		from++;
	}
}

void scan_feed(struct scan *s, const void *data, size_t len)
{
	if (s->count == 0 || len == 0)
		return;
	/* What lies across the border: the old tail and as much of the new bytes.  Neither part alone is
	 * long enough to hold a digest, so nothing is found twice. */
	char join[2 * (D - 1)];
	size_t head = len < D - 1 ? len : D - 1;
	memcpy(join, s->tail, s->tail_len);
	memcpy(join + s->tail_len, data, head);
	search(s, join, s->tail_len + head, s->offset - s->tail_len);
	search(s, data, len, s->offset);
	if (len >= D - 1) {
		memcpy(s->tail, (const char *)data + len - (D - 1), D - 1);
		s->tail_len = D - 1;
	} else {
		size_t all = s->tail_len + len, keep = all < D - 1 ? all : D - 1;
		memcpy(s->tail, join + all - keep, keep);
		s->tail_len = keep;
	}
	s->offset += len;
}

void scan_free(struct scan *s)
{
	free(s->digests);
	free(s->table);
	memset(s, 0, sizeof *s);
}
