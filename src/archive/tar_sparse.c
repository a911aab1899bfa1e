/* Maps of sparse files: old GNU, and pax 1.0 (GNU tar manual, "Storing Sparse Files"). */
#include "archive/tar_impl.h"

#include <string.h>

#define MAP_LIMIT 1000000 /* stretches in one file */

static int add_stretch(struct tar *t, uint64_t at, uint64_t len, uint64_t real, struct err *err)
{
	const struct tar_stretch *last = t->map.count ? &t->map.items[t->map.count - 1] : NULL;
	if (t->map.count >= MAP_LIMIT)
		return err_set(err, ERR_INPUT, "a sparse file in more than %d pieces", MAP_LIMIT);
	if (len > real || at > real - len || (last && at < last->at + last->len))
		return err_set(err, ERR_INPUT, "a sparse file whose map does not fit its size");
	*list_push(&t->map) = (struct tar_stretch){ at, len };
	return 0;
}

/* The stretches together are what is stored. */
static int check_map(const struct tar *t, uint64_t stored, struct err *err)
{
	uint64_t sum = 0; /* at most the real size: stretches don't overlap */
	for (size_t i = 0; i < t->map.count; i++)
		sum += t->map.items[i].len;
	if (sum != stored)
		return err_set(err, ERR_INPUT, "a sparse file whose map does not fit its content");
	return 0;
}

/* count pairs of 12-byte numbers; a zeroed pair ends the list early. */
static int add_pairs(struct tar *t, const char *pairs, size_t count, uint64_t real, struct err *err)
{
	for (size_t i = 0; i < count; i++, pairs += 24) {
		uint64_t at, len;
		if (pairs[0] == '\0' && pairs[12] == '\0')
			return 0;
		if (tar_number(pairs, 12, &at, err) || tar_number(pairs + 12, 12, &len, err) ||
		    add_stretch(t, at, len, real, err))
			return -1;
	}
	return 0;
}

int tar_sparse_gnu(struct tar *t, const struct tar_header *h, uint64_t stored, uint64_t *real,
	struct err *err)
{
	if (tar_number(h->gnu.realsize, sizeof h->gnu.realsize, real, err) ||
	    add_pairs(t, h->gnu.map[0], 4, *real, err))
		return -1;
	for (bool more = h->gnu.extended; more; ) {
		char block[TAR_BLOCK];
		if (tar_read(t, block, sizeof block, err) || add_pairs(t, block, 21, *real, err))
			return -1;
		more = block[21 * 24];
	}
	return check_map(t, stored, err);
}

struct map_text {
	char block[TAR_BLOCK];
	size_t pos;
};

/* A decimal number and its newline; reads the next block where one ends. */
static int map_number(struct tar *t, struct map_text *m, uint64_t *stored, uint64_t *out, struct err *err)
{
	uint64_t n = 0;
	for (int digits = 0; digits <= 18; digits++) {
		if (m->pos == TAR_BLOCK) {
			if (*stored < TAR_BLOCK || tar_read(t, m->block, TAR_BLOCK, err))
				return err_set(err, ERR_INPUT, "the map of a sparse file is cut off");
			*stored -= TAR_BLOCK;
			m->pos = 0;
		}
		char c = m->block[m->pos++];
		if (c == '\n' && digits) {
			*out = n;
			return 0;
		}
		if (c < '0' || c > '9')
			break;
		n = n * 10 + (uint64_t)(c - '0');
	}
	return err_set(err, ERR_INPUT, "the map of a sparse file is not a list of numbers");
}

int tar_sparse_pax(struct tar *t, uint64_t *stored, uint64_t real, struct err *err)
{
	struct map_text m = { .pos = TAR_BLOCK };
	uint64_t count, at, len;
	if (map_number(t, &m, stored, &count, err))
		return -1;
	for (uint64_t i = 0; i < count; i++)
		if (map_number(t, &m, stored, &at, err) || map_number(t, &m, stored, &len, err) ||
		    add_stretch(t, at, len, real, err))
			return -1;
	return check_map(t, *stored, err);
}
